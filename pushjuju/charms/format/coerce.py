"""Coerces decoded YAML to the types that the files of a charm require.

A check returns the value, or reports a problem and returns `MISSING`, so that one pass reports every problem.
Mirrors: juju/schema checkers.go fieldmap.go.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from pushjuju.charms.values.goform import literal, typed
from pushjuju.core.storage import MOST_MIB
from pushjuju.core.values import regex
from pushjuju.portable.quote import bool_of, parse_int, quote

MISSING: Final = object()

Check = Callable[[Any, str, "Report"], Any]
Report = Callable[[str, str], None]

_COUNT = regex(r"([0-9]+)(?:\+|-([0-9]*))?")
_LONGEST_SIZE = 80  # characters
_SIZE = regex(r"([0-9]*\.?[0-9]*)(.*)", re.DOTALL)
_MULTIPLIERS = "MGTPEZY"


def _wrong(wanted: str, value: Any, path: str, report: Report) -> Any:
    report(
        path,
        f"{path}: expected {wanted}, got {typed(value)}"
        if path
        else f"expected {wanted}, got {typed(value)}",
    )
    return MISSING


def fail(path: str, text: str, report: Report) -> Any:
    """Report a fault at a key path, and return `MISSING`."""
    report(path, f"{path}: {text}" if path else text)
    return MISSING


def string(value: Any, path: str, report: Report) -> Any:
    """Accept text."""
    return value if isinstance(value, str) else _wrong("string", value, path, report)


def boolean(value: Any, path: str, report: Report) -> Any:
    """Accept a boolean, or the text of a boolean."""
    if isinstance(value, bool):
        return value
    parsed = bool_of(value) if isinstance(value, str) else None
    return parsed if parsed is not None else _wrong("bool", value, path, report)


def integer(value: Any, path: str, report: Report) -> Any:
    """Accept an integer, or the text of an integer."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    try:
        return parse_int(value) if isinstance(value, str) else _wrong("int", value, path, report)
    except ValueError:
        return _wrong("int", value, path, report)


def anything(value: Any, _path: str, _report: Report) -> Any:
    """Accept any value."""
    return value


def one_of(*allowed: Any) -> Check:
    """Return a check that accepts only the given values."""

    def check(value: Any, path: str, report: Report) -> Any:
        if any(value == item and type(value) is type(item) for item in allowed):
            return value
        return fail(path, f"unexpected value {literal(value)}", report)

    return check


def list_of(item: Check) -> Check:
    """Return a check for a list whose items pass a check."""

    def check(value: Any, path: str, report: Report) -> Any:
        if not isinstance(value, list):
            return _wrong("list", value, path, report)
        items = [item(entry, f"{path}[{number}]", report) for number, entry in enumerate(value)]
        return MISSING if any(entry is MISSING for entry in items) else items

    return check


def map_of(item: Check) -> Check:
    """Return a check for a map from names to items that pass a check; bad items are reported and left out."""

    def check(value: Any, path: str, report: Report) -> Any:
        if not isinstance(value, dict):
            return _wrong("map", value, path, report)
        out: dict[str, object] = {}
        for key, entry in value.items():
            if not isinstance(key, str):
                _wrong("string", key, path, report)
                continue
            out[key] = item(entry, f"{path}.{key}" if path else key, report)
        return {key: entry for key, entry in out.items() if entry is not MISSING}

    return check


def record(fields: Mapping[str, Check], optional: Mapping[str, Any]) -> Check:
    """Return a check for a map with known keys; unknown keys are dropped.

    Args:
        fields: Key -> the check of its value.
        optional: Key -> the default for a missing key. Keys that are not in this map are required.
    """

    def check(value: Any, path: str, report: Report) -> Any:
        if not isinstance(value, dict):
            return _wrong("map", value, path, report)
        for key in value:
            if not isinstance(key, str):
                return _wrong("map[string]", value, path, report)
        out = {}
        for key, item in fields.items():
            if key not in value and key in optional:
                out[key] = optional[key]
                continue
            out[key] = item(value.get(key), f"{path}.{key}" if path else key, report)
        return MISSING if any(entry is MISSING for entry in out.values()) else out

    return check


def or_null(item: Check) -> Check:
    """Return a check that accepts null as None, and otherwise applies the given check."""

    return lambda value, path, report: None if value is None else item(value, path, report)


def count_range(value: Any, path: str, report: Report) -> Any:
    """Accept `m`, `m-n`, `m+` or `m-`; return (min, max), where a max of -1 means no limit."""
    number = value if isinstance(value, int) and not isinstance(value, bool) else None
    if number is None and isinstance(value, str):
        match = _COUNT.fullmatch(value)
        if not match:
            shape = "does not match 'm', 'm-n', or 'm+'"
            return fail(path, f"value {quote(value)} {shape}", report)
        low = int(match[1])
        if value == match[1]:
            number = low
        else:
            return (low, int(match[2])) if match[2] else (low, -1)
    if number is None:
        return _wrong("string", value, path, report)
    return (number, number) if number > 0 else fail(path, f"invalid count {number}", report)


def size_mib(value: Any, path: str, report: Report) -> Any:
    """Accept a size such as `1.5G`; return MiB, rounded up."""
    if not isinstance(value, str):
        return _wrong("string", value, path, report)
    if len(value) > _LONGEST_SIZE:
        return fail(path, f"at most 1Z is possible, got {len(value)} characters", report)
    try:
        size = parse_size(value)
    except ValueError as error:
        return fail(path, str(error), report)
    return size if size <= MOST_MIB else fail(path, f"at most 1Z is possible, got {quote(value)}", report)


def parse_size(text: str) -> int:
    """Return a size in MiB, rounded up. Mirrors: juju/utils size.go.

    Raises:
        ValueError: The text is not a size; the message is Juju's.
    """
    match = _SIZE.fullmatch(text)
    assert match is not None  # the pattern matches any text: all its parts may be empty
    number, suffix = match[1], match[2]
    if not number.strip("."):
        raise ValueError(f"expected a non-negative number, got {quote(text)}")
    power = 0
    if suffix:
        if suffix[0] not in _MULTIPLIERS or suffix[1:] not in ("", "B", "iB"):
            raise ValueError(f"invalid multiplier suffix {quote(suffix)}, expected one of {_MULTIPLIERS}")
        power = _MULTIPLIERS.index(suffix[0])
    return _scaled(number, power)


def _scaled(number: str, power: int) -> int:
    factor: int = 1024**power
    whole, _, fraction = number.partition(".")
    scale: int = 10 ** len(fraction)
    return -(-int((whole or "0") + fraction) * factor // scale)
