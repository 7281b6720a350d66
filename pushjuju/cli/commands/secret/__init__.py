"""Secrets and where they are kept."""
