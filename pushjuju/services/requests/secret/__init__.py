"""Secrets that users make."""
