"""Commands for secrets and their backends."""
