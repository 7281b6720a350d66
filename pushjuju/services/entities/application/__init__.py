"""Applications and their units."""
