"""Reads the params with which clients force removals."""

from __future__ import annotations

from pushjuju.services.lifecycle import removal


def force_of(max_wait: int | None, *, force: bool | None) -> removal.Force | None:
    """Return the options of a forced removal, or None without force; the wait is in nanoseconds."""
    if not force:
        return None
    return removal.Force() if max_wait is None else removal.Force(wait_s=max_wait / 1e9)
