"""Machines, and the networks that they are in."""
