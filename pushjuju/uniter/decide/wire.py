"""Local state, remote state and decisions as JSON, so that decisions can be stored and repeated.

Keys are field names with hyphens; values that equal the default are left out. The annotations of a type
define how it is written and read.
"""

from __future__ import annotations

import functools
import operator
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING
from enum import Enum
from typing import Any, TypeVar

from pushjuju.core.errors import NotValid
from pushjuju.core.values import defaults, is_value
from pushjuju.portable.jsontext import compact
from pushjuju.uniter.decide.decision import Decision, Effect, Operation
from pushjuju.uniter.decide.loop import decide
from pushjuju.uniter.decide.remote import RemoteState
from pushjuju.uniter.decide.state import HookInfo, LocalState, validate_local

T = TypeVar("T")
RECORD_FORMAT = 1
_SCALARS = frozenset((str, int, bool, float, types.NoneType))


def to_wire(value: LocalState | RemoteState | Decision | Operation | Effect | HookInfo) -> dict[str, object]:
    """Return a value as a JSON document."""
    document: dict[str, object] = _plain(value)
    return document


def from_wire(cls: type[T], document: object) -> T:
    """Return the value of a JSON document; raise NotValid when the document has another shape.

    Args:
        cls: One of the types that `to_wire` writes.
    """
    value = _reader(typing.cast("Any", cls))(document, cls.__name__)
    if isinstance(value, LocalState):
        validate_local(value)
    return typing.cast("T", value)


def record(local: LocalState, remote: RemoteState, decision: Decision) -> dict[str, object]:
    """Return a document with a decision and the two states from which it was made."""
    return {
        "format": RECORD_FORMAT,
        "local": to_wire(local),
        "remote": to_wire(remote),
        "decision": to_wire(decision),
    }


def record_text(
    local: LocalState, remote: RemoteState, decision: Decision, local_text: str | None = None
) -> str:
    """Return the document of `record` as JSON.

    Args:
        local_text: The local state as JSON, if the caller has it.
    """
    local_text = local_text or text_of(local)
    head = f'"decision":{text_of(decision)},"format":{RECORD_FORMAT}'
    return f'{{{head},"local":{local_text},"remote":{text_of(remote)}}}'


def text_of(value: LocalState | RemoteState | Decision) -> str:
    """Return a value as JSON; equal values give equal texts."""
    return compact(to_wire(value))


def replay(kept: Mapping[str, Any]) -> Decision:
    """Repeat the decision of a record; compare the result with `from_wire(Decision, kept["decision"])`."""
    if kept.get("format") != RECORD_FORMAT:
        raise NotValid(f"decision record has format {kept.get('format')!r}, expected {RECORD_FORMAT}")
    return decide(from_wire(LocalState, kept.get("local")), from_wire(RemoteState, kept.get("remote")))


def _plain(value: Any) -> Any:
    """Return a value as types that JSON has."""
    kind: Any = type(value)
    return value if kind in _SCALARS else _writer(kind)(value)


@functools.cache
def _writer(kind: type[Any]) -> Callable[[Any], Any]:
    """Return the function that writes values of a type."""
    if issubclass(kind, Enum):
        return lambda value: value.value
    if is_value(kind):
        return _dataclass_writer(kind)
    if issubclass(kind, Mapping):
        return _mapping
    if issubclass(kind, frozenset):
        return lambda value: sorted(_plain(item) for item in value)
    if issubclass(kind, tuple):
        return lambda value: [_plain(item) for item in value]
    return lambda value: value


def _mapping(value: Mapping[Any, Any]) -> dict[str, object]:
    return {str(key): item if type(item) in _SCALARS else _plain(item) for key, item in value.items()}


def _dataclass_writer(cls: type[Any]) -> Callable[[Any], dict[str, object]]:
    """Return a writer that leaves out fields with default values; it skips these fast."""
    names = list(defaults(cls))
    values = operator.attrgetter(*names, names[0])  # the first name twice: always a tuple
    columns = tuple((_key(name), default) for name, default in defaults(cls).items())

    def write(value: Any) -> dict[str, object]:
        document = {}
        for item, (key, default) in zip(values(value), columns, strict=False):
            if item is default or item == default:
                continue
            kind: Any = type(item)
            document[key] = item if kind in _SCALARS else _writer(kind)(item)
        return document

    return write


def _key(name: str) -> str:
    return name.replace("_", "-")


Reader = Callable[[object, str], Any]


@functools.cache
def _reader(kind: Any) -> Reader:
    """Return the function that reads values of a type, given a value and its place in the document."""
    origin, parameters = typing.get_origin(kind), typing.get_args(kind)
    if is_value(kind):
        return _dataclass_reader(kind)
    if origin in (types.UnionType, typing.Union):
        return _union_reader(parameters)
    if origin is tuple:
        return _list_reader(parameters[0], tuple)
    if origin is frozenset:
        return _list_reader(parameters[0], frozenset)
    if origin is Mapping:
        return _mapping_reader(parameters[0], _reader(parameters[1]))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _enum_reader(kind)
    return _scalar_reader(kind)


def _dataclass_reader(cls: type[Any]) -> Reader:
    hints = typing.get_type_hints(cls)
    readers = {_key(name): (name, _reader(hints[name])) for name in defaults(cls)}
    needed = {_key(name) for name, default in defaults(cls).items() if default is MISSING}

    def read(value: object, where: str) -> Any:
        document = _expect(dict, value, where)
        if unknown := document.keys() - readers.keys():
            raise NotValid(f"{where}: unknown key {min(unknown)!r}")
        if missing := needed - document.keys():
            raise NotValid(f"{where}: missing key {min(missing)!r}")
        given = {}
        for key, item in document.items():
            name, reader = readers[key]
            given[name] = reader(item, f"{where}.{key}")
        return cls(**given)

    return read


def _union_reader(parameters: tuple[Any, ...]) -> Reader:
    """Read `X | None`, or one of several scalars."""
    readers = [(item, _reader(item)) for item in parameters if item is not types.NoneType]

    def read(value: object, where: str) -> Any:
        if value is None and types.NoneType in parameters:
            return None
        exact = [reader for item, reader in readers if type(value) is item]
        return (exact or [readers[0][1]])[0](value, where)

    return read


def _list_reader(item: Any, build: type[tuple[Any, ...]] | type[frozenset[Any]]) -> Reader:
    reader = _reader(item)

    def read(value: object, where: str) -> Any:
        items = _expect(list, value, where)
        return build(reader(each, f"{where}[{index}]") for index, each in enumerate(items))

    return read


def _mapping_reader(key_type: Any, reader: Reader) -> Reader:
    def read(value: object, where: str) -> Any:
        document = _expect(dict, value, where)
        return {
            _map_key(key_type, key, where): reader(item, f"{where}.{key}") for key, item in document.items()
        }

    return read


def _map_key(key_type: Any, key: str, where: str) -> Any:
    if key_type is int and not key.isdecimal():
        raise NotValid(f"{where}: {key!r} is not a number")
    return key_type(key)


def _enum_reader(cls: type[Enum]) -> Reader:
    def read(value: object, where: str) -> Any:
        try:
            return cls(value)
        except ValueError as error:
            raise NotValid(f"{where}: {value!r} is not one of its words") from error

    return read


def _scalar_reader(cls: type[Any]) -> Reader:
    return lambda value, where: _expect(cls, value, where)


def _expect(cls: type[Any], value: object, where: str) -> Any:
    if type(value) is not cls:
        raise NotValid(f"{where}: expected {cls.__name__}, not {type(value).__name__}")
    return value
