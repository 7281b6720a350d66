"""The controller dies at any moment of refreshes and of a removal, on two machines with ledgers of their own.

The charm keeps the ledger: a line when a hook begins and one when it ends, outside of its directory and with
a second name on this host. PUSHJUJU_TEST_KILLS says how many deaths there are to be (6; by hand: 60).
"""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
from pathlib import Path

import pytest

from tests.chaos.controller import DEPLOY_HOOKS, REMOVE_HOOKS, RealController, until

pytestmark = pytest.mark.machine

KILLS = int(os.environ.get("PUSHJUJU_TEST_KILLS", "6"))
MOST_TRIES = 60
SLOWLY = "sleep 0.1"
FIRST = set(DEPLOY_HOOKS) - {"leader-elected"}  # of which there is one


async def kill_until_done(world: RealController, chance: random.Random) -> int:
    """Run controllers that die at any moment until one comes to its end; return how many died."""
    for deaths in range(MOST_TRIES):
        with world.process() as drive:
            await until(lambda: drive.process.poll() is not None or drive.text)
            with contextlib.suppress(subprocess.TimeoutExpired):
                drive.process.wait(chance.uniform(0, 0.4) * (1 + deaths / 4))
        if not drive.killed:
            drive.check()
            return deaths
    raise AssertionError(f"not at rest after {MOST_TRIES} deaths")


def ledger(world: RealController, number: str) -> tuple[Path, Path]:
    """Give a machine's ledger, begun and ended, second names that outlive the machine."""
    begun = world.keep_log(number)
    ended = begun.with_name(f"{begun.name}-ended")
    machine = world.machine(number)
    ended.hardlink_to(world.layout.machine(machine.record.id) / "up" / f"{machine.log}-ended")
    return begun, ended


@pytest.mark.timeout(900)
async def test_refreshes_and_a_removal_among_deaths_run_each_hook_once(world: RealController) -> None:
    chance = random.Random(KILLS)
    world.deploy(SLOWLY, count=2)
    await world.settle()
    machines = [world.machine(number) for number in "01"]
    ledgers = [ledger(world, number) for number in "01"]
    before = [begun.read_text().splitlines() for begun, _ in ledgers]
    assert all({line.split()[0] for line in lines} >= FIRST for lines in before)

    deaths = revision = 0
    while deaths < KILLS:
        revision += 1
        world.refresh(revision=str(revision))
        deaths += await kill_until_done(world, chance)
        for machine in machines:
            files = machine.root / "var/lib/juju/agents"
            assert [path.read_text().strip() for path in files.glob("*/charm/revision")] == [str(revision)]
    assert {world.unit(name).charm_url for name in world.units()} == {f"local:tally-{revision}"}
    world.remove()
    deaths += await kill_until_done(world, chance)
    assert (world.units(), world.machines(), world.layout.records()) == ([], [], [])

    for (begun, ended), first in zip(ledgers, before, strict=True):
        lines = begun.read_text().splitlines()
        assert lines == ended.read_text().splitlines()
        hooks = [line.split()[0] for line in lines[len(first) :]]
        assert len(set(lines)) == len(lines)
        refreshed = ["upgrade-charm", "config-changed"] * revision
        assert [hook for hook in hooks if hook in refreshed] == refreshed
        assert [hook for hook in hooks if hook in REMOVE_HOOKS] == list(REMOVE_HOOKS)
