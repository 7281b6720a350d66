"""Names of applications and units, and the tags of units. Mirrors: juju/names (juju 3.6)."""

from __future__ import annotations

_MOST = 200  # bytes: file names on machines contain the names, with more before and behind


def is_application(text: str) -> bool:
    """Return True when a text can name an application or a charm."""
    if len(text) > _MOST or not text.isascii() or not text[:1].isalpha() or text != text.lower():
        return False
    if text.isalpha():  # the usual case
        return True
    for part in text.split("-"):
        if not part.isalnum() or part.isdigit():
            return False
    return True


def is_unit(text: str) -> bool:
    """Return True when a text can name a unit."""
    application, _, number = text.partition("/")
    known = number.isdigit() and number.isascii() and (number[0] != "0" or number == "0")
    return known and is_application(application)


def unit_tag(unit: str) -> str:
    """Return the tag that files and logs carry: `unit-web-0` for `web/0`.

    Raises:
        ValueError: The text is not a unit name.
    """
    if not is_unit(unit):
        raise ValueError('"%s" is not a valid unit name' % unit)
    return "unit-" + unit.replace("/", "-")
