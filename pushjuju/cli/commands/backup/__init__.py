"""Copies of a controller."""
