"""Reads the facts of machines from this host's files. `status` uses this: nothing heavy is imported."""
