"""Steps that commands share: open a controller and a model, work on the model, wait, ask, give hints."""
