"""JSON Schema, draft 4, by jsonschema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema import Draft4Validator
from jsonschema.exceptions import SchemaError, ValidationError


class Draft4:
    """What is wrong with a schema, or with a value that shall fit one."""

    @staticmethod
    def schema_fault(schema: Mapping[str, Any]) -> SchemaError | None:
        """Return the worst fault of a schema, or None when there is no fault."""
        try:
            Draft4Validator.check_schema(schema)
        except SchemaError as error:
            return error
        return None

    @staticmethod
    def faults(schema: Mapping[str, Any], value: Any) -> Iterator[ValidationError]:
        """Yield every fault of a value."""
        yield from Draft4Validator(schema).iter_errors(value)
