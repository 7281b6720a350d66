"""Commands for users and their access."""
