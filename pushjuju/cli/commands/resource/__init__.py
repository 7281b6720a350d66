"""Resources of applications."""
