"""Reads from the model what a unit's decision and hooks need; writes nothing."""
