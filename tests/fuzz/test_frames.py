"""Bytes of a hostile machine: a contact ends with a sentence, never a traceback or a full memory."""

from __future__ import annotations

import json
import tracemalloc
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushjuju.core import limits
from pushjuju.core.errors import BadAnswer, PushjujuError
from pushjuju.runner.push import bootstrap
from pushjuju.runner.push.packer import pack
from pushjuju.runner.remote.base import wire
from pushjuju.runner.trust import frames, intake
from tests.fuzz.hostile import ODD, fuzz, spoilt
from tests.fuzz.messages import MESSAGES
from tests.world.scripted import HELLO, Channel, new_link, packed

# --- bytes ------------------------------------------------------------------------------------------------


@fuzz(60)
@given(
    pieces=st.lists(
        st.binary(max_size=40) | st.sampled_from([b"PJ1", b"PJ1R", b"PJ1N\0\0\0\0", b"\0\0\0\5"]), max_size=12
    )
)
async def test_any_bytes_before_and_behind_hello(pieces: list[bytes]) -> None:
    link = new_link()
    for piece in pieces:
        link.data_received(piece, None)
    assert link.fault is None or link.lost.done()
    assert len(link._buffer) <= bootstrap.NOISE_LIMIT + 100


@fuzz(60)
@given(messages=st.lists(spoilt(HELLO, *MESSAGES) | ODD, max_size=5), cut=st.integers(1, 50))
async def test_any_frames_behind_the_mark(messages: list[Any], cut: int) -> None:
    link, told = new_link(), []
    link.on_message = lambda message, size: told.append(message) or size  # type: ignore[func-returns-value]
    stream = b"PJ1R" + b"".join(packed(message) for message in messages)
    for at in range(0, len(stream), cut):
        link.data_received(stream[at : at + cut], None)
    assert all(isinstance(message, dict) for message in told)
    assert link.fault is not None or len(told) == max(len(messages) - 1, 0)


@pytest.mark.parametrize(
    "data",
    [
        wire.frame(wire.ZLIB, b"no zlib"),
        wire.frame(wire.ZLIB, zlib.compress(b"{}")[:-3] + b"xxx"),
        wire.frame(wire.BLOB, b"x" * 40),
        wire.frame(wire.RAW, b"[" * 200_000),
        wire.frame(wire.RAW, b'{"a":' * 100_000),
        wire.frame(wire.RAW, b'{"a": 1e999999, "b": ' + b"9" * 100_000 + b"}"),
        wire.frame(wire.RAW, b"\xff\xfe\x00"),
        wire.frame(wire.RAW, b'"x"'),
        (wire.MAX_FRAME + 1).to_bytes(4, "big") + b"\0",
        wire.frame(wire.ZLIB, zlib.compress(b'{"a":[' + b"[]," * (limits.FRAME_MARKS // 2) + b"0]}")),
    ],
    ids=["not zlib", "cut zlib", "a blob", "lists", "maps", "numbers", "utf-16", "a text", "large", "values"],
)  # fmt: skip
async def test_frames_that_no_honest_machine_sends_end_the_contact(data: bytes) -> None:
    link = new_link()
    link.data_received(b"PJ1R" + packed(HELLO) + data, None)
    assert isinstance(link.fault, BadAnswer)
    assert link.lost.result() == link.fault.message
    assert link.channel is not None
    link.data_received(packed({"t": "pong"}) * 3, None)
    assert link.frames_in == 0


async def test_a_zlib_bomb_costs_no_more_than_a_frame() -> None:
    bomb = zlib.compress(b" " * (wire.MAX_FRAME + 1000), 9)
    tracemalloc.start()
    with pytest.raises(wire.BadFrame, match="inflates beyond the limit"):
        frames.read(wire.ZLIB, bomb)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * wire.MAX_FRAME


def test_commas_in_texts_are_no_values() -> None:
    message = {"text": ",[{" * limits.FRAME_MARKS, "quoted": '",' * 10}
    assert frames.read(*wire.Reader().feed(packed(message))[0])[0] == message


@pytest.mark.parametrize(
    "stream",
    [
        b"x" * (bootstrap.NOISE_LIMIT + 1),
        b"PJ1N" + b"\xff\xff\xff\xff" + b"x" * 100,
        b"PJ1N\0\0\0\0" * 10_000,
        b"PJ1E\0\1\0\1",
    ],
    ids=["noise", "a long answer", "ten thousand answers", "a little too long"],
)
async def test_the_start_has_limits_too(stream: bytes) -> None:
    link = new_link()
    for _ in range(20):
        link.data_received(stream, None)
    assert link.fault is not None
    assert len(link._buffer) == 0
    assert link._answers.qsize() < 30
    with pytest.raises(PushjujuError):
        await bootstrap._converse(link, pack(), "machine 0")
    assert isinstance(link.channel, Channel)
    assert len(link.channel.written) <= (bootstrap.BOOT_ANSWERS + 1) * len(pack().data)


# --- hello ------------------------------------------------------------------------------------------------


@fuzz(80)
@given(message=spoilt(HELLO))
def test_a_machine_says_of_itself_what_can_be_used_or_is_refused(message: dict[str, Any]) -> None:
    try:
        found = intake.read_hello(message, "machine 0")
    except BadAnswer as error:
        said = error.message
    else:
        said = "the facts of machine 0 are not valid: no"
        json.dumps(found, allow_nan=False).encode()
        assert intake.read_hello(found, "machine 0") == found
    assert said.startswith("the facts of machine 0 are not valid: ")
    assert len(said) < 1000


def test_a_machine_that_does_not_tell_of_charms_is_not_one_without_charms() -> None:
    """A runner of an older program is still at work there: its units must not get their charms again."""
    silent = {key: value for key, value in HELLO.items() if key != "charms"}
    assert "charms" not in intake.read_hello(silent, "machine 0")
    assert intake.read_hello({**silent, "charms": []}, "machine 0")["charms"] == []


def test_an_honest_hello_stays_what_it_is() -> None:
    found = intake.read_hello(HELLO, "machine 0")
    assert {key: HELLO[key] for key in found} == found
