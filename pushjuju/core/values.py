"""Frozen dataclasses with slots, made without their constructors.

The constructor of a frozen dataclass sets each field through `object.__setattr__`: for the records that every
hook reads by the dozen that is most of the work.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import fields
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar, cast

Get = Callable[[Any], Any]
Put = Callable[[Any, Any], None]
T = TypeVar("T")


@cache
def slots(kind: Hashable) -> dict[str, tuple[Get, Put]]:
    """Return how each field of a class is read and written: name -> (get, put)."""
    cls: Any = kind
    found = {}
    for field in fields(cls):
        descriptor = getattr(cls, field.name)
        found[field.name] = (descriptor.__get__, descriptor.__set__)
    return found


@cache
def _parts(kind: Hashable) -> tuple[Get, tuple[Put, ...], dict[str, Put]]:
    """Return how all fields of a class are read at once, how each is written, and the same by name."""
    puts = {name: put for name, (_, put) in slots(kind).items()}
    read = attrgetter(*puts, next(iter(puts)))  # the first one twice: a tuple also when it is alone
    return read, tuple(puts.values()), puts


def changed(value: T, /, **fields: Any) -> T:
    """Return a copy with other values in some fields: `dataclasses.replace`, three times as fast.

    Raises:
        KeyError: There is no such field.
    """
    kind = type(value)
    read, puts, by_name = _parts(cast("Hashable", kind))
    made = kind.__new__(kind)
    for put, item in zip(puts, read(value), strict=False):
        put(made, item)
    for name, item in fields.items():
        by_name[name](made, item)
    return made
