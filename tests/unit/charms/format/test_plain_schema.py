"""The simple check of schemas and values agrees with jsonschema's."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pushjuju.charms.format import plain_schema
from pushjuju.charms.format.draft4 import Draft4

NAMES = st.sampled_from(["a", "b", "c"])
VALUES: Any = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=3),
    st.lists(st.integers(), max_size=2), st.just({"a": 1}),
)  # fmt: skip
ENTRIES: Any = st.one_of(
    VALUES,
    st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(
                ["string", "integer", "number", "boolean", "array", "strings", ["string"]]
            ),
            "description": VALUES,
            "title": st.text(max_size=3),
            "default": VALUES,
            "minimum": st.one_of(st.integers(0, 3), VALUES),
            "maximum": st.integers(0, 3),
            "enum": st.one_of(st.lists(NAMES, max_size=3), VALUES),
            "maxLength": st.just(1),
        },
    ),
)
SCHEMAS: Any = st.fixed_dictionaries(
    {"type": st.sampled_from(["object", "object", "object", "array", 1])},
    optional={
        "properties": st.one_of(st.dictionaries(NAMES, ENTRIES), VALUES),
        "required": st.one_of(st.lists(NAMES, max_size=3), VALUES),
        "additionalProperties": st.one_of(st.booleans(), VALUES),
        "description": VALUES,
        "title": st.text(max_size=3),
        "patternProperties": st.just({"^a": {"type": "string"}}),
    },
)


@given(SCHEMAS, st.one_of(VALUES, st.dictionaries(NAMES, VALUES)))
def test_what_fits_at_first_sight_fits(schema: Any, value: Any) -> None:
    if plain_schema.is_plain(schema):
        assert Draft4.schema_fault(schema) is None
        assert plain_schema.fits(schema, value) == (not list(Draft4.faults(schema, value)))
    else:
        assert not plain_schema.fits(schema, value)


def test_a_command_on_a_unit_needs_no_jsonschema() -> None:
    text = (
        "import sys; from pushjuju.charms.format import actions as a;"
        "a.validate_params(a.juju_exec(), {'command': 'ls', 'timeout': 5});"
        "print('jsonschema' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
