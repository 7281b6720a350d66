"""SSH to machines and units, and the keys that may."""
