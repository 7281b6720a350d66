"""The charms that a model knows."""
