"""A hook, end to end over a real sshd."""

from __future__ import annotations

import asyncio
from typing import Any

from pushjuju.runner.session import TAIL

from .conftest import Machine, hook_op, lines, logs, until


async def test_hook_runs_once_with_its_tools_in_one_round_trip(machine: Machine) -> None:
    machine.write_charm(
        config_changed="""
        echo "title $(config-get title)"
        echo oops >&2
        state-set a=1
        echo "state $(state-get a)"
        juju-log hello
        status-set active ready
        echo run >> runs
        """
    )
    machine.options["event_delay"] = 60  # on a busy machine events would go ahead in frames of their own
    async with machine.session() as session:
        op = hook_op("config-changed")
        result = await session.run(op)
        assert result["outcome"] == "ok", result
        assert (session.frames_out, session.frames_in) == (1, 1)
    assert lines(result, "stdout") == ["title blå", "state 1"]
    assert lines(result, "stderr") == ["oops"]
    assert result["writes"]["state"] == {"a": "1"}
    assert result["via"] == "hook"
    assert 'ran "config-changed" hook (via explicit, bespoke hook script)' in logs(result)
    assert (machine.charm() / "runs").read_text() == "run\n"


async def test_the_times_of_hook_tools_come_back_when_they_are_asked_for(machine: Machine) -> None:
    machine.write_charm(
        start="""
        sleep 0.2
        echo "title $(config-get title)"
        probe-boom secret-word 2>/dev/null
        for number in $(seq 203); do state-get a; done
        """
    )
    async with machine.session() as session:
        plain = await session.run(hook_op("start", logging="<root>=ERROR"))
        result = await session.run(hook_op("start", logging="<root>=ERROR", timed=True))
        assert (session.frames_out, session.frames_in) == (2, 2)
    assert set(result) - set(plain) == {"timed"}
    assert "timed" not in plain
    calls, length = result["timed"]["calls"], (result["ended"] - result["started"]) * 1e6
    assert [call[0] for call in calls[:3]] == ["config-get", "probe-boom", "state-get"]
    assert [call[3] for call in calls[:2]] == [0, 1]
    assert (len(calls), result["timed"]["more"]) == (200, 5)
    assert "secret-word" not in str(result["timed"])
    assert 200_000 <= calls[0][1] < calls[1][1] < length
    assert all(took > 0 and begun + took < length for _, begun, took, _ in calls)


async def test_the_last_line_of_a_long_hook_is_told_to_who_looks_on(machine: Machine) -> None:
    machine.write_charm(start="echo one; echo two; while [ ! -e go ]; do sleep 0.05; done; echo three")
    told: list[tuple[int, dict[str, Any]]] = []
    async with machine.session() as session:
        op = hook_op("start", logging="<root>=INFO", tail=True)
        task = asyncio.create_task(session.run(op, lambda number, event: told.append((number, event))))
        assert await until(lambda: bool(told), 10)
        (machine.charm() / "go").touch()
        result = await task
    assert told[0] == (TAIL, {"k": "tail", "line": "two"})
    assert [event["line"] for number, event in told if number == TAIL] == ["two"]
    assert lines(result) == []  # nobody keeps it


async def test_nobody_looks_on_and_nothing_more_is_sent(machine: Machine) -> None:
    machine.write_charm(start="echo one; sleep 0.5; echo two; sleep 0.5")
    async with machine.session() as session:
        result = await session.run(hook_op("start", logging="<root>=INFO"))
        assert session.frames_in == 1  # its result
    assert result["outcome"] == "ok"
