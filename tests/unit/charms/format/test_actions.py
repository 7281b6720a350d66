"""actions.yaml, and the parameters of a run."""

from __future__ import annotations

from typing import Any

import pytest

from pushjuju.charms.format import actions
from pushjuju.charms.values.model import ActionSpec
from pushjuju.charms.values.problems import Problems
from pushjuju.core.errors import NotValid

SNAPSHOT = """
snapshot:
  description: Take one.
  title: Snap
  params:
    outfile: {type: string, default: out.gz}
    level: {type: integer, minimum: 1}
    nested:
      type: object
      properties:
        deep: {type: string, default: x}
        plain: {type: string}
    bare: {type: object, properties: {a: {type: string}}}
  required: [outfile]
  parallel: true
  execution-group: backup
  additionalProperties: false
  minProperties: 1
kill:
"""


def specs(text: str, charm: str = "web") -> dict[str, ActionSpec]:
    problems = Problems()
    found = actions.read_actions(text.encode(), charm, problems)
    problems.raise_if_any()
    return found


def test_reading() -> None:
    found = specs(SNAPSHOT)
    snapshot, kill = found["snapshot"], found["kill"]
    assert (snapshot.title, snapshot.parallel, snapshot.execution_group) == ("Snap", True, "backup")
    assert snapshot.schema["additionalProperties"] is False
    assert snapshot.schema["minProperties"] == 1
    assert snapshot.schema["required"] == ["outfile"]
    assert set(snapshot.schema["properties"]) == {"outfile", "level", "nested", "bare"}
    assert (kill.description, kill.title, kill.parallel, kill.execution_group) == (
        "No description",
        "kill",
        False,
        "",
    )
    assert kill.schema == {
        "description": "No description",
        "type": "object",
        "title": "kill",
        "properties": {},
    }
    assert specs("") == {}
    assert specs("a: {required: []}")["a"].schema.get("required") is None
    assert set(specs("on: {}\n1: {}")) == {"on", "1"}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Bad: {}", "bad action name Bad"),
        ("a_b: {}", "bad action name a_b"),
        ("-a: {}", "bad action name -a"),
        ("juju: {}", 'cannot use action name juju: "juju" is a reserved name'),
        ("juju-x: {}", 'cannot use action name juju-x: the "juju-" prefix is reserved'),
        ("a: {description: 5}", 'value for schema key "description" must be a string'),
        ("a: {title: [x]}", 'value for schema key "title" must be a string'),
        ("a: {params: [x]}", "params failed to parse as a map"),
        ("a: {required: x}", 'value for schema key "required" must be a YAML list'),
        ("a: {parallel: 'yes'}", 'value for schema key "parallel" must be a bool'),
        ("a: {execution-group: 1}", 'value for schema key "execution-group" must be a string'),
        ("a: {params: {x: {$ref: '#/b'}}}", 'schema key "$ref" not compatible with this version of juju'),
        ("a: {$schema: x}", 'schema key "$schema" not compatible with this version of juju'),
        ("a: {params: {x: {1: 2}}}", "map keyed with non-string value"),
        ("a: {params: {x: [{1: 2}]}}", "map keyed with non-string value"),
        ("a: {params: {x: {type: wrong}}}",
         "invalid params schema for action schema a: properties.x.type: 'wrong' is not valid"),
        ("a: {minProperties: x}", "invalid params schema for action schema a: minProperties: "),
        ("a: 5", 'action "a" failed to parse as a map'),
        ("[a]", "actions failed to parse as a map"),
        ("a: [", "yaml: "),
    ],
)  # fmt: skip
def test_reading_texts(text: str, fault: str) -> None:
    with pytest.raises(NotValid) as caught:
        specs(text)
    assert caught.value.message.startswith('parsing "actions.yaml" file: ' + fault)


def test_juju_charms_may_use_reserved_names() -> None:
    assert set(specs("juju-x: {}\njuju: {}", charm="juju-controller")) == {"juju-x", "juju"}


@pytest.mark.parametrize(
    ("params", "fault"),
    [
        ({"outfile": 5}, "validation failed: (root).outfile : must be of type string, given 5"),
        ({"bar": 2, "outfile": "x"},
         ("validation failed: (root) : "
         'additional property "bar" is not allowed, given {"bar":2,"outfile":"x"}')),
        ({"level": 1},
         'validation failed: (root) : "outfile" property is missing and required, given {"level":1}'),
        ({"outfile": "x", "nested": {"deep": 1}},
         "validation failed: (root).nested.deep : must be of type string, given 1"),
        ({"outfile": True, "level": "x"},
         ("validation failed: (root).level : must be of type integer, given x; "
         "(root).outfile : must be of type string, given true")),
        ({"outfile": "x", "level": 0},
         "validation failed: (root).level : 0 is less than the minimum of 1, given 0"),
    ],
)  # fmt: skip
def test_validation_texts(params: dict[str, Any], fault: str) -> None:
    with pytest.raises(NotValid) as caught:
        actions.validate_params(specs(SNAPSHOT)["snapshot"], params)
    assert caught.value.message == fault


def test_missing_names_are_all_told() -> None:
    spec = specs("a: {params: {x: {type: string}, z: {type: string}}, required: [x, z]}")["a"]
    with pytest.raises(NotValid) as caught:
        actions.validate_params(spec, {})
    for name in "xz":
        assert f'(root) : "{name}" property is missing and required, given {{}}' in caught.value.message


def test_defaults_go_in_after_validation() -> None:
    spec = specs(SNAPSHOT)["snapshot"]
    given = {"level": 3}
    assert actions.insert_defaults(spec, given) == {"level": 3, "outfile": "out.gz", "nested": {"deep": "x"}}
    assert given == {"level": 3}
    assert actions.insert_defaults(spec, {"outfile": "y", "nested": {"plain": "p"}}) == {
        "outfile": "y", "nested": {"plain": "p", "deep": "x"},
    }  # fmt: skip
    assert actions.insert_defaults(spec, {"nested": "text"})["nested"] == "text"


def test_juju_exec() -> None:
    spec = actions.juju_exec()
    assert spec.parallel
    actions.validate_params(spec, {"command": "ls", "timeout": 5})
    with pytest.raises(NotValid, match='"timeout" property is missing'):
        actions.validate_params(spec, {"command": "ls"})
