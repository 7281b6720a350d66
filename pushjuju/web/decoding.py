"""Decodes params into frozen dataclasses whose fields are named as on the wire, with `_` for `-`.

A field with another name on the wire has `field(metadata={"wire": NAME})`. A missing field keeps its default,
an unknown key is ignored, and a value of another type is an error that names the field. The function that
reads a class is made once.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Hashable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Annotated, Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from pushjuju.web.errors import WrongType
from pushjuju.web.messages import folded

T = TypeVar("T")
Read = Callable[[Any, str], Any]
Count = Annotated[int, "unsigned"]
"""A number that Juju keeps unsigned: a size, a count."""

_MOST = 2**63


def decode(kind: type[T], value: Any, where: str = "params") -> T:
    """Return params as a value of a dataclass.

    Raises:
        WrongType: A field has a value of another type; the message names the field.
    """
    found: T = _reader(cast("Hashable", kind))(value, where)
    return found


def wire_name(item: Any) -> str:
    """Return the name of a dataclass field on the wire."""
    return str(item.metadata.get("wire") or item.name.replace("_", "-"))


@cache
def _reader(kind: Any) -> Read:
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _unsigned
    if origin in (Union, types.UnionType):
        return _reader(next(part for part in parts if part is not type(None)))
    if origin is list:
        return _list(_reader(parts[0]))
    if origin is dict:
        return _map(_reader(parts[1]))
    if is_dataclass(kind):
        return _object(kind)
    return _SIMPLE[kind]


def _wrong(where: str, wanted: str, value: Any) -> WrongType:
    shown = type(value).__name__ if not isinstance(value, (int, float)) else f"{value}"
    return WrongType(f"json: cannot unmarshal {shown} into {where} of type {wanted}")


def _text(value: Any, where: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _wrong(where, "string", value)
    return value


def _flag(value: Any, where: str) -> bool:
    if value is None:
        return False
    if not isinstance(value, bool):
        raise _wrong(where, "bool", value)
    return value


def _int(value: Any, where: str) -> int:
    if value is None:
        return 0
    if isinstance(value, float) and value.is_integer():  # JavaScript writes whole numbers as floats, too
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not -_MOST <= value < _MOST:
        raise _wrong(where, "int", value)
    return value


def _unsigned(value: Any, where: str) -> int:
    number = _int(value, where)
    if number < 0:
        raise _wrong(where, "uint64", value)
    return number


def _any(value: Any, _where: str) -> Any:
    return value


_SIMPLE: Mapping[Any, Read] = {str: _text, bool: _flag, int: _int, Any: _any}


def _list(read: Read) -> Read:
    def items(value: Any, where: str) -> list[Any]:
        if value is None:
            return []
        if not isinstance(value, list):
            raise _wrong(where, "list", value)
        return [read(item, f"{where}[{number}]") for number, item in enumerate(value)]

    return items


def _map(read: Read) -> Read:
    def entries(value: Any, where: str) -> dict[str, object]:
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise _wrong(where, "map", value)
        return {key: read(item, f"{where}.{key}") for key, item in value.items()}

    return entries


def _object(kind: Any) -> Read:
    hints = get_type_hints(kind, include_extras=True)
    known = [
        (wire_name(item).lower(), item.name, _reader(hints[item.name])) for item in fields(kind) if item.init
    ]

    def read(value: Any, where: str) -> Any:
        if not isinstance(value, dict):
            raise _wrong(where, kind.__name__, value)
        given = folded(value)
        return kind(
            **{name: reader(given[key], f"{where}.{key}") for key, name, reader in known if key in given}
        )

    return read
