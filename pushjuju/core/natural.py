"""Natural order of names: `web/2` before `web/10`. Layer: core. Mirrors: juju naturalsort."""

from __future__ import annotations

import re

_PARTS = re.compile(r"([0-9]+)")


def natural_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key that compares runs of digits as numbers.

    Args:
        text: Any name.

    Returns:
        A tuple of (kind, digits, text); digits sort before letters at the same place, as in Juju. A number is
        compared by its length, then its digits: no number is too long.
    """
    parts = _PARTS.split(text)
    return tuple(_rank(part, number=at % 2 == 1) for at, part in enumerate(parts) if part)


def _rank(part: str, *, number: bool) -> tuple[int, int, str]:
    digits = part.lstrip("0")
    return (0, len(digits), digits) if number else (1, 0, part)
