"""What commands do besides reading their words: open a controller and a model, work, wait, ask, advise."""
