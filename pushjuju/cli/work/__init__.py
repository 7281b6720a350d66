"""The common steps of commands: open a controller and a model, work, wait, ask, advise."""
