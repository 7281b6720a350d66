"""Bytes of a hostile machine: a contact ends with a sentence, never a traceback or a full memory."""

from __future__ import annotations

import asyncio
import contextlib
import json
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushjuju.core import limits
from pushjuju.core.errors import BadAnswer, ConnectionLost, Overtaken, PushjujuError
from pushjuju.runner import session as session_module
from pushjuju.runner.push import bootstrap
from pushjuju.runner.push.packer import pack
from pushjuju.runner.remote.base import wire
from pushjuju.runner.session import MachineSession
from pushjuju.runner.target import MachineTarget
from pushjuju.runner.trust import frames, intake
from tests.fuzz.hostile import ODD, deep, fuzz, spoilt
from tests.fuzz.test_results import ACTION, EVENTS, HOOK, NUMBERED
from tests.waiting import until
from tests.world.machine import PlayedMachine

HELLO: dict[str, Any] = {
    **PlayedMachine("0").hello(),
    "protocol": 1, "program": "x", "pid": 7, "perl": True, "gateway": "10.0.0.1",
    "journal": [{"id": "a", "done": True}], "blobs": ["00"], "parts": {"11": 5}, "running": ["a"],
    "units": ["web/0"], "crash": "Traceback", "ssh": "192.0.2.1 50022 10.0.0.2 22",
    "requests": [{"id": "r1-1", "unit": "web/0", "script": "date", "relation": 0, "force": False}],
}  # fmt: skip
CALL = {
    "t": "live",
    "id": "op",
    "call": 1,
    "tool": "leader-set",
    "argv": ["--", "a=b"],
    "stdin": "",
    "cwd": "/",
}
MESSAGES: list[dict[str, Any]] = [
    dict(ACTION, id="op"),
    dict(HOOK, id="other"),
    {"t": "event", "id": "op", "seq": 1, "es": NUMBERED},
    CALL,
    {"t": "ok", "sha256": "00"},
    {"t": "put-error", "sha256": "00", "message": "no", "errno": 28},
    {"t": "error", "id": "op", "message": "unknown frame"},
    {"t": "requests", "requests": HELLO["requests"]},
    {"t": "facts", "hostname": "m", "nics": HELLO["nics"], "gateway": "10.0.0.1"},
    {"t": "pong", "id": None},
]


def packed(message: Any) -> bytes:
    """Return a frame, as another program may write it."""
    data = json.dumps(message).encode()
    return wire.frame(wire.ZLIB, zlib.compress(data, 1)) if len(data) > 5000 else wire.frame(wire.RAW, data)


class Channel:
    """An SSH channel without a machine behind it."""

    def __init__(self) -> None:
        self.written = bytearray()
        self.closed = False

    def write(self, data: bytes) -> None:
        """Take what is sent."""
        self.written += data

    def write_eof(self) -> None:
        """Take the end."""

    def close(self) -> None:
        """Be closed."""
        self.closed = True


def new_link(channel: Channel | None = None) -> bootstrap.Link:
    link = bootstrap.Link()
    link.channel = channel or Channel()  # type: ignore[assignment]
    return link


