"""Values that Go renders in its own way: structs, times, floats. Mirrors: Go encoding/json (juju 3.6)."""

from __future__ import annotations


class Struct(dict):  # type: ignore[type-arg]
    """A map that Juju renders from a Go struct: its keys keep their order, while plain dicts are sorted."""

    __slots__ = ()


class Moment(str):
    """A time in RFC 3339 that Juju renders from a Go time: without quotes in YAML, a string in JSON."""

    __slots__ = ()


def go_float(value: float) -> str:
    """Render a float as Go's JSON encoder does: `3` for 3.0, exponents only for extreme values."""
    if value == int(value) and abs(value) < 1e21:
        return "-0" if value == 0 and str(value)[0] == "-" else str(int(value))
    text = repr(value)
    mantissa, found, exponent = text.partition("e")
    if not found:
        return text
    power = int(exponent)
    if power >= 21 or power < -6:
        return "%se%s%d" % (mantissa, "+" if power > 0 else "-", abs(power))
    digits = mantissa.replace(".", "").lstrip("-")
    return ("-" if value < 0 else "") + "0." + "0" * (-power - 1) + digits
