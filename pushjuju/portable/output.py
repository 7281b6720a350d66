"""Renders values as Juju does: JSON, YAML and "smart" text.

The hook tools on machines and the command line on the controller share this module, so their output is alike.
Strings may carry bytes that are not UTF-8 as lone surrogates (Python's "surrogateescape").

Mirrors: juju/cmd output.go, encoding/json (juju 3.6)
"""

from __future__ import annotations

from pushjuju.portable.jsontext import to_json
from pushjuju.portable.yamltext import to_yaml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def format_json(value: Any, *, sort_keys: bool = True) -> str:
    """Render a value for `--format json`."""
    return to_json(value, sort_keys=sort_keys) + "\n"


def format_yaml(value: Any, *, sort_keys: bool = True) -> str:
    """Render a value for `--format yaml`; None gives an empty text."""
    return "" if value is None else to_yaml(value, sort_keys=sort_keys)


def format_smart(value: Any, *, sort_keys: bool = True) -> str:
    """Render a value for `--format smart`: strings as they are, `True`, one list item per line, else YAML."""
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
    """Turn rendered text into the bytes that a tool prints; lone surrogates become the original bytes."""
    return text.encode("utf-8", "surrogateescape")
