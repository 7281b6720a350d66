"""Durations in Go's notation (`300ms`, `1m30s`, `0`). Layer: core. Mirrors: Go time.ParseDuration."""

from __future__ import annotations

import re

from pushjuju.core.errors import NotValid

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)")


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
    total, at = 0.0, 0
    for match in _PART.finditer(rest):
        if match.start() != at:
            break
        total, at = total + float(match[1]) * _UNITS[match[2]], match.end()
    if not rest or at != len(rest):
        unitless = re.fullmatch(r"[\d.]+", rest)
        problem = "missing unit in duration" if unitless else "invalid duration"
        raise NotValid(f'time: {problem} "{text}"')
    return sign * total
