"""Steps that commands share: open a controller and a model, work the model, wait, ask, give hints."""
