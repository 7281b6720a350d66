"""The server of the store dies after a commit and before the disk has it, with a process or alone.

Machines, hooks, processes and the server are real.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest

from pushjuju.core.errors import StoreError
from tests.chaos.conftest import NewWorld
from tests.chaos.controller import DEPLOY_HOOKS, Drive, RealController
from tests.postgres import databases
from tests.postgres.test_absence import Server, alone  # noqa: F401 - a fixture
from tests.waiting import comes

pytestmark = pytest.mark.machine

LEASE = ("--lease", "1")  # shortly after the start of a server no process counts as dead
OPERATIONS = ("charm local:tally-0", *DEPLOY_HOOKS)
STRIKES = 4
SEED = int(os.environ.get("PUSHJUJU_CHAOS_SEED", time.time_ns() % 100_000))
IDS = "var/log/ids"
STEPS = ("committed install", "acknowledged config-changed", "committed start")


def lazy(server: Server) -> None:
    """Let a server write to its disk only when a commit waits for the disk."""
    databases.command(str(server.folder), "ALTER SYSTEM SET wal_writer_delay = '10s'")
    databases.command(str(server.folder), "SELECT pg_reload_conf()")


def committed(world: RealController) -> set[str]:
    """Return the ids of the operations that the server shows as committed."""
    with suppress(StoreError):  # the connection that was lost
        world.machines()
    with world.ctx.store.read() as tx:
        rows = tx._connection.execute("SELECT id FROM operation WHERE state = 'committed'").fetchall()
    return {row["id"] for row in rows}


def crash(world: RealController, server: Server) -> set[str]:
    """Kill the server and start it again; return the operations whose commits it has lost."""
    before = committed(world)
    server.stop()
    server.start()
    lost = before - committed(world)
    kept = " ".join(world.machine().journal())
    assert all(name in kept for name in lost), "the machine has forgotten what the store has lost"
    return lost


async def test_what_the_server_loses_is_still_on_the_machine_and_runs_once(
    new_world: NewWorld,
    alone: Server,  # noqa: F811
    tmp_path: Path,
) -> None:
    lazy(alone)
    with databases.database(str(alone.folder)) as url:
        world = new_world(store=url)
        died, lost = tmp_path / "died", set[str]()
        every = {f"{step} {name}" for step in ("committed", "acknowledged") for name in OPERATIONS}
        died.write_text("".join(f"{step}\n" for step in every - set(STEPS)))
        world.deploy()
        for _ in STEPS:
            steps = ("--die-file", str(died), "--steps", "committed,acknowledged", "--commit-first")
            drive = world.drive(*steps, *LEASE)
            assert drive.killed, drive.text
            lost |= crash(world, alone)
        assert lost, "every commit was on the disk before the server died"
        drive = world.drive(*LEASE)
        drive.check()
        world.at_rest(world.machine(), *DEPLOY_HOOKS)
        assert not world.machine().journal()
        assert len(committed(world)) == len(OPERATIONS)


def check_machine(world: RealController) -> None:
    """Check that the store has committed every operation whose result the machine keeps no longer."""
    for record in world.layout.records():
        machine = world.machine(record.machine_id)
        place = machine.root / IDS
        began = set(place.read_text().split()) if place.exists() else set()
        kept = " ".join(machine.journal())
        acknowledged = {name for name in began if name not in kept}
        assert acknowledged <= committed(world), "a result was acknowledged before it was on the disk"


def stopped(drive: Drive) -> bool:
    """Return True when a process has stopped or ended."""
    if drive.process.poll() is not None:
        return True
    return Path(f"/proc/{drive.process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def outlive(world: RealController, server: Server, drive: Drive) -> int:
    """Start the server again after each strike of a process, until the process ends; return how many."""
    struck = 0
    while True:
        comes(lambda: stopped(drive), drive.text)
        if drive.text.count("strike: ") == struck:
            return struck
        struck += 1
        server.start()
        check_machine(world)
        if drive.process.poll() is None:
            drive.process.send_signal(signal.SIGCONT)


async def test_nothing_leaves_a_process_before_the_disk_has_it_wherever_the_server_dies(
    new_world: NewWorld,
    alone: Server,  # noqa: F811
) -> None:
    print(f"again with PUSHJUJU_CHAOS_SEED={SEED}")
    lazy(alone)
    struck, killed = 0, True
    with databases.database(str(alone.folder)) as url:
        world = new_world(store=url)
        world.deploy(f"echo $JUJU_CONTEXT_ID >>/{IDS}")
        while killed:
            word = f"{SEED + struck}:{STRIKES - struck}"
            with world.process("--strikes", word, str(alone.folder), "--name-operations", *LEASE) as drive:
                struck += outlive(world, alone, drive)
            print(drive.text)
            killed = drive.killed
        drive.check()
        assert struck
        world.at_rest(world.machine(), *DEPLOY_HOOKS)
        assert not world.machine().journal()
        assert len(committed(world)) == len(OPERATIONS)
