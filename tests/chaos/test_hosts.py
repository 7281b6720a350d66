"""Processes of several hosts work for one controller in PostgreSQL, and some of them die.

Machines, hooks, processes and the server are real. A process of another host is one with another host name:
whether such a process lives, only the server tells.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from subprocess import Popen

import pytest

from tests.chaos.conftest import NewWorld
from tests.chaos.controller import DEPLOY_HOOKS, RealController, until
from tests.postgres import databases
from tests.postgres.test_absence import Server, alone  # noqa: F401 - a fixture
from tests.waiting import stays

pytestmark = pytest.mark.machine

_IN_TRANSACTION = """SELECT pid FROM pg_stat_activity
WHERE datname <> current_database() AND backend_type = 'client backend' AND state <> 'idle'"""
HELD = "if [ $hook = start ]; then until [ -e /var/tmp/go ]; do sleep 0.1; done; fi"


@pytest.fixture
def hosts(new_world: NewWorld, postgres_url: str) -> RealController:
    """A controller whose store is in PostgreSQL."""
    return new_world(store=postgres_url)


def runs(world: RealController, hook: str = "start") -> bool:
    """Return True when a hook has begun."""
    return bool(world.layout.records()) and f"{hook} 1" in world.machine().begun()


def let_go(world: RealController) -> None:
    """Let the hook that waits go on."""
    (world.machine().root / "var/tmp/go").touch()


async def freeze(process: Popen[str], server: Path) -> None:
    """Stop a process outside of transactions, whose locks it would keep until the server's limit of time."""

    def frozen() -> bool:
        os.kill(process.pid, signal.SIGSTOP)
        free = not databases.command(str(server), _IN_TRANSACTION)
        if not free:
            os.kill(process.pid, signal.SIGCONT)
        return free

    await until(frozen)


def holder(world: RealController) -> str:
    """Return the host of the process that works on machine 0, or ""."""
    with world.ctx.store.read() as tx:
        row = tx.row("work_get", key=f"{world.uuid}/machine/0")
    owner = row["owner"] if row is not None else None
    return (owner or "").partition(":")[0]


async def test_another_host_goes_on_two_seconds_after_a_process_was_killed_in_a_hook(
    hosts: RealController,
) -> None:
    hosts.deploy(HELD)
    with hosts.process(host="one.example") as first:
        await until(lambda: runs(hosts), 60)
        assert holder(hosts) == "one.example"
        with hosts.process(host="two.example") as second:
            # Shortly after the start of the server nobody counts as dead.
            await until(lambda: hosts.ctx.store.lives("dead.example:1:1") is False)
            assert holder(hosts) == "one.example"
            first.process.kill()
            killed = time.monotonic()
            await until(lambda: holder(hosts) == "two.example", 30)
            assert time.monotonic() - killed < 2
            assert "start 1" not in hosts.machine().ended()
            let_go(hosts)
            second.process.wait(60)
            second.check()
    hosts.at_rest(hosts.machine(), *DEPLOY_HOOKS)


async def test_a_frozen_process_changes_nothing_after_another_host_has_gone_on(hosts: RealController) -> None:
    """Its connection is open, so that only its lease tells."""
    hosts.deploy(HELD)
    with hosts.process("--lease", "1", host="one.example") as first:
        await until(lambda: runs(hosts), 60)
        os.kill(first.process.pid, signal.SIGSTOP)
        with hosts.process("--lease", "1", host="two.example") as second:
            await until(lambda: holder(hosts) == "two.example")
            let_go(hosts)
            second.process.wait(90)
            second.check()
        hosts.at_rest(hosts.machine(), *DEPLOY_HOOKS)
        os.kill(first.process.pid, signal.SIGCONT)
        first.process.wait(60)
        first.check()
    hosts.at_rest(hosts.machine(), *DEPLOY_HOOKS)


async def test_a_hook_runs_once_though_the_server_dies_meanwhile(
    new_world: NewWorld,
    alone: Server,  # noqa: F811
) -> None:
    with databases.database(str(alone.folder)) as url:
        world = new_world(store=url)
        world.deploy(HELD)
        with world.process(host="one.example"):
            await until(lambda: runs(world), 60)
            alone.stop()
        alone.start()
        let_go(world)
        with world.process(host="two.example") as second:
            second.process.wait(90)
            second.check()
        world.at_rest(world.machine(), *DEPLOY_HOOKS)


async def test_a_process_goes_on_with_its_hook_soon_after_its_server_restarted(
    new_world: NewWorld,
    alone: Server,  # noqa: F811
) -> None:
    with databases.database(str(alone.folder)) as url:
        world = new_world(store=url)
        world.deploy(HELD)
        with world.process(host="one.example") as first:
            await until(lambda: runs(world), 60)
            alone.stop()
            let_go(world)
            await until(lambda: "start 1" in world.machine().ended(), 60)
            await stays(lambda: first.process.poll() is None, 2)  # and finds the server away
            alone.start()
            back = time.monotonic()
            first.process.wait(90)
            first.check()
            assert time.monotonic() - back < 25
        world.at_rest(world.machine(), *DEPLOY_HOOKS)
