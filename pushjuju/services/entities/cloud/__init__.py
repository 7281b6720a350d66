"""Clouds and their credentials."""