class Played:
    """A session whose contacts are scripts: what the machine says after each thing that it is told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, contacts: Callable[[int], list[bytes]]) -> None:
        self.contacts = 0
        self.links: list[bootstrap.Link] = []

        class Connector:
            @contextlib.asynccontextmanager
            async def connect(self, _: Any) -> Any:
                yield None

        async def attach(*_: Any, **more: Any) -> bootstrap.Link:
            pieces = contacts(self.contacts)
            self.contacts += 1
            link = new_link(Answering(pieces))
            link.waste = more["waste"]
            self.links.append(link)
            link.channel.link = link  # type: ignore[union-attr]
            link.data_received(b"PJ1R" + pieces.pop(0), None)
            await bootstrap._converse(link, pack(), "machine 0")
            return link

        monkeypatch.setattr(bootstrap, "attach", attach)
        target = MachineTarget(host="10.0.0.2")
        self.session = MachineSession(
            target, program=pack(), connector=Connector(), root="", options={}, reattach=0.0,  # type: ignore[arg-type]
        )  # fmt: skip


class Answering(Channel):
    """Says its pieces once it is asked for something, then hangs up."""

    link: bootstrap.Link
    stays = 0.01  # seconds

    def __init__(self, pieces: list[bytes]) -> None:
        super().__init__()
        self.pieces = pieces

    def write(self, data: bytes) -> None:
        """Answer an operation."""
        super().write(data)
        if b'"op"' in data and b'"live-result"' not in data:
            asyncio.get_running_loop().call_soon(self._say)

    def _say(self) -> None:
        for piece in self.pieces:
            self.link.data_received(piece, None)
        asyncio.get_running_loop().call_later(self.stays, self.link.connection_lost, None)

    def write_eof(self) -> None:
        """Hang up."""
        self.link.connection_lost(None)


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
        said = "machine 0 says odd things of itself: no"
        json.dumps(found, allow_nan=False).encode()
        assert intake.read_hello(found, "machine 0") == found
    assert said.startswith("machine 0 says odd things of itself: ")
    assert len(said) < 1000


def test_a_machine_that_does_not_tell_of_charms_is_not_one_without_charms() -> None:
    """A runner of an older program is still at work there: its units must not get their charms again."""
    silent = {key: value for key, value in HELLO.items() if key != "charms"}
    assert "charms" not in intake.read_hello(silent, "machine 0")
    assert intake.read_hello({**silent, "charms": []}, "machine 0")["charms"] == []


def test_an_honest_hello_stays_what_it_is() -> None:
    found = intake.read_hello(HELLO, "machine 0")
    assert {key: HELLO[key] for key in found} == found


# --- the session ------------------------------------------------------------------------------------------


@fuzz(50)
@given(messages=st.lists(spoilt(*MESSAGES) | st.sampled_from(MESSAGES), min_size=1, max_size=4))
async def test_an_operation_ends_whatever_the_machine_says(messages: list[Any]) -> None:
    asked: list[dict[str, Any]] = []

    async def on_live(call: dict[str, Any]) -> tuple[int, bytes, bytes]:
        asked.append(call)
        return 0, b"\xff", b""

    with pytest.MonkeyPatch.context() as patch:
        played = Played(patch, lambda _: [packed(HELLO), *map(packed, messages)])
        patch.setattr(played.session, "_reattach", -1.0)
        patch.setattr(limits, "LOSSES", 1)
        session = await played.session.open()
        try:
            result = await asyncio.wait_for(session.run({"id": "op", "kind": "hook"}, None, on_live), 5)
        except PushjujuError as error:
            outcome: Any = error.message
        else:
            outcome = intake.read_result(result)["outcome"]
        finally:
            await session.close()
    assert isinstance(outcome, str)
    for call in asked:
        assert all(isinstance(word, str) for word in call["argv"])
        assert isinstance(call["stdin"], bytes)


async def test_one_that_breaks_the_protocol_is_not_asked_again_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played = Played(monkeypatch, lambda _: [packed(HELLO), packed({"t": "result", "id": "op", "events": 5})])
    session = await played.session.open()
    with pytest.raises(
        BadAnswer, match=r"10\.0\.0\.2: what the machine says makes no sense: events is not a list"
    ):
        await session.run({"id": "op", "kind": "hook"})
    assert played.contacts == 1
    await session.close()


async def test_an_answer_for_another_operation_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    strange = [
        dict(HOOK, id="theirs"),
        {"t": "event", "id": "theirs", "es": NUMBERED},
        dict(CALL, id="theirs"),
    ]
    own = {"t": "result", "id": "op", "outcome": "failed", "exit": 7}
    played = Played(monkeypatch, lambda _: [packed(HELLO), *map(packed, strange), packed(own)])
    session = await played.session.open()
    result = await session.run({"id": "op", "kind": "hook"})
    assert (result["exit"], result["events"]) == (7, [])
    await session.close()


async def test_one_that_hangs_up_each_time_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    played = Played(monkeypatch, lambda _: [packed(HELLO)])
    session = await played.session.open()
    with pytest.raises(ConnectionLost, match="hangs up each time"):
        await asyncio.wait_for(session.run({"id": "op", "kind": "hook"}), 10)
    assert played.contacts <= limits.LOSSES + 1
    await session.close()


async def test_messages_without_end_are_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "EVENTS", 10_000)
    events = [{"seq": number, "e": EVENTS[0]} for number in range(1, 1000)]
    played = Played(monkeypatch, lambda _: [packed(HELLO), packed({"t": "event", "id": "op", "es": events})])
    session = await played.session.open()
    with pytest.raises(BadAnswer, match="more messages of one operation than it may keep"):
        await session.run({"id": "op", "kind": "hook"})
    await session.close()


async def test_hook_tool_calls_without_end_are_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LIVE_CALLS", 10_000)
    calls = [packed(dict(CALL, call=number)) for number in range(1000)]
    played = Played(monkeypatch, lambda _: [packed(HELLO), *calls])
    session = await played.session.open()

    async def never(_: Any) -> Any:
        await asyncio.Event().wait()

    with pytest.raises(BadAnswer, match="more hook tool calls at once than may wait"):
        await session.run({"id": "op", "kind": "hook"}, None, never)
    assert len(session._tasks) < 200
    await session.close()


async def test_requests_without_end_are_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    def many(at: int) -> bytes:
        return packed(
            {"t": "requests", "requests": [{"id": f"r{at}-{n}", "script": "x"} for n in range(600)]}
        )

    played = Played(monkeypatch, lambda _: [packed(HELLO), many(1), many(2)])
    session = await played.session.open()
    with pytest.raises(BadAnswer, match="more requests than may wait"):
        await session.run({"id": "op", "kind": "hook"})
    await session.close()


async def test_what_does_not_fit_into_a_frame_is_not_sent_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(wire, "MAX_FRAME", 2000)
    played = Played(monkeypatch, lambda _: [packed(HELLO)])
    session = await played.session.open()
    with pytest.raises(PushjujuError, match="larger than 2000 bytes"):
        await session.run({"id": "op", "context": "x" * 3000})
    await session.close()


@pytest.mark.parametrize("stdout", [5, "☃", "%%%"])
async def test_a_plain_command_with_an_odd_answer_fails_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch, stdout: Any
) -> None:
    async def run(*_: Any) -> dict[str, Any]:
        return {"outcome": "ok", "exit": 0, "stdout": stdout, "stdout-encoding": "base64"}

    played = Played(monkeypatch, lambda _: [packed(HELLO)])
    session = await played.session.open()
    monkeypatch.setattr(session, "run", run)
    done = await session.exec(["true"])
    assert (done.exit, done.stdout) == (None, "")
    await session.close()


def test_levels_within_levels_are_no_use() -> None:
    with pytest.raises(wire.BadFrame):
        intake.numbered({"events": deep(3)}, "events")


# --- what brings nothing ----------------------------------------------------------------------------------


async def test_a_machine_that_says_much_in_vain_is_not_listened_to_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nothing = packed({"t": "pong", "x": "y" * 50_000})
    monkeypatch.setattr(limits, "WASTE", 100_000)
    monkeypatch.setattr(limits, "WASTE_EACH_S", 1000)
    played = Played(monkeypatch, lambda _: [packed(HELLO), nothing, nothing, nothing, nothing])
    session = await played.session.open()
    with pytest.raises(BadAnswer, match="more that brings nothing than is listened to"):
        await session.run({"id": "op", "kind": "hook"})
    with pytest.raises(BadAnswer, match=r"is not listened to for [0-9]+ seconds"):
        await session.run({"id": "op", "kind": "hook"})
    assert played.contacts == 1
    await session.close()


@pytest.mark.parametrize(
    "nothing",
    [
        {"t": "pong"},
        {"t": "facts", "hostname": "m", "nics": HELLO["nics"], "gateway": ""},
        {"t": "ok", "sha256": "00"},
        {"t": "event", "id": "op", "es": []},
        {"t": "event", "id": "op", "es": NUMBERED},
        {"t": "event", "id": ["op"], "es": NUMBERED},
        {"t": "event", "id": "theirs", "es": NUMBERED},
        {"t": "requests", "requests": HELLO["requests"]},
        {},
    ],
    ids=["pong", "facts", "ok", "no event", "old events", "no id", "another's", "old requests", "nothing"],
)  # fmt: skip
async def test_frames_that_bring_nothing_come_to_an_end(
    monkeypatch: pytest.MonkeyPatch, nothing: dict[str, Any]
) -> None:
    monkeypatch.setattr(limits, "WASTE", 20_000)
    played = Played(monkeypatch, lambda _: [packed(HELLO), *[packed(nothing)] * 200])
    session = await played.session.open()
    with pytest.raises(BadAnswer, match="more that brings nothing than is listened to"):
        await session.run({"id": "op", "kind": "hook"})
    await session.close()


async def test_a_frame_that_comes_in_crumbs_counts_as_waste(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "WASTE", 100 * limits.DRIBBLE)
    line = wire.frame(wire.RAW, json.dumps({"t": "pong", "x": "y" * 10_000}).encode())
    pieces = [line[at : at + 10_000] for at in range(0, len(line), 10_000)]
    crumbs = [line[at : at + 1] for at in range(len(line))]
    played = Played(monkeypatch, lambda _: [packed(HELLO), *pieces, *crumbs])
    session = await played.session.open()
    with pytest.raises(BadAnswer, match="more that brings nothing than is listened to"):
        await session.run({"id": "op", "kind": "hook"})
    assert session._link is not None
    assert session._link.frames_in == 1
    await session.close()


async def test_frames_that_bring_something_cost_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "WASTE", 2000)
    lines = [
        packed({"t": "event", "id": "op", "es": [{"seq": n, "e": {**EVENTS[0], "message": "\u0001" * 500}}]})
        for n in range(1, 100)
    ]
    played = Played(monkeypatch, lambda _: [packed(HELLO), *lines, packed(dict(ACTION, id="op", events=[]))])
    session = await played.session.open()
    assert len((await session.run({"id": "op", "kind": "hook"}))["events"]) == 99
    await session.close()


async def test_a_machine_has_a_thousand_addresses_at_most() -> None:
    address = {"value": "10.0.0.1", "cidr": "10.0.0.0/8"}
    nic = {"name": "eth0", "mac": "", "up": True, "addresses": [address] * 600}
    assert intake.network_facts({"nics": [nic]})
    with pytest.raises(intake.Odd, match="more than 1000 addresses"):
        intake.network_facts({"nics": [nic, nic]})


@pytest.mark.parametrize("field", ["blobs", "parts", "units"])
def test_what_a_machine_lists_has_an_end(field: str) -> None:
    many = {f"{n}": 1 for n in range(200_000)}
    with pytest.raises(BadAnswer, match=f"{field} has more than [0-9]+ entries"):
        intake.read_hello({**HELLO, field: many if field == "parts" else list(many)}, "machine 0")


async def test_hook_tool_calls_are_answered_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Answering, "stays", 5.0)
    calls = [packed(dict(CALL, call=number)) for number in (*range(50), *range(50))]
    end = packed(dict(ACTION, id="op", events=[]))
    played = Played(monkeypatch, lambda _: [packed(HELLO), *calls])
    session = await played.session.open()
    at_once, most, asked = 0, 0, []

    async def on_live(call: dict[str, Any]) -> tuple[int, bytes, bytes]:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        asked.append(call["call"])
        await asyncio.sleep(0)
        at_once -= 1
        if len(asked) == 50:
            played.links[-1].data_received(end, None)
        return 0, b"", b""

    await session.run({"id": "op", "kind": "hook"}, None, on_live)
    assert most == limits.LIVE_AT_ONCE
    assert sorted(asked) == list(range(50))  # none twice, though each was asked twice
    await session.close()


async def test_calls_of_an_operation_that_has_ended_are_not_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = [packed(dict(CALL, call=number)) for number in range(50)]
    played = Played(monkeypatch, lambda _: [packed(HELLO), *calls, packed(dict(ACTION, id="op", events=[]))])
    session = await played.session.open()
    asked: list[int] = []

    async def on_live(call: dict[str, Any]) -> tuple[int, bytes, bytes]:
        asked.append(call["call"])
        await asyncio.sleep(0)
        return 0, b"", b""

    await session.run({"id": "op", "kind": "hook"}, None, on_live)
    await until(lambda: not session._tasks)
    assert len(asked) < 50
    await session.close()


@pytest.mark.parametrize("lease", ["x", [1], 10**400, -1, 1.5, None])
async def test_an_odd_lease_is_none(monkeypatch: pytest.MonkeyPatch, lease: Any) -> None:
    refusal = {"t": "result", "id": "op", "outcome": "error", "code": "lease", "lease": lease}
    played = Played(monkeypatch, lambda _: [packed(HELLO), packed(refusal)])
    session = await played.session.open()
    with pytest.raises(Overtaken) as caught:
        await session.run({"id": "op", "kind": "hook"})
    assert caught.value.lease == 0
    await session.close()


async def test_nothing_is_kept_of_operations_that_are_over(monkeypatch: pytest.MonkeyPatch) -> None:
    said = [{"t": "event", "id": "op", "es": NUMBERED}, dict(CALL, id="op"), dict(ACTION, id="op", events=[])]
    ahead = [{"t": "event", "id": "next", "es": NUMBERED}, dict(CALL, id="next"), dict(ACTION, id="next")]
    played = Played(monkeypatch, lambda _: [packed(HELLO), *map(packed, (*ahead, *said))])
    session = await played.session.open()
    await session.run({"id": "op", "kind": "hook"}, plan=[{"id": "next", "kind": "hook", "after": "op"}])
    assert session._room.taken > 0
    await session.run({"id": "next", "kind": "hook"})
    assert session._room.taken == 0
    await session.close()


# --- who says nothing -------------------------------------------------------------------------------------


async def test_a_machine_that_does_not_end_what_is_killed_holds_nobody_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Answering, "stays", 1000.0)
    monkeypatch.setattr(session_module, "ANSWER_S", 0.05)
    played = Played(monkeypatch, lambda _: [packed(HELLO), packed({"t": "pong"})])
    session = await played.session.open()
    running = asyncio.create_task(session.run({"id": "op", "kind": "hook"}))
    await asyncio.sleep(0)
    await session.cancel("op")
    with pytest.raises(BadAnswer, match="does not end what it should have ended long ago"):
        await asyncio.wait_for(running, 10)
    await session.cancel("other")
    with pytest.raises(BadAnswer, match="does not end what it should have ended long ago"):
        await asyncio.wait_for(session.fetch("other"), 10)
    with pytest.raises(BadAnswer, match="does not end what it should have ended long ago"):
        await asyncio.wait_for(session.exec(["true"], timeout=0.05), 10)
    with pytest.raises(BadAnswer, match="does not say what addresses it has"):
        await asyncio.wait_for(session.look_again(), 10)
    await session.close()


@pytest.mark.parametrize("writable", [True, False], ids=["no answer", "not read"])
async def test_a_machine_that_does_not_take_a_file_holds_nobody_up(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, writable: bool
) -> None:
    monkeypatch.setattr(session_module, "TAKE_S", 0.05)
    played = Played(monkeypatch, lambda _: [packed(HELLO)])
    session = await played.session.open()
    (tmp_path / "web.charm").write_bytes(b"x" * 100)
    played.links[-1].set_writable(writable)
    with pytest.raises(BadAnswer, match=r"does not take web\.charm"):
        await asyncio.wait_for(session.put_blob("ab" * 32, tmp_path / "web.charm"), 10)
    await session.close()
