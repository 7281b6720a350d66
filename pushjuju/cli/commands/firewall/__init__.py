"""Firewall rules under their old names."""
