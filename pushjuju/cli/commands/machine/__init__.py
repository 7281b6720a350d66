"""Commands for machines."""
