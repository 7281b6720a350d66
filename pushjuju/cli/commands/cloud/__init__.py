"""Clouds and their regions."""
