"""Loops: work that a model needs from time to time, on no machine."""
