"""Checks values under the simple schemas that most actions have without jsonschema, whose import is slow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}
_ENTRY = frozenset({"type", "description", "title", "default", "minimum", "maximum", "enum"})
_SCHEMA = frozenset({"type", "description", "title", "properties", "required", "additionalProperties"})


def is_plain(schema: Mapping[str, Any]) -> bool:
    """Return whether a schema is valid, and describes an object whose properties have simple types only."""
    properties = schema.get("properties")
    return (
        schema.keys() <= _SCHEMA
        and schema.get("type") == "object"
        and _are_texts(schema, "title", "description")
        and isinstance(schema.get("additionalProperties", True), bool)
        and _is_list_of_texts(schema.get("required", ["-"]))
        and isinstance(properties, dict)
        and all(map(_is_plain_entry, properties.values()))
    )


def _is_plain_entry(entry: object) -> bool:
    return (
        isinstance(entry, dict)
        and entry.keys() <= _ENTRY
        and _are_texts(entry, "title", "description")
        and isinstance(entry.get("type", "string"), str)
        and entry.get("type", "string") in _KINDS
        and all(_is_kind("number", entry.get(name, 0)) for name in ("minimum", "maximum"))
        and _is_list_of_texts(entry.get("enum", ["-"]))
    )


def _are_texts(entry: Mapping[str, Any], *names: str) -> bool:
    return all(isinstance(entry.get(name, ""), str) for name in names)


def _is_list_of_texts(value: object) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, str) for item in value)
        and len(set(value)) == len(value)
    )


def fits(schema: Mapping[str, Any], value: object) -> bool:
    """Return whether a value certainly fits a schema; only jsonschema can tell why a value does not fit."""
    if not is_plain(schema) or not isinstance(value, dict):
        return False
    known: Mapping[str, Mapping[str, Any]] = schema["properties"]
    return (
        all(name in value for name in schema.get("required", ()))
        and (schema.get("additionalProperties", True) or value.keys() <= known.keys())
        and all(_fits_entry(known[name], item) for name, item in value.items() if name in known)
    )


def _fits_entry(entry: Mapping[str, Any], value: Any) -> bool:
    if _is_kind("number", value) and not (
        entry.get("minimum", value) <= value <= entry.get("maximum", value)
    ):
        return False
    return _is_kind(entry.get("type"), value) and value in entry.get("enum", [value])


def _is_kind(kind: str | None, value: object) -> bool:
    if kind is None:
        return True
    return isinstance(value, _KINDS[kind]) and (kind == "boolean" or not isinstance(value, bool))
