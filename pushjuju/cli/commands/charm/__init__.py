"""Charms: in stores, in source trees, on this computer."""
