"""Bundles: many applications at once."""
