"""Writes the changes of hooks and decisions to the model."""
