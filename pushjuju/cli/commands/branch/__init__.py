"""Branches of a model, which are not supported."""
