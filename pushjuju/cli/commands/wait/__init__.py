"""Waiting for an entity to be as a query says."""
