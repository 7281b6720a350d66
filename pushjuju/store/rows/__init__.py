"""Rows of the store as values."""
