"""JSON and frames of the remote side, against the standard library."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pushjuju.portable import jsontext
from pushjuju.runner.remote.base import wire

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)


@settings(suppress_health_check=[HealthCheck.too_slow])  # on a busy machine
@given(VALUES)
def test_json_is_what_the_standard_library_reads_and_writes(value: object) -> None:
    assert json.loads(jsontext.dumps(value)) == value
    assert jsontext.loads(json.dumps(value)) == value
    assert jsontext.loads(json.dumps(value, ensure_ascii=False, indent=2)) == value


@pytest.mark.parametrize("text", ["", "{", "[1,]", "nul", '{"a" 1}', "1 2", '"\\x"', "{}x"])
def test_bad_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        jsontext.loads(text)


def test_lone_surrogates_pass() -> None:
    assert jsontext.loads(jsontext.dumps("\udcff")) == "\udcff"
    assert math.isinf(jsontext.loads(json.dumps(math.inf)))


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(VALUES, max_size=5), st.integers(min_value=1, max_value=64))
def test_frames_come_whole_whatever_the_pieces(values: list[object], size: int) -> None:
    messages = [{"value": value} for value in values]
    stream = b"".join(wire.pack(message) for message in messages)
    reader = wire.Reader()
    found = []
    for at in range(0, len(stream), size):
        found += [wire.unpack(*frame) for frame in reader.feed(stream[at : at + size])]
    assert found == messages


def test_large_messages_are_compressed() -> None:
    message = {"text": "x" * 100_000}
    data = wire.pack(message)
    assert len(data) < 1000
    assert wire.unpack(*wire.Reader().feed(data)[0]) == message


@pytest.mark.parametrize(
    "data",
    [
        (wire.MAX_FRAME + 1).to_bytes(4, "big") + b"\0",
        wire.frame(9, b"{}"),
        wire.frame(wire.RAW, b"[]"),
        wire.frame(wire.RAW, b"\xff"),
        wire.frame(wire.RAW, b"{"),
    ],
)
def test_hostile_frames_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        [wire.unpack(*frame) for frame in wire.Reader().feed(data)]


def test_inflating_beyond_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = wire.pack({"text": "x" * 100_000})
    monkeypatch.setattr(wire, "MAX_FRAME", 5000)
    with pytest.raises(wire.BadFrame, match="inflates"):
        wire.unpack(*wire.Reader().feed(data)[0])
