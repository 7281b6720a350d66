"""Words, flags and values of a command line."""
