"""Durations in Go's notation (`300ms`, `1m30s`, `0`). Layer: core. Mirrors: Go time.ParseDuration."""

from __future__ import annotations

import re

from pushjuju.core.errors import NotValid

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_LONGEST_S = 2**63 / 1e9  # Go counts nanoseconds in 64 bits
_PART = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)([^0-9.]*)")


def parse_duration(text: str) -> float:
    """Return the seconds that a Go duration means.

    Args:
        text: For example `5m`, `1h30m`, `-2s`, `0`.

    Raises:
        NotValid: The text is no duration; the message is Go's.
    """
    sign, rest = (-1.0, text[1:]) if text[:1] == "-" else (1.0, text[1:] if text[:1] == "+" else text)
    if rest == "0":
        return 0.0
    if not rest:
        raise NotValid(f'time: invalid duration "{text}"')
    total, at = 0.0, 0
    while at < len(rest):
        match = _PART.match(rest, at)
        if not match:
            raise NotValid(f'time: invalid duration "{text}"')
        number, unit = match.groups()
        if not unit:
            raise NotValid(f'time: missing unit in duration "{text}"')
        if unit not in _UNITS:
            raise NotValid(f'time: unknown unit "{unit}" in duration "{text}"')
        total, at = total + float(number) * _UNITS[unit], match.end()
    if total > _LONGEST_S:
        raise NotValid(f'time: invalid duration "{text}"')
    return sign * total
