"""Send the program to a machine, start it, and keep what its operations report."""
