"""A controller that lost its lease without knowing starts nothing on a machine any more."""

from __future__ import annotations

import asyncio

import pytest

from pushjuju.core.errors import Overtaken
from pushjuju.runner.push.packer import pack
from pushjuju.runner.session import MachineSession

from .conftest import Machine, hook_op, listed

MODEL = "11111111-0000-4000-8000-000000000000"
OTHER = "22222222-0000-4000-8000-000000000000"


def hold(session: MachineSession, number: int, model: str = MODEL) -> None:
    """Let a session speak for whoever holds a lease."""
    session.lease = {"of": model, "number": number}


async def test_operation_of_an_earlier_lease_is_never_started(machine: Machine) -> None:
    charm = machine.write_charm(start="echo run >> runs")
    async with machine.session() as frozen, machine.session() as holder:
        hold(frozen, 7)
        hold(holder, 8)
        assert (await frozen.run(hook_op("start")))["outcome"] == "ok"
        assert (await holder.run(hook_op("stop")))["outcome"] == "missing"
        late = hook_op("start")
        with pytest.raises(Overtaken, match="works for another controller process now") as caught:
            await frozen.run(late)
        assert caught.value.lease == 8
        assert (await holder.fetch(late["id"]))["outcome"] == "unknown"
    assert (charm / "runs").read_text() == "run\n"


async def test_machine_remembers_a_lease_when_nothing_of_ours_runs(machine: Machine) -> None:
    machine.write_charm()
    async with machine.session() as holder:
        hold(holder, 8)
        await holder.run(hook_op("stop"))
    assert await machine.gone()
    async with machine.session(program=pack()) as frozen:  # and with another version of the program
        hold(frozen, 7)
        with pytest.raises(Overtaken):
            await frozen.run(hook_op("stop"))
        hold(frozen, 8)
        assert (await frozen.run(hook_op("stop")))["outcome"] == "missing"


async def test_leases_of_other_models_and_commands_without_one_do_not_count(machine: Machine) -> None:
    machine.write_charm()
    async with machine.session() as session:
        hold(session, 8)
        await session.run(hook_op("stop"))
        hold(session, 3, OTHER)
        assert (await session.run(hook_op("stop")))["outcome"] == "missing"
        session.lease = None
        assert (await session.exec(["true"])).exit == 0


async def test_result_is_told_whoever_asks(machine: Machine) -> None:
    machine.write_charm(start="exit 3")
    op = hook_op("start")
    async with machine.session() as frozen, machine.session() as holder:
        hold(frozen, 7)
        hold(holder, 8)
        first = await frozen.run(op)
        await holder.run(hook_op("stop"))
        assert (await frozen.run(op))["exit"] == first["exit"] == 3


async def test_operation_that_waits_for_its_lock_is_listed(machine: Machine) -> None:
    machine.write_charm(start="while [ ! -e go ]; do sleep 0.02; done")
    first, second = hook_op("start"), hook_op("stop")
    async with machine.session() as session:
        running = [asyncio.create_task(session.run(op)) for op in (first, second)]
        await listed(machine, first["id"], second["id"])
        (machine.charm() / "go").touch()
        await asyncio.gather(*running)
