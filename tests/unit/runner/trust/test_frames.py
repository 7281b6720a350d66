"""Counting what a frame holds before it is built."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushjuju.core import limits
from pushjuju.runner.remote.base import wire
from pushjuju.runner.trust import frames

TREES = st.recursive(
    st.none() | st.integers() | st.text(alphabet='a"\\,:[{\n☃', max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text('"\\,x', max_size=6), inner, max_size=4)
    ),
)


def marks(value: object) -> int:
    """Return the marks of a JSON text, from what it says."""
    if isinstance(value, list):
        return 1 + max(len(value) - 1, 0) + sum(map(marks, value))
    if isinstance(value, dict):
        return 1 + max(len(value) - 1, 0) + len(value) + sum(map(marks, value.values()))
    return 0


@given(value=TREES, block=st.integers(1, 40), ascii_=st.booleans())
def test_marks_in_strings_do_not_count_wherever_blocks_end(value: object, block: int, ascii_: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frames, "_BLOCK", block)
        found = frames._marks_outside(json.dumps(value, ensure_ascii=ascii_).encode())
    assert found == marks(value)


@pytest.mark.parametrize(
    ("piece", "end"), [(b'\\"', b""), (b"\\\\", b"\\"), (b'""', b""), (b'"', b""), (b"\\", b"")],
    ids=["escaped quotes", "slashes", "texts", "quotes", "slashes that end nowhere"],
)  # fmt: skip
def test_the_time_to_count_grows_with_the_size_alone(piece: bytes, end: bytes) -> None:
    def seconds(count: int) -> float:
        text = b"[" + b"," * 1000 + b'"' + piece * count + end
        begun = time.thread_time()
        frames._marks_outside(text)
        return time.thread_time() - begun

    first, second, third = (min(seconds(count) for _ in range(3)) for count in (250_000, 500_000, 1_000_000))
    assert second < 3 * first + 0.01
    assert third < 3 * second + 0.01


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "latin-1"])
def test_a_frame_is_utf_8(encoding: str) -> None:
    text = '{"t":"é"}'
    assert frames.read(wire.RAW, text.encode())[0] == {"t": "é"}
    with pytest.raises(ValueError, match=r"UTF-8|line 1|BOM"):
        frames.read(wire.RAW, text.encode(encoding))


def test_a_large_frame_that_is_not_ascii_is_refused() -> None:
    text = '{"t":"' + "x" * limits.FRAME_WIDE + '☃"}'
    with pytest.raises(wire.BadFrame, match="not ASCII"):
        frames.read(wire.RAW, text.encode())
    assert frames.read(wire.RAW, json.dumps(json.loads(text)).encode())[0]["t"].endswith("☃")


def test_weight_is_what_a_message_takes() -> None:
    small, large = {"a": [1, "b"]}, {"a": [1, "b" * 1000, {}] * 10}
    assert frames.weight(small) < 500
    assert frames.weight(large) > 10_000
    assert frames.width("abc") == 3
    assert frames.width("ab\U0001f600") == 12
