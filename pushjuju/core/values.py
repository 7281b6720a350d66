"""Frozen dataclasses with slots, made without their constructors. Layer: core.

The constructor of a frozen dataclass sets each field through `object.__setattr__`: for the records that every
hook reads by the dozen that is most of the work.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import fields
from functools import cache
from typing import Any

Get = Callable[[Any], Any]
Put = Callable[[Any, Any], None]


@cache
def slots(kind: Hashable) -> dict[str, tuple[Get, Put]]:
    """Return how each field of a class is read and written: name -> (get, put)."""
    cls: Any = kind
    found = {}
    for field in fields(cls):
        descriptor = getattr(cls, field.name)
        found[field.name] = (descriptor.__get__, descriptor.__set__)
    return found
