"""Commands for applications."""
