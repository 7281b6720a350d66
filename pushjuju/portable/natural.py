"""Natural order of names: `web/2` before `web/10`. Mirrors: juju naturalsort."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterable

_PARTS = re.compile(r"([0-9]+)")
_NUMBERED = re.compile(r"(?:([^/]*)/)?(0|[1-9][0-9]{0,17})")


def natural_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key that compares runs of digits as numbers.

    Returns:
        A tuple of (kind, digits, text); digits sort before letters at the same place, as in Juju. Numbers are
        compared by their length, then by their digits, so that a number of any length works.
    """
    parts = _PARTS.split(text)
    return tuple(_rank(part, number=at % 2 == 1) for at, part in enumerate(parts) if part)


def _rank(part: str, *, number: bool) -> tuple[int, int, str]:
    digits = part.lstrip("0")
    return (0, len(digits), digits) if number else (1, 0, part)


def natural_order(names: Iterable[str]) -> list[str]:
    """Return names in natural order; a faster way serves lists of units or machines, which may be long."""
    listed = list(names)
    return numbered(listed) or sorted(listed, key=natural_key)


def numbered(names: list[str], *, groups: bool = True) -> list[str]:
    """Return names in natural order when each name is a number or ends in `/` and a number; else return [].

    Args:
        groups: True when the words before the number may differ.
    """
    found: dict[str | None, list[tuple[int, str]]] = {}
    for name in names:
        match = _NUMBERED.fullmatch(name)
        if match is None:
            return []
        found.setdefault(match[1], []).append((int(match[2]), name))
    if len(found) == 1:
        ((_, only),) = found.items()
        return [name for _, name in sorted(only)]
    fronts = {natural_key(f"{front}/"): mine for front, mine in found.items()}
    if not groups or None in found or len(fronts) < len(found):  # the order cannot tell `a0/` from `a00/`
        return []
    return [name for key in sorted(fronts) for _, name in sorted(fronts[key])]
