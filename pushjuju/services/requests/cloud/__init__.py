"""Clouds and credentials: one module for each."""
