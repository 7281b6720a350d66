"""Reads and writes JSON with Python's C functions alone: for the wire, for the store, and as Go prints it.

Importing the ``json`` package loads ``re`` and ``enum``, which takes longer than all other imports of the
program together; the two C functions of the package do all the work.

Mirrors: Go encoding/json (juju 3.6)
"""

from __future__ import annotations

from pushjuju.portable.gotypes import Struct


class _Settings:
    """What the C function that reads JSON asks for."""

    strict = False
    array_hook = None  # since Python 3.15
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    memo: dict[str, str] = {}


_c: Any = None
try:
    import _json

    _c = _json
    _c.make_scanner(_Settings)
    _c.make_encoder(None, None, _c.encode_basestring, None, ":", ",", False, False, True)
except (ImportError, AttributeError, TypeError):  # no C module, or that of a Python to come
    import json as _slow

    _c = None

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    Read = Callable[[str], Any]
    Write = Callable[[Any], str]


def _refuse(value: object) -> Any:
    raise TypeError("cannot render %r" % type(value).__name__)


def _make_reader() -> Read:
    if _c is None:
        read_slowly: Read = _slow.loads
        return read_slowly

    scan = _c.make_scanner(_Settings)

    def read(text: str) -> Any:
        text = text.strip()
        try:
            value, end = scan(text, 0)
        except StopIteration as stop:
            raise ValueError("not JSON: character %s" % stop.value) from None
        if end != len(text):
            raise ValueError("not JSON: extra data at character %d" % end)
        return value

    return read


def _make_writer(*, ascii_only: bool, sort_keys: bool) -> Write:
    if _c is None:
        settings = _slow.JSONEncoder(ensure_ascii=ascii_only, separators=(",", ":"), sort_keys=sort_keys)
        write_slowly: Write = settings.encode
        return write_slowly
    escape = _c.encode_basestring_ascii if ascii_only else _c.encode_basestring
    encode = _c.make_encoder(None, _refuse, escape, None, ":", ",", sort_keys, False, True)
    return lambda value: "".join(encode(value, 0))


loads = _make_reader()  # for messages
dumps = _make_writer(ascii_only=True, sort_keys=False)
compact = _make_writer(ascii_only=True, sort_keys=True)  # for the store: equal values give equal texts
_sorted = _make_writer(ascii_only=False, sort_keys=True)
_in_order = _make_writer(ascii_only=False, sort_keys=False)


def to_json(value: Any, *, sort_keys: bool = True) -> str:
    """Render a value as Go does: compact JSON on one line, without the final newline.

    Args:
        value: None, bool, int, float, str, list, tuple and dict, nested.
        sort_keys: Sort the keys of plain dicts; a `Struct` always keeps its order.
    """
    if _needs_care(value):
        return escape_json(_in_order(_prepare(value, sort_keys)))
    return escape_json(_sorted(value) if sort_keys else _in_order(value))


def _prepare(value: Any, sort_keys: bool) -> Any:
    """Copy `value` with map keys sorted and whole floats as integers, ready for a plain JSON encoder."""
    if isinstance(value, dict):
        if sort_keys and not isinstance(value, Struct):
            return {key: _prepare(value[key], sort_keys) for key in sorted(value)}
        return {key: _prepare(item, sort_keys) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_prepare(item, sort_keys) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return int(value)
    return value


def _needs_care(value: Any) -> bool:
    """Return True when the C encoder would render a part otherwise than Go: a float, or a `Struct`."""
    todo = [value]
    while todo:
        item = todo.pop()
        kind = type(item)
        if kind is dict:
            todo.extend(item.values())
        elif kind is list:
            todo.extend(item)
        elif kind is float or kind is Struct:
            return True
    return False


def escape_json(text: str) -> str:
    """Apply Go's extra escapes to JSON text: `<`, `>`, `&`, U+2028, U+2029; bytes that are not UTF-8."""
    for char, code in (("<", "003c"), (">", "003e"), ("&", "0026"), ("\u2028", "2028"), ("\u2029", "2029")):
        if char in text:
            text = text.replace(char, "\\u" + code)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = "".join("\\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
    return text
