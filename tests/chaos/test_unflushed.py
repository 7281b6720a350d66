"""The server of the store and a process die together, after a commit and before the disk has it.

Machines, hooks, processes and the server are real.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from pushjuju.core.errors import StoreError
from tests.chaos.conftest import NewWorld
from tests.chaos.controller import DEPLOY_HOOKS, RealController
from tests.postgres import databases
from tests.postgres.test_absence import Server, alone  # noqa: F401 - a fixture

pytestmark = pytest.mark.machine

LEASE = ("--lease", "1")  # shortly after the start of a server no process counts as dead
OPERATIONS = ("charm local:tally-0", *DEPLOY_HOOKS)
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
