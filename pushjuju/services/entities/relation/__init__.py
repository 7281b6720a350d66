"""Relations, inside a model and between models."""
