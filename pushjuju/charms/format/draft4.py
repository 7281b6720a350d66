"""Checks JSON schemas of draft 4, and values against them, with jsonschema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema import Draft4Validator
from jsonschema.exceptions import SchemaError, ValidationError


class Draft4:
    """Finds faults of a schema, and of a value that a schema describes."""

    @staticmethod
    def schema_fault(schema: Mapping[str, Any]) -> SchemaError | None:
        """Return the most relevant fault of a schema, or None when the schema is valid."""
        try:
            Draft4Validator.check_schema(schema)
        except SchemaError as error:
            return error
        return None

    @staticmethod
    def faults(schema: Mapping[str, Any], value: Any) -> Iterator[ValidationError]:
        """Yield every fault of a value under a schema."""
        yield from Draft4Validator(schema).iter_errors(value)
