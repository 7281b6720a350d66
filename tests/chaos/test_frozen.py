"""A controller process stands still beyond its lease, and wakes up when another one has gone on."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3

import pytest

from tests.chaos.controller import DEPLOY_HOOKS, Drive, RealController, until

pytestmark = pytest.mark.machine

LEASE = ("--lease", "1")


def has_begun(drive: Drive) -> bool:
    """Tell whether a process works on something, or has nothing left to do."""
    return bool(drive.text) or drive.process.poll() is not None


async def freeze(world: RealController, pid: int) -> None:
    """Let a process stand still, but not in the middle of a commit: SQLite lets nobody past that lock."""
    while True:
        os.kill(pid, signal.SIGSTOP)
        other = sqlite3.connect(world.ctx.controller.store_path, timeout=0.2)
        try:
            other.execute("BEGIN IMMEDIATE")
            return
        except sqlite3.OperationalError:
            os.kill(pid, signal.SIGCONT)
            await asyncio.sleep(0.003)
        finally:
            other.close()


@pytest.mark.parametrize("hook", ["install", "start"])
async def test_frozen_controller_wakes_up_and_changes_nothing(world: RealController, hook: str) -> None:
    world.deploy(f"if [ $hook = {hook} ]; then sleep 1; fi")
    with world.process(*LEASE) as frozen:
        await until(lambda: world.layout.records() and f"{hook} 1" in world.machine().begun(), 30)
        await freeze(world, frozen.process.pid)
        world.drive(*LEASE).check()  # waits for the lease to end, then takes over
        machine = world.machine()
        world.at_rest(machine, *DEPLOY_HOOKS)
        world.config(number="2")
        before = world.dump()
        os.kill(frozen.process.pid, signal.SIGCONT)
        frozen.process.wait(30)
        frozen.check()
    assert before["operation"] != world.dump()["operation"]  # what was new is done, by whoever came first
    assert machine.begun()[len(DEPLOY_HOOKS) :] == ["config-changed 2"]
    assert machine.ended() == machine.begun()
    assert world.agent() == ("idle", "")
    assert not world.open_operations()


async def test_three_controllers_take_turns_in_standing_still(world: RealController) -> None:
    world.deploy("sleep 0.2")
    with world.process(*LEASE) as one, world.process(*LEASE) as two, world.process(*LEASE) as three:
        every = (one, two, three)
        awake = list(every)
        while awake:  # whoever has the lease stands still; who comes next is chance
            await until(lambda: any(map(has_begun, awake)), 30)
            drive = next(filter(has_begun, awake))
            awake.remove(drive)
            if drive.process.poll() is None:
                await freeze(world, drive.process.pid)
        for drive in every:
            if drive.process.poll() is None:
                os.kill(drive.process.pid, signal.SIGCONT)
        for drive in every:
            drive.process.wait(60)
            drive.check()
    assert (await world.settle()).problems == ()
    world.at_rest(world.machine(), *DEPLOY_HOOKS)
