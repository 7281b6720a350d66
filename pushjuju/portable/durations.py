"""Durations in Go's notation: `300ms`, `1m30s`, `0`. Mirrors: Go time.ParseDuration."""

from __future__ import annotations

_UNITS = {
    "ns": 1e-9, "us": 1e-6, "\u00b5s": 1e-6, "\u03bcs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0,
}  # fmt: skip
_LONGEST_S = 2**63 / 1e9  # Go counts nanoseconds in 64 bits
_DIGITS = "0123456789"


def parse_duration(text: str) -> float:
    """Return the seconds that a duration means.

    Args:
        text: For example `5m`, `1h30m`, `-2s`, `0`.

    Raises:
        ValueError: The text is not a duration; the message is Go's.
    """
    sign = -1.0 if text[:1] == "-" else 1.0
    rest = text[1:] if text[:1] in ("+", "-") else text
    if rest == "0":
        return 0.0
    total = 0.0
    while True:
        number, rest = _number(rest)
        if not number.strip("."):
            raise ValueError('time: invalid duration "%s"' % text)
        unit, rest = _unit(rest)
        if not unit:
            raise ValueError('time: missing unit in duration "%s"' % text)
        if unit not in _UNITS:
            raise ValueError('time: unknown unit "%s" in duration "%s"' % (unit, text))
        total += float(number) * _UNITS[unit]
        if not rest:
            break
    if total > _LONGEST_S:
        raise ValueError('time: invalid duration "%s"' % text)
    return sign * total


def _number(text: str) -> tuple[str, str]:
    """Split off digits with at most one dot."""
    after = text.lstrip(_DIGITS)
    if after[:1] == ".":
        after = after[1:].lstrip(_DIGITS)
    return text[: len(text) - len(after)], after


def _unit(text: str) -> tuple[str, str]:
    """Split off the text before the next digit or dot."""
    for at, char in enumerate(text):
        if char in "0123456789.":
            return text[:at], text[at:]
    return text, ""
