"""Rows and parameters of PostgreSQL, as SQLite's driver returns and takes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from pushjuju.core.clock import to_iso

_INT8, _BYTEA = 20, 17  # types of PostgreSQL


def _text(value: bytes) -> str:
    return value.decode()


def _bytes(value: bytes) -> bytes:
    return bytes.fromhex(value[2:].decode())


def _truth(value: bytes) -> int:
    return int(value == b"t")


# type of PostgreSQL -> what SQLite's driver returns for such a column
READERS: Mapping[int, Callable[[bytes], Any]] = {
    16: _truth, 17: _bytes, 19: _text, 20: int, 21: int, 23: int, 25: _text, 28: int, 701: float, 705: _text,
    1043: _text, 1700: float, 5069: int,
}  # fmt: skip


class Row:
    """A row whose columns have numbers and names."""

    __slots__ = ("_numbers", "_values")

    def __init__(self, values: tuple[Any, ...], numbers: Mapping[str, int]) -> None:
        self._values = values
        self._numbers = numbers

    def __getitem__(self, key: Any) -> Any:
        return self._values[self._numbers[key]] if isinstance(key, str) else self._values[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def keys(self) -> list[str]:
        return list(self._numbers)


def type_of(value: object) -> int:
    """Return the type of a parameter; 0 lets PostgreSQL choose.

    Numbers have eight bytes, since PostgreSQL takes the number of an addition for one of four.
    """
    if isinstance(value, int):
        return _INT8
    return _BYTEA if isinstance(value, bytes) else 0


def sent(value: Any) -> bytes | None:
    """Return a parameter as PostgreSQL reads it; text cannot have NUL there."""
    if value is None:
        return None
    if isinstance(value, str):
        return value.replace("\0", "\ufffd").encode() if "\0" in value else value.encode()
    if isinstance(value, bytes):
        return b"\\x" + value.hex().encode()
    if isinstance(value, datetime):
        return to_iso(value).encode()
    return b"%d" % value if isinstance(value, int) else str(value).encode()
