"""Requests about applications and their units."""
