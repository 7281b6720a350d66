"""Checks the form of MAAS's API keys."""

from __future__ import annotations


def is_key(text: str) -> bool:
    """Return True when a text has the form of an API key."""
    parts = text.strip().split(":")
    return len(parts) == 3 and all(parts)
