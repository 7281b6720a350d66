"""Dataclasses with slots that cost little: to define, and to copy.

The decorator of the standard library compiles up to seven methods of a class. That takes longer than the
rest of the import of a typical module, and a command makes values of few of the classes that it imports.
`dataclass` of this module takes the same options. It gives the class its slots at once, and lets the standard
library make the methods when the first value is made, or when `dataclasses.fields` asks for the fields.

The constructor of a frozen dataclass sets each field through `object.__setattr__`. For records that a hook
reads in great numbers, these calls are most of the work, so `changed` does without the constructor.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Hashable
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar, cast

Get = Callable[[Any], Any]
Put = Callable[[Any, Any], None]
T = TypeVar("T")

__all__ = ["Get", "Put", "changed", "dataclass", "slots"]
_NO_FIELD = (
    "ClassVar",
    "typing.ClassVar",
    "InitVar",
    "dataclasses.InitVar",
    "KW_ONLY",
    "dataclasses.KW_ONLY",
)
_making = threading.RLock()


class _Fields:
    """The fields of a class that has no methods yet.

    Args:
        written: The class as its module defines it, without slots.
        cls: The class with slots, which gets the methods.
        options: The options of the standard library's decorator.
    """

    def __init__(self, written: type[Any], cls: type[Any], options: dict[str, Any]) -> None:
        self._written = written
        self._cls = cls
        self._options = options

    def __get__(self, _value: object, _cls: type[Any]) -> Any:
        self.make_methods()
        return self._cls.__dataclass_fields__

    def make_methods(self) -> None:
        """Let the standard library make the methods, and take them over; other threads wait for this."""
        with _making:
            if vars(self._cls)["__dataclass_fields__"] is not self:
                return
            before = dict(vars(self._written))
            dataclasses.dataclass(**self._options)(self._written)
            after = vars(self._written)
            made = {name: after[name] for name in after if after[name] is not before.get(name)}
            last = ("__dataclass_fields__", "__init__")  # with these, other threads use the class
            for name in sorted(made.keys() - self._written.__annotations__.keys(), key=last.__contains__):
                setattr(self._cls, name, made[name])


def _lazy_dataclass(*, slots: bool = False, **options: Any) -> Any:
    """Return the decorator with these options of `dataclasses.dataclass`."""

    def declare(written: type[Any]) -> Any:
        cls = _with_slots(written, frozen=options.get("frozen", False))

        def first(value: Any, /, *args: Any, **named: Any) -> None:
            fields.make_methods()
            cls.__init__(value, *args, **named)

        cls.__dataclass_fields__ = fields = _Fields(written, cls, options)
        cls.__init__ = first
        return cls

    return declare if slots else dataclasses.dataclass(**options)


def _with_slots(written: Any, *, frozen: bool) -> Any:
    """Return the class made again with a slot for each field."""
    names = [name for name, kind in written.__annotations__.items() if not str(kind).startswith(_NO_FIELD)]
    gone = {*names, "__dict__", "__weakref__"}
    body = {name: value for name, value in vars(written).items() if name not in gone}
    known = {slot for base in written.__mro__[1:-1] for slot in vars(base).get("__slots__", ())}
    body["__slots__"] = tuple(name for name in names if name not in known)
    if frozen:
        body.setdefault("__getstate__", _state)
        body.setdefault("__setstate__", _set_state)
    made = type(written)(written.__name__, written.__bases__, body)
    made.__qualname__ = written.__qualname__
    return made


def _state(value: Any) -> list[Any]:
    """Return what a copy of a frozen value is made of."""
    return [getattr(value, field.name) for field in dataclasses.fields(value)]


def _set_state(value: Any, state: list[Any]) -> None:
    """Fill a copy of a frozen value."""
    for field, item in zip(dataclasses.fields(value), state, strict=True):
        object.__setattr__(value, field.name, item)


if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    dataclass = _lazy_dataclass


@cache
def slots(kind: Hashable) -> dict[str, tuple[Get, Put]]:
    """Return the functions that read and write each field of a class: name -> (get, put)."""
    cls: Any = kind
    found = {}
    for field in dataclasses.fields(cls):
        descriptor = getattr(cls, field.name)
        found[field.name] = (descriptor.__get__, descriptor.__set__)
    return found


@cache
def _parts(kind: Hashable) -> tuple[Get, tuple[Put, ...], dict[str, Put]]:
    """Return a function that reads all fields, the functions that write each, and the latter by name."""
    puts = {name: put for name, (_, put) in slots(kind).items()}
    read = attrgetter(*puts, next(iter(puts)))  # the first name twice: for one name attrgetter gives no tuple
    return read, tuple(puts.values()), puts


def changed(value: T, /, **fields: Any) -> T:
    """Return a copy with other values in some fields, like `dataclasses.replace` but three times as fast.

    Raises:
        KeyError: The class has no such field.
    """
    kind = type(value)
    read, puts, by_name = _parts(cast("Hashable", kind))
    made = kind.__new__(kind)
    for put, item in zip(puts, read(value), strict=False):
        put(made, item)
    for name, item in fields.items():
        by_name[name](made, item)
    return made
