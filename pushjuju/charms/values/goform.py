"""Writes values as Go prints them, because Juju's error texts contain them in that form."""

from __future__ import annotations

import math
from typing import Any

from pushjuju.portable.quote import quote


def type_name(value: Any) -> str:
    """Return the Go type of a decoded YAML value (`%T`)."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return "bool"
        case int():
            return "int"
        case float():
            return "float64"
        case str():
            return "string"
        case list():
            return "[]interface {}"
        case _:
            return "map[interface {}]interface {}"


def literal(value: Any) -> str:
    """Return a decoded YAML value in Go syntax (`%#v`)."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return _float(value)
        case str():
            return quote(value)
        case list():
            return "[]interface {}{" + ", ".join(literal(item) for item in value) + "}"
        case dict():
            items = ", ".join(f"{literal(key)}:{literal(item)}" for key, item in value.items())
            return "map[interface {}]interface {}{" + items + "}"
        case _:
            return quote(str(value))


def _float(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    # Go switches to an exponent at 1e21, Python at 1e16.
    if value == int(value) and abs(value) < 1e21:
        return str(int(value))
    return repr(value)


def typed(value: Any) -> str:
    """Return `type(value)`, or `nothing` for a missing value."""
    return "nothing" if value is None else f"{type_name(value)}({literal(value)})"
