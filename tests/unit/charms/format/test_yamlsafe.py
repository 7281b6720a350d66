"""YAML of strangers: the same words as Juju's parser, and no bombs."""

from __future__ import annotations

import json
import math
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushjuju.charms.format.yamlsafe import YamlLimits, load
from pushjuju.core.errors import NotValid


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("# only a comment\n", None),
        ("a: 1", {"a": 1}),
        ("a: [1, 2.5, x, null, ~, ]", {"a": [1, 2.5, "x", None, None]}),
        ("a: yes\nb: Off\nc: y\nd: 'yes'", {"a": True, "b": False, "c": True, "d": "yes"}),
        ("a: 2001-01-01\nb: 1:30\nc: 1e3\nd: 08\ne: 0x1f\nf: 010\ng: 0o10\nh: 1_000",
         {"a": "2001-01-01", "b": "1:30", "c": 1000.0, "d": 8.0, "e": 31, "f": 8, "g": 8, "h": 1000}),
        ("a: !!str 5\nb: !!int '7'\nc: !!float 2", {"a": "5", "b": 7, "c": 2.0}),
        ("a: &x {k: 1}\nb: *x", {"a": {"k": 1}, "b": {"k": 1}}),
        ("a: &x {k: 1, l: 2}\nb:\n  <<: *x\n  k: 9", {"a": {"k": 1, "l": 2}, "b": {"k": 9, "l": 2}}),
        ("b:\n  <<: [{k: 1}, {k: 2, m: 3}]", {"b": {"k": 1, "m": 3}}),
        ("'<<': 1", {"<<": 1}),
        ("y: y\non: n", {"y": True, True: False}),
        ("first: 1\n---\nsecond: 2", {"first": 1}),
        ("a: 99999999999999999999999", {"a": 1e23}),
        ("a: !!binary aGk=", {"a": "hi"}),
    ],
)  # fmt: skip
def test_words_mean_what_they_mean_to_juju(text: str, value: Any) -> None:
    assert load(text) == value


def test_special_floats() -> None:
    found = load("a: .inf\nb: -.Inf\nc: .nan")
    assert found["a"] == math.inf
    assert found["b"] == -math.inf
    assert math.isnan(found["c"])


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a: 1\na: 2", 'yaml: line 2: mapping key "a" already defined at line 1'),
        ("a: *x", "yaml: line 1: unknown anchor 'x' referenced"),
        ("a: &x [*x]", "yaml: line 1: anchor 'x' value contains itself"),
        ("? [1]\n: 2", "yaml: line 1: a list or map cannot be a key"),
        ("a: &x [1]\n*x : 2", "yaml: line 2: a list or map cannot be a key"),
        ("a: !!python/object/apply:os.system [ls]", "tag tag:yaml.org,2002:python/object/apply:os.system"),
        ("a: !thing x", "tag !thing is not supported"),
        ("a: !!int x", "cannot decode 'x' as int"),
        ("a: !!binary '*'", "invalid base64"),
        ("a: !!binary ꃭ0", "invalid base64"),
        ("a: [1", "yaml: line 2: did not find expected"),
        ("a: b: c", "yaml: line 1: mapping values are not allowed in this context"),
        ("a: \x00", "yaml: "),
        (b"a: \xff\xfe\xff", "yaml: "),
        ("<<: 5", "map merge requires map or sequence of maps as the value"),
    ],
)
def test_faults_name_the_line(text: str, fault: str) -> None:
    with pytest.raises(NotValid) as caught:
        load(text)
    assert fault in caught.value.message


def test_alias_bomb_is_refused_at_once() -> None:
    lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x]"]
    for number in range(1, 40):
        refs = ",".join([f"*a{number - 1}"] * 9)
        lines.append(f"a{number}: &a{number} [{refs}]")
    started = time.monotonic()
    with pytest.raises(NotValid, match="excessive aliasing"):
        load("\n".join(lines))
    assert time.monotonic() - started < 2


def test_aliases_of_long_texts_count_by_length() -> None:
    text = f"a: &a {'x' * 100_000}\nb: [{', '.join(['*a'] * 1000)}]"
    with pytest.raises(NotValid, match="excessive aliasing"):
        load(text)


def test_depth_counts_through_aliases() -> None:
    lines = ["a0: &a0 [1]"]
    lines += [f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 100)]
    with pytest.raises(NotValid, match="exceeded max depth of 64"):
        load("\n".join(lines))


@pytest.mark.parametrize("opening", ["[", "{a: ", "- "])
def test_deep_nesting_is_refused(opening: str) -> None:
    with pytest.raises(NotValid, match=r"exceeded max(imum nesting)? depth"):
        load(opening * 100_000)


def test_size_limit() -> None:
    with pytest.raises(NotValid, match="larger than 10 bytes"):
        load("a: 12345678901", YamlLimits(size=10))


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=20,
)


@given(PLAIN)
def test_json_is_read_as_json(value: Any) -> None:
    text = json.dumps(value, ensure_ascii=True)
    if "\\ud8" in text or "\\ud9" in text or "\\uda" in text or "\\udb" in text or "\\ud" in text:
        return  # JSON's surrogate pairs are no YAML escapes
    assert load(text) == value


@given(st.binary(max_size=200) | st.text(alphabet="ab:&*[]{}-? \n'\"<!#|>", max_size=60))
def test_anything_is_either_data_or_a_fault(data: bytes | str) -> None:
    message = "yaml: "
    try:
        load(data)
    except NotValid as error:
        message = error.message
    assert message.startswith("yaml: ")
