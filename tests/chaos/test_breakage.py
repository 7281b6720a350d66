"""Random fault schedules on real machines; `make chaos` runs a hundred, CI always the same few.

`PUSHJUJU_CHAOS_SCHEDULES`: how many. `PUSHJUJU_CHAOS_SEED`: the first seed; a failure prints its own.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from random import Random

import pytest

from pushjuju.plugins.providers.nspawn.cgroups import Cgroup
from pushjuju.runner.session import MachineSession
from pushjuju.store import queue
from pushjuju.workers import heartbeat
from tests.chaos import test_kills, test_storage_kills
from tests.chaos.breakage import LEASE_S, Breakage
from tests.chaos.controller import RealController
from tests.chaos.drive import name_operations
from tests.chaos.storm import checkpoints

pytestmark = pytest.mark.machine

SCHEDULES = int(os.environ.get("PUSHJUJU_CHAOS_SCHEDULES", "5"))
SEED = int(os.environ.get("PUSHJUJU_CHAOS_SEED", "1"))
EACH = 10  # schedules of one machine
FIRST = range(SEED, SEED + SCHEDULES, EACH)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("first", FIRST)
async def test_everything_comes_to_rest_and_each_hook_ran_once(
    world: RealController, monkeypatch: pytest.MonkeyPatch, first: int
) -> None:
    monkeypatch.setattr(MachineSession, "run", MachineSession.run)  # as it was, at the end
    monkeypatch.setattr(queue, "LEASE_S", LEASE_S)
    monkeypatch.setattr(heartbeat, "LEASE_S", LEASE_S)
    monkeypatch.setattr(heartbeat, "HEARTBEAT_S", LEASE_S / 4)
    name_operations()
    breakage = Breakage(world)
    breakage.deploy()
    for seed in range(first, min(first + EACH, SEED + SCHEDULES)):
        try:
            await breakage.run(seed)
        except BaseException:
            print("\n".join(breakage.story))
            print(f"again: PUSHJUJU_CHAOS_SEED={first} PUSHJUJU_CHAOS_SCHEDULES={seed - first + 1}")
            raise
        breakage.ask(Random(-seed))
    print(dict(breakage.struck))


def test_no_named_step_is_forgotten() -> None:
    """Each `checkpoint` of the product is a place where some test dies on purpose."""
    folder = Path(test_kills.__file__).parent
    workers = tuple(
        f"../unit/workers/{name}.py"
        for name in ("test_secret_backends", "machine/test_profiles", "provision/test_provisioner")
    )
    files = ("test_kills.py", "test_connection.py", *workers)
    text = "".join((folder / name).read_text() for name in files)
    steps = {f"storage-{step}" for step in (*test_storage_kills.MAKING, *test_storage_kills.TAKING)}
    steps |= {f"storage-{step}" for step in test_storage_kills.ENDING}
    missing = set(checkpoints()) - steps
    assert [name for name in sorted(missing) if f'"{name}"' not in text and f",{name}" not in text] == []


async def test_a_process_of_the_machine_with_a_low_id_is_not_taken_for_its_systemd(
    world: RealController,
) -> None:
    """Process ids wrap around: a fork of systemd may have a lower id than systemd, and end at any moment."""
    older = await asyncio.create_subprocess_exec("sleep", "120")
    try:
        world.add_machine()
        assert (await world.settle()).problems == ()
        machine = world.machine()
        for folder in Cgroup.of(machine.layout.cgroup(machine.record.id)).folders:
            for scope in folder.rglob("init.scope"):
                (scope / "cgroup.procs").write_text(str(older.pid))
        assert older.pid in machine.pids("^sleep 120")
        assert machine.run("readlink", "/proc/1/exe") == "/usr/lib/systemd/systemd\n"
        assert machine.run("cat", "/etc/hostname") == f"{machine.record.hostname}\n"
    finally:
        older.kill()
        await older.wait()
