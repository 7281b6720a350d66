"""Reads and writes Juju's nouns, a folder for each, and wakes the workers that a change concerns."""
