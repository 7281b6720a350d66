"""Requests of a user about storage."""
