"""Hooks that go out together: each begins when the one before it has ended well and wrote nothing."""

from __future__ import annotations

import asyncio
import os
import signal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from pushjuju.plugins.hooks import status
from pushjuju.runner.push.packer import pack
from pushjuju.runner.session import MachineSession
from tests.waiting import stays

from .conftest import Machine, hook_op, lines, until


def plan_of(*names: str) -> list[dict[str, Any]]:
    """Return hooks that follow one another, as a controller sends them."""
    ops = [hook_op(name) for name in names]
    for before, after in pairwise(ops):
        before["then"] = True
        after["after"] = before["id"]
    return ops


def alone(op: dict[str, Any]) -> dict[str, Any]:
    """Return a hook as it is sent when the machine did not begin it in its plan."""
    return {key: value for key, value in op.items() if key not in ("after", "then")}


async def run_all(session: MachineSession, ops: list[dict[str, Any]], **more: Any) -> list[dict[str, Any]]:
    """Send a plan and wait for each of its results."""
    results = [await session.run(ops[0], plan=ops[1:], **more)]
    return results + [await session.run(op, **more) for op in ops[1:]]


def runs(machine: Machine) -> list[str]:
    """Return the hooks that ran, in their order."""
    path = machine.charm() / "runs"
    return path.read_text().split() if path.exists() else []


RUN = "echo ${JUJU_HOOK_NAME} >> runs; "


async def test_a_plan_goes_out_at_once_and_runs_in_its_order(machine: Machine) -> None:
    machine.write_charm(install=RUN, config_changed=RUN, start=RUN)
    async with machine.session() as session:
        ops = plan_of("install", "leader-elected", "config-changed", "start")
        first = asyncio.create_task(session.run(ops[0], plan=ops[1:]))
        await first
        assert await until(lambda: runs(machine) == ["install", "config-changed", "start"])
        assert session.frames_out == len(ops)
        results = [first.result(), *[await session.run(op) for op in ops[1:]]]
        assert session.frames_out == len(ops)  # nobody asked again
    assert [result["outcome"] for result in results] == ["ok", "missing", "ok", "ok"]


async def test_the_status_that_a_hook_set_is_seen_by_those_after_it(machine: Machine) -> None:
    machine.write_charm(
        install="status-set maintenance early", config_changed=":", start="status-get --format=json"
    )
    ops = plan_of("install", "config-changed", "start")
    for op in ops:
        op["context"]["status"] = {"unit": {"status": "waiting", "message": "old", "data": {}}}
    program = pack([("status", Path(status.__file__))])
    async with machine.session(program=program) as session:
        results = await run_all(session, ops)
    assert '"maintenance"' in lines(results[2])[0]


@pytest.mark.parametrize(
    "body", ["state-set a=1", "exit 1", "kill -9 $$", "probe-live", "juju-reboot"],
    ids=["writes", "fails", "is killed", "asks the controller", "asks for a reboot"],
)  # fmt: skip
async def test_nothing_begins_behind_a_hook_that(machine: Machine, body: str) -> None:
    machine.write_charm(install=body, config_changed=RUN, start=RUN)

    async def live(_: dict[str, Any]) -> tuple[int, bytes, bytes]:
        return 0, b"", b""

    async with machine.session() as session:
        ops = plan_of("install", "config-changed", "start")
        _, second, third = await run_all(session, ops, on_live=live)
        assert [(one["outcome"], one["code"]) for one in (second, third)] == [("not-begun", "plan")] * 2
        assert runs(machine) == []
        again = await session.run(alone(ops[1]))
        assert again["outcome"] == "ok"  # the id was never used
    assert runs(machine) == ["config-changed"]


async def test_an_operation_whose_plan_came_long_ago_does_not_begin(machine: Machine) -> None:
    machine.write_charm(install=RUN, start=RUN)
    machine.options["plan_age"] = 0.0
    async with machine.session() as session:
        ops = plan_of("install", "start")
        _, second = await run_all(session, ops)
        assert (second["outcome"], second["code"]) == ("not-begun", "plan")
        assert (await session.run(alone(ops[1])))["outcome"] == "ok"
    assert runs(machine) == ["install", "start"]


