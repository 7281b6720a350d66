"""Parses names of charms in a store, as clients write them; a path of this host is refused."""

from __future__ import annotations

from pushjuju.core.errors import NotValid
from pushjuju.core.values import regex

_STORE = regex(r"(?:ch:)?(?:[a-z0-9]+/){0,2}[a-z][a-z0-9-]*")
_REVISION = regex(r"-([0-9]{1,9})$")


def store_name(text: str) -> tuple[str, int]:
    """Return the name and the revision, or -1, of `NAME` or `ch:ARCH/SERIES/NAME-REVISION`.

    Raises:
        NotValid: The text has neither form.
    """
    number = _REVISION.search(text) if text.startswith("ch:") else None
    name = text[: number.start()] if number else text
    if not _STORE.fullmatch(name):
        raise NotValid(f'charm name "{text}" not valid')
    return name.rpartition("/")[2].removeprefix("ch:"), int(number[1]) if number else -1
