"""Commands for backups of a controller."""
