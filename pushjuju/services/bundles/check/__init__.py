"""Checks a bundle against its charms, the store and the model, before anything is changed."""
