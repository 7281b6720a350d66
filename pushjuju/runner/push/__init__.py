"""Bring the program to a machine, start it, and hear what its operations say."""
