"""Commands for resources of applications."""