async def test_a_plan_goes_on_without_its_controller_and_each_result_waits(machine: Machine) -> None:
    charm = machine.write_charm(install=RUN + "until test -e go; do sleep 0.02; done", start=RUN)
    ops = plan_of("install", "start")
    async with machine.session() as session:
        first = asyncio.create_task(session.run(ops[0], plan=ops[1:]))
        assert await until(lambda: runs(machine) == ["install"])
        first.cancel()
    (charm / "go").touch()
    assert await until(lambda: runs(machine) == ["install", "start"])
    async with machine.session() as session:
        known = {item["id"] for item in session.hello["journal"]}
        assert known == {op["id"] for op in ops}
        results = [await session.run({**op, "context": {}}) for op in ops]
    assert [result["outcome"] for result in results] == ["ok", "ok"]
    assert runs(machine) == ["install", "start"]


async def test_what_waits_behind_a_cancelled_hook_never_begins(machine: Machine) -> None:
    machine.write_charm(install=RUN + "sleep 30", start=RUN)
    ops = plan_of("install", "start")
    async with machine.session() as session:
        first = asyncio.create_task(session.run(ops[0], plan=ops[1:]))
        assert await until(lambda: runs(machine) == ["install"])
        await session.cancel(ops[0]["id"])
        assert (await first)["outcome"] == "interrupted"
        assert (await session.run(ops[1]))["code"] == "plan"
    assert runs(machine) == ["install"]


async def test_what_waits_can_be_withdrawn_alone(machine: Machine) -> None:
    charm = machine.write_charm(install=RUN + "until test -e go; do sleep 0.02; done", start=RUN, stop=RUN)
    ops = plan_of("install", "start", "stop")
    async with machine.session() as session:
        first = asyncio.create_task(session.run(ops[0], plan=ops[1:]))
        assert await until(lambda: runs(machine) == ["install"])
        await session.cancel(ops[1]["id"])
        (charm / "go").touch()
        assert (await first)["outcome"] == "ok"
        assert (await session.run(ops[1]))["outcome"] == "interrupted"
        assert (await session.run(ops[2]))["code"] == "plan"
    assert runs(machine) == ["install"]


async def test_a_server_that_dies_takes_the_rest_of_the_plan_with_it(machine: Machine) -> None:
    charm = machine.write_charm(install=RUN + "until test -e go; do sleep 0.02; done", start=RUN)
    ops = plan_of("install", "start")
    async with machine.session() as session:
        first = asyncio.create_task(session.run(ops[0]))  # the rest is not sent anew
        assert await until(lambda: runs(machine) == ["install"])
        os.kill(int(session.hello["pid"]), signal.SIGKILL)
        (charm / "go").touch()
        assert (await first)["outcome"] == "ok"
        assert (await session.run(ops[1]))["code"] == "plan"
    assert runs(machine) == ["install"]


async def test_a_plan_whose_connection_is_cut_is_taken_up_again(machine: Machine) -> None:
    charm = machine.write_charm(install=RUN + "until test -e go; do sleep 0.02; done", start=RUN)
    ops = plan_of("install", "start")
    async with machine.session() as session:
        first = asyncio.create_task(session.run(ops[0], plan=ops[1:]))
        assert await until(lambda: runs(machine) == ["install"])
        os.kill(int(session.hello["pid"]), signal.SIGKILL)  # the hook's own process goes on
        (charm / "go").touch()
        assert (await first)["outcome"] == "ok"
        second = await session.run(ops[1])
        if second.get("code") == "plan":  # the hook ended before anybody could be told what follows it
            second = await session.run(alone(ops[1]))
    assert second["outcome"] == "ok"
    assert runs(machine) == ["install", "start"]


async def test_a_planned_hook_is_answered_when_somebody_waits_for_it(machine: Machine) -> None:
    machine.write_charm(install=":", start="probe-live; echo")
    asked: list[str] = []

    async def live(call: dict[str, Any]) -> tuple[int, bytes, bytes]:
        asked.append(call["tool"])
        return 0, b"yes", b""

    ops = plan_of("install", "start")
    async with machine.session() as session:
        await session.run(ops[0], on_live=live, plan=ops[1:])
        await stays(lambda: asked == [], 0.3)  # the model does not know yet how the first one ended
        seen: list[int] = []
        result = await session.run(ops[1], lambda seq, _: seen.append(seq), live)
    assert (asked, lines(result)) == (["probe-live"], ["yes"])
    assert seen == [item["seq"] for item in result["events"]]


async def test_a_forgotten_plan_leaves_nothing_behind(machine: Machine) -> None:
    machine.write_charm(install="exit 1", start=RUN)
    ops = plan_of("install", "start")
    async with machine.session() as session:
        assert (await session.run(ops[0], plan=ops[1:]))["outcome"] == "failed"
        session.forget(ops[1]["id"])
        assert (await session.run(hook_op("stop")))["outcome"] == "missing"
        assert session._ahead == {}
