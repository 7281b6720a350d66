"""Natural order of names: `web/2` before `web/10`. Layer: core. Mirrors: juju naturalsort."""

from __future__ import annotations

import re

_PARTS = re.compile(r"(\d+)")


def natural_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key that compares runs of digits as numbers.

    Args:
        text: Any name.

    Returns:
        A tuple of (kind, number, text); digits sort before letters at the same place, as in Juju.
    """
    parts = (part for part in _PARTS.split(text) if part)
    return tuple((0, int(part), part) if part.isdigit() else (1, 0, part) for part in parts)
