"""Render values as Juju does: JSON, YAML and "smart" text.

Used by the hook tools on machines and by the command line on the controller, so that both look alike.
Strings may carry bytes that are not UTF-8 as lone surrogates (Python's "surrogateescape").
Pushed to machines: Python 3.8, lean imports.

Mirrors: juju/cmd output.go, encoding/json (juju 3.6)
"""

from __future__ import annotations

from pushjuju.runner.remote.goemit import Moment, Struct, go_float, to_yaml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

__all__ = ["Moment", "Struct", "encode", "format_json", "format_smart"]
__all__ += ["format_yaml", "go_float", "to_json", "to_yaml"]


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
    """Tell whether a plain encoder would get something wrong: a float, or a map that keeps its order."""
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


def _json_encoder(sort_keys: bool) -> Callable[[Any], str]:
    """Return the C encoder without the cost of importing json (which pulls in re)."""
    try:
        from _json import encode_basestring, make_encoder
    except ImportError:  # an interpreter without the C module
        import json

        return json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=sort_keys).encode
    encode = make_encoder(None, _refuse, encode_basestring, None, ":", ",", sort_keys, False, True)
    return lambda value: "".join(encode(value, 0))


def _refuse(value: object) -> Any:
    raise TypeError("cannot render %r" % type(value).__name__)


def escape_json(text: str) -> str:
    """Apply Go's extra escapes to JSON text: `<`, `>`, `&`, U+2028/9; bytes that are not UTF-8."""
    for char, code in (("<", "003c"), (">", "003e"), ("&", "0026"), ("\u2028", "2028"), ("\u2029", "2029")):
        if char in text:
            text = text.replace(char, "\\u" + code)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = "".join("\\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
    return text


def to_json(value: Any, *, sort_keys: bool = True) -> str:
    """Render compact JSON on one line, without the final newline.

    Args:
        value: None, bool, int, float, str, list, tuple and dict, nested.
        sort_keys: Sort the keys of plain dicts; a `Struct` always keeps its order.
    """
    if _needs_care(value):
        value, sort_keys = _prepare(value, sort_keys), False
    return escape_json(_json_encoder(sort_keys)(value))


def format_json(value: Any, *, sort_keys: bool = True) -> str:
    """Render for `--format json`."""
    return to_json(value, sort_keys=sort_keys) + "\n"


def format_yaml(value: Any, *, sort_keys: bool = True) -> str:
    """Render for `--format yaml`: nothing at all for None."""
    return "" if value is None else to_yaml(value, sort_keys=sort_keys)


def format_smart(value: Any, *, sort_keys: bool = True) -> str:
    """Render for `--format smart`: strings as they are, `True`/`False`, one list item per line, else YAML."""
    if value is None or value in ("", []):
        return ""
    if isinstance(value, str):
        return value + "\n"
    if value is True or value is False:
        return "True\n" if value else "False\n"
    if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        return "\n".join(value) + "\n"
    return to_yaml(value, sort_keys=sort_keys)


def encode(text: str) -> bytes:
    """Turn rendered text into the bytes that leave the tool; bytes that were not UTF-8 come back."""
    return text.encode("utf-8", "surrogateescape")
