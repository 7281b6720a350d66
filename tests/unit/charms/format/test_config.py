"""config.yaml and the values people give: types, texts, documents."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushjuju.charms.format import config
from pushjuju.charms.values.model import ConfigOption, OptionType
from pushjuju.charms.values.problems import Problems
from pushjuju.core.errors import NotValid

OPTIONS = {
    name: ConfigOption(name=name, type=OptionType(kind), default=default, description=name)
    for name, kind, default in (
        ("title", "string", "My Title"),
        ("sub", "string", None),
        ("level", "int", None),
        ("ratio", "float", 0.5),
        ("on", "boolean", False),
        ("foo", "secret", None),
    )
}
SECRET = "secret:9m4e2mr0ui3e8a215n4g"


def options(text: str) -> dict[str, ConfigOption]:
    problems = Problems()
    found = config.read_config(text.encode(), problems)
    problems.raise_if_any()
    return found


def test_reading() -> None:
    found = options(
        "options: {a: {type: int, default: '0x10', description: d}, b: {type: '', default: ''}, c: ,"
        " d: {type: float, default: 3}, e: {type: boolean, default: 'T'}, f: {type: secret, default: ''},"
        " g: {type: string, default: null}}"
    )
    assert {name: item.default for name, item in found.items()} == {
        "a": 16, "b": "", "c": None, "d": 3.0, "e": True, "f": "", "g": None,
    }  # fmt: skip
    assert found["a"].description == "d"
    assert found["b"].type is OptionType.STRING
    assert options("options:") == {}
    assert set(options("options: {on: {type: int}, 5: }")) == {"on", "5"}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "invalid config: empty configuration"),
        ("{}", "invalid config: empty configuration"),
        ("other: 1", "invalid config: empty configuration"),
        ("options: {a: {type: foo}}", 'invalid config: option "a" has unknown type "foo"'),
        ("options: {a: {type: [1]}}", 'invalid config: option "a" has unknown type "[1]"'),
        ("options: {a: {type: boolean, default: henry}}",
         'invalid config default: option "a" expected boolean, got "henry"'),
        ("options: {a: {default: 5}}", 'invalid config default: option "a" expected string, got 5'),
        ("options: {a: {type: int, default: ''}}", 'invalid config default: option "a" expected int, got ""'),
        ("options: {a: {type: secret, default: x}}",
         'invalid config default: option "a" expected secret, got "x"'),
        ("options: [1]", "invalid config: options: expected map, got []interface {}([]interface {}{1})"),
        ("[1]", "invalid config: expected map, got "),
        ("options: {a: 5}", 'invalid config: option "a": expected map, got int(5)'),
        ("a: [", "yaml: "),
    ],
)  # fmt: skip
def test_reading_texts(text: str, fault: str) -> None:
    with pytest.raises(NotValid) as caught:
        options(text)
    assert caught.value.message.startswith('parsing "config.yaml" file: ' + fault)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("title", "", ""), ("title", "true", "true"), ("level", "-7", -7), ("level", "+07", 7),
        ("ratio", "1e3", 1000.0),
        ("ratio", "-Inf", -math.inf), ("ratio", ".5", 0.5), ("ratio", "0x1p-2", 0.25), ("on", "t", True),
        ("on", "False", False), ("foo", "", ""), ("foo", SECRET, SECRET),
        ("foo", "secret://cf67b90e-7201-4f23-8c0a-e1f453f1dc2e/9m4e2mr0ui3e8a215n4g",
         "secret://cf67b90e-7201-4f23-8c0a-e1f453f1dc2e/9m4e2mr0ui3e8a215n4g"),
    ],
)  # fmt: skip
def test_texts_become_values(name: str, text: str, value: Any) -> None:
    found = config.parse_settings(OPTIONS, {name: text})[name]
    assert found == value
    assert type(found) is type(value)


def test_nan_is_a_float() -> None:
    found = config.parse_settings(OPTIONS, {"ratio": "NaN"})["ratio"]
    assert isinstance(found, float)
    assert math.isnan(found)


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("nope", "1", 'unknown option "nope"'),
        ("level", "cheese", 'option "level" expected int, got "cheese"'),
        ("level", "", 'option "level" expected int, got ""'),
        ("level", "0x10", 'option "level" expected int, got "0x10"'),
        ("level", "1_000", 'option "level" expected int, got "1_000"'),
        ("level", " 1", 'option "level" expected int, got " 1"'),
        ("level", "9223372036854775808", 'option "level" expected int, got "9223372036854775808"'),
        ("ratio", "", 'option "ratio" expected float, got ""'),
        ("ratio", "1e999", 'option "ratio" expected float, got "1e999"'),
        ("ratio", "1_0", 'option "ratio" expected float, got "1_0"'),
        ("on", "yes", 'option "on" expected boolean, got "yes"'),
        ("foo", "cheese", 'option "foo" expected secret, got "cheese"'),
        ("foo", "secret:x y", 'invalid secret URI for option "foo": secret URI "secret:x y" not valid'),
    ],
)
def test_text_faults(name: str, text: str, fault: str) -> None:
    with pytest.raises(NotValid) as caught:
        config.parse_settings(OPTIONS, {name: text})
    assert caught.value.message == fault


@pytest.mark.parametrize(
    ("name", "value", "fault"),
    [
        ("level", 1.5, 'option "level" expected int, got 1.5'),
        ("level", True, 'option "level" expected int, got true'),
        ("title", 123, 'option "title" expected string, got 123'),
        ("on", 1, 'option "on" expected boolean, got 1'),
        ("ratio", True, 'option "ratio" expected float, got true'),
        ("ratio", [1], 'option "ratio" expected float, got []interface {}{1}'),
        ("foo", 5, 'option "foo" expected secret, got 5'),
    ],
)
def test_native_faults(name: str, value: Any, fault: str) -> None:
    with pytest.raises(NotValid) as caught:
        config.validate_settings(OPTIONS, {name: value})
    assert caught.value.message == fault


def test_yaml_settings() -> None:
    text = "web: {title: x, level: 5, ratio: 2, on: 'true', sub: null}"
    assert config.parse_settings_yaml(OPTIONS, text, "web") == {
        "title": "x", "level": 5, "ratio": 2.0, "on": True, "sub": None,
    }  # fmt: skip
    assert config.parse_settings_yaml(OPTIONS, "web:", "web") == {}
    assert config.parse_settings_yaml(OPTIONS, "", "web") == {}


def test_the_output_of_config_can_be_given_back() -> None:
    settings = {"title": "x", "level": 3, "on": False}
    document = config.config_document("web", "webcharm", options=OPTIONS, settings=settings)
    import yaml

    found = config.parse_settings_yaml(OPTIONS, yaml.safe_dump(document), "web")
    assert found == {"title": "x", "level": 3}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("other: {}", 'no settings found for "web"'),
        ("[", "cannot parse settings data: yaml: "),
        ("[1]", "unknown format for settings"),
        ("web: 5", 'unknown format for settings of "web": int'),
        ("application: web\nsettings: {a: 1}", "unknown format for settings"),
        ("web: {nope: 1}", 'unknown option "nope"'),
        ("web: {level: x}", 'option "level" expected int, got "x"'),
    ],
)
def test_yaml_settings_faults(text: str, fault: str) -> None:
    with pytest.raises(NotValid) as caught:
        config.parse_settings_yaml(OPTIONS, text, "web")
    assert caught.value.message.startswith(fault)


def test_filter_drops_what_a_new_charm_does_not_take() -> None:
    given = {"title": "x", "gone": 1, "level": "five", "ratio": 2, "on": None}
    assert config.filter_settings(OPTIONS, given) == {"title": "x", "ratio": 2.0, "on": None}


def test_what_a_charm_sees() -> None:
    merged = config.merge_settings(OPTIONS, {"level": 1, "gone": 2, "title": None})
    assert merged == {"title": "My Title", "sub": None, "level": 1, "ratio": 0.5, "on": False, "foo": None}


def test_config_document() -> None:
    document = config.config_document(
        "web", "webcharm", options=OPTIONS, settings={"level": 3, "on": False, "title": "x"}, trust=True
    )
    assert document["application"] == "web"
    assert document["charm"] == "webcharm"
    assert document["application-config"] == {
        "trust": {
            "default": False,
            "description": "Does this application have access to trusted credentials",
            "source": "user",
            "type": "bool",
            "value": True,
        }
    }
    assert document["settings"] == {
        "foo": {"description": "foo", "source": "unset", "type": "secret"},
        "level": {"description": "level", "source": "user", "type": "int", "value": 3},
        "on": {"default": False, "description": "on", "source": "default", "type": "boolean", "value": False},
        "ratio": {"default": 0.5, "description": "ratio", "source": "default", "type": "float", "value": 0.5},
        "sub": {"description": "sub", "source": "unset", "type": "string"},
        "title": {
            "default": "My Title", "description": "title", "source": "user", "type": "string", "value": "x",
        },
    }  # fmt: skip
    assert list(document["settings"]["on"]) == ["default", "description", "source", "type", "value"]


@given(st.sampled_from(sorted(OPTIONS)), st.text(max_size=12))
def test_any_text_is_a_value_of_the_right_type_or_a_fault(name: str, text: str) -> None:
    wanted = {"string": str, "secret": str, "int": int, "float": float, "boolean": bool}[OPTIONS[name].type]
    message = ""
    try:
        assert type(config.parse_settings(OPTIONS, {name: text})[name]) is wanted
    except NotValid as error:
        message = error.message
    assert message == "" or repr(name)[1:-1] in message


def test_all_faults_of_settings_are_told() -> None:
    """One call names all options that cannot be, the first of them in Juju's words."""
    wrong = {"level": "many", "nosuch": "1", "title": "x"}
    document = "web: {level: many, nosuch: '1', title: x}"
    for read in (
        lambda: config.parse_settings(OPTIONS, wrong),
        lambda: config.parse_settings_yaml(OPTIONS, document, "web"),
    ):
        with pytest.raises(NotValid) as caught:
            read()
        assert caught.value.message == 'option "level" expected int, got "many"'
        assert caught.value.detail == 'also:\n  unknown option "nosuch"'
