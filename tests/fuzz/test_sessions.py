"""A session with a hostile machine ends with a sentence, and costs no more than an honest one."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushjuju.core import limits
from pushjuju.core.errors import BadAnswer, ConnectionLost, Overtaken, PushjujuError
from pushjuju.runner import session as session_module
from pushjuju.runner.remote.base import wire
from pushjuju.runner.trust import intake
from tests.fuzz.hostile import deep, fuzz, spoilt
from tests.fuzz.messages import ACTION, CALL, EVENTS, HOOK, MESSAGES, NUMBERED
from tests.waiting import until
from tests.world.scripted import HELLO, ScriptedChannel, ScriptedSession, packed


@fuzz(50)
@given(messages=st.lists(spoilt(*MESSAGES) | st.sampled_from(MESSAGES), min_size=1, max_size=4))
async def test_an_operation_ends_whatever_the_machine_says(messages: list[Any]) -> None:
    asked: list[dict[str, Any]] = []

    async def on_live(call: dict[str, Any]) -> tuple[int, bytes, bytes]:
        asked.append(call)
        return 0, b"\xff", b""

    with pytest.MonkeyPatch.context() as patch:
        played = ScriptedSession(patch, lambda _: [packed(HELLO), *map(packed, messages)])
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
    played = ScriptedSession(
        monkeypatch, lambda _: [packed(HELLO), packed({"t": "result", "id": "op", "events": 5})]
    )
    session = await played.session.open()
    with pytest.raises(
        BadAnswer, match=r"10\.0\.0\.2: the machine breaks the protocol: events is not a list"
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
    played = ScriptedSession(monkeypatch, lambda _: [packed(HELLO), *map(packed, strange), packed(own)])
    session = await played.session.open()
    result = await session.run({"id": "op", "kind": "hook"})
    assert (result["exit"], result["events"]) == (7, [])
    await session.close()


async def test_one_that_hangs_up_each_time_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    played = ScriptedSession(monkeypatch, lambda _: [packed(HELLO)])
    session = await played.session.open()
    with pytest.raises(ConnectionLost, match="hangs up each time"):
        await asyncio.wait_for(session.run({"id": "op", "kind": "hook"}), 10)
    assert played.contacts <= limits.LOSSES + 1
    await session.close()


async def test_messages_without_end_are_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "EVENTS", 10_000)
    events = [{"seq": number, "e": EVENTS[0]} for number in range(1, 1000)]
    played = ScriptedSession(
        monkeypatch, lambda _: [packed(HELLO), packed({"t": "event", "id": "op", "es": events})]
    )
    session = await played.session.open()
    with pytest.raises(BadAnswer, match="too many messages of one operation"):
        await session.run({"id": "op", "kind": "hook"})
    await session.close()


async def test_hook_tool_calls_without_end_are_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LIVE_CALLS", 10_000)
    calls = [packed(dict(CALL, call=number)) for number in range(1000)]
    played = ScriptedSession(monkeypatch, lambda _: [packed(HELLO), *calls])
    session = await played.session.open()

    async def never(_: Any) -> Any:
        await asyncio.Event().wait()

    with pytest.raises(BadAnswer, match="too many hook tool calls at once"):
        await session.run({"id": "op", "kind": "hook"}, None, never)
    assert len(session._tasks) < 200
    await session.close()


async def test_requests_without_end_are_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    def many(at: int) -> bytes:
        return packed(
            {"t": "requests", "requests": [{"id": f"r{at}-{n}", "script": "x"} for n in range(600)]}
        )

    played = ScriptedSession(monkeypatch, lambda _: [packed(HELLO), many(1), many(2)])
    session = await played.session.open()
    with pytest.raises(BadAnswer, match="too many requests"):
        await session.run({"id": "op", "kind": "hook"})
    await session.close()


async def test_what_does_not_fit_into_a_frame_is_not_sent_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(wire, "MAX_FRAME", 2000)
    played = ScriptedSession(monkeypatch, lambda _: [packed(HELLO)])
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

    played = ScriptedSession(monkeypatch, lambda _: [packed(HELLO)])
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
    played = ScriptedSession(monkeypatch, lambda _: [packed(HELLO), nothing, nothing, nothing, nothing])
    session = await played.session.open()
    with pytest.raises(BadAnswer, match="too many useless messages"):
        await session.run({"id": "op", "kind": "hook"})
    with pytest.raises(BadAnswer, match=r"pushjuju ignores it for [0-9]+ seconds"):
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
    played = ScriptedSession(monkeypatch, lambda _: [packed(HELLO), *[packed(nothing)] * 200])
    session = await played.session.open()
    with pytest.raises(BadAnswer, match="too many useless messages"):
        await session.run({"id": "op", "kind": "hook"})
    await session.close()


async def test_a_frame_that_comes_in_crumbs_counts_as_waste(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "WASTE", 100 * limits.DRIBBLE)
    line = wire.frame(wire.RAW, json.dumps({"t": "pong", "x": "y" * 10_000}).encode())
    pieces = [line[at : at + 10_000] for at in range(0, len(line), 10_000)]
    crumbs = [line[at : at + 1] for at in range(len(line))]
    played = ScriptedSession(monkeypatch, lambda _: [packed(HELLO), *pieces, *crumbs])
    session = await played.session.open()
    with pytest.raises(BadAnswer, match="too many useless messages"):
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
    played = ScriptedSession(
        monkeypatch, lambda _: [packed(HELLO), *lines, packed(dict(ACTION, id="op", events=[]))]
    )
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
    monkeypatch.setattr(ScriptedChannel, "stays", 5.0)
    calls = [packed(dict(CALL, call=number)) for number in (*range(50), *range(50))]
    end = packed(dict(ACTION, id="op", events=[]))
    played = ScriptedSession(monkeypatch, lambda _: [packed(HELLO), *calls])
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
    played = ScriptedSession(
        monkeypatch, lambda _: [packed(HELLO), *calls, packed(dict(ACTION, id="op", events=[]))]
    )
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
    played = ScriptedSession(monkeypatch, lambda _: [packed(HELLO), packed(refusal)])
    session = await played.session.open()
    with pytest.raises(Overtaken) as caught:
        await session.run({"id": "op", "kind": "hook"})
    assert caught.value.lease == 0
    await session.close()


async def test_nothing_is_kept_of_operations_that_are_over(monkeypatch: pytest.MonkeyPatch) -> None:
    said = [{"t": "event", "id": "op", "es": NUMBERED}, dict(CALL, id="op"), dict(ACTION, id="op", events=[])]
    ahead = [{"t": "event", "id": "next", "es": NUMBERED}, dict(CALL, id="next"), dict(ACTION, id="next")]
    played = ScriptedSession(monkeypatch, lambda _: [packed(HELLO), *map(packed, (*ahead, *said))])
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
    monkeypatch.setattr(ScriptedChannel, "stays", 1000.0)
    monkeypatch.setattr(session_module, "ANSWER_S", 0.05)
    played = ScriptedSession(monkeypatch, lambda _: [packed(HELLO), packed({"t": "pong"})])
    session = await played.session.open()
    running = asyncio.create_task(session.run({"id": "op", "kind": "hook"}))
    await asyncio.sleep(0)
    await session.cancel("op")
    with pytest.raises(BadAnswer, match="has not ended an operation that was killed or over its time limit"):
        await asyncio.wait_for(running, 10)
    await session.cancel("other")
    with pytest.raises(BadAnswer, match="has not ended an operation that was killed or over its time limit"):
        await asyncio.wait_for(session.fetch("other"), 10)
    with pytest.raises(BadAnswer, match="has not ended an operation that was killed or over its time limit"):
        await asyncio.wait_for(session.exec(["true"], timeout=0.05), 10)
    with pytest.raises(BadAnswer, match="does not answer which addresses it has"):
        await asyncio.wait_for(session.look_again(), 10)
    await session.close()


@pytest.mark.parametrize("writable", [True, False], ids=["no answer", "not read"])
async def test_a_machine_that_does_not_take_a_file_holds_nobody_up(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, writable: bool
) -> None:
    monkeypatch.setattr(session_module, "TAKE_S", 0.05)
    played = ScriptedSession(monkeypatch, lambda _: [packed(HELLO)])
    session = await played.session.open()
    (tmp_path / "web.charm").write_bytes(b"x" * 100)
    played.links[-1].set_writable(writable)
    with pytest.raises(BadAnswer, match=r"does not take web\.charm"):
        await asyncio.wait_for(session.put_blob("ab" * 32, tmp_path / "web.charm"), 10)
    await session.close()
