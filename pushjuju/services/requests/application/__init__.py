"""The requests about applications and their units."""
