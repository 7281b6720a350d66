"""Reads command lines: words, flags and their values."""
