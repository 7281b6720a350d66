"""Clocks of hosts and of the store's server that are wrong: libfaketime under real programs."""

from __future__ import annotations

import os
import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.chaos.conftest import NewWorld
from tests.chaos.controller import DEPLOY_HOOKS, RealController, until
from tests.chaos.test_hosts import HELD, freeze, holder, hosts, let_go, runs  # noqa: F401 - a fixture
from tests.postgres import databases
from tests.postgres.test_absence import Server, alone  # noqa: F401 - a fixture

pytestmark = pytest.mark.machine

LEASE = ("--lease", "1")


def wrong_by(offset: str = "", file: Path | None = None) -> dict[str, str]:
    """Return the variables with which a program has a wrong clock, always or as a file says."""
    library = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
    if library is None:
        pytest.skip("not installed: faketime")
    kept = {"LD_PRELOAD": str(library), "DONT_FAKE_MONOTONIC": "1", "FAKETIME_NO_CACHE": "1"}
    return {**kept, "FAKETIME_TIMESTAMP_FILE": str(file)} if file else {**kept, "FAKETIME": offset}


async def test_hosts_whose_clocks_differ_take_each_others_work_only_when_it_is_free(
    hosts: RealController,  # noqa: F811
) -> None:
    """By the clock of the second host the lease of the first has ended long ago."""
    hosts.add_machine()
    await hosts.settle()
    hosts.deploy(HELD, to=["0"])
    with hosts.process(host="one.example", **wrong_by("-10m")) as first:
        await until(lambda: runs(hosts), 60)
        with hosts.process(host="two.example", **wrong_by("+10m")) as second:
            await until(lambda: hosts.ctx.store.lives("dead.example:1:1") is False)
            await until(lambda: second.text, 30)  # it has looked for work
            assert holder(hosts) == "one.example"
            first.process.kill()
            await until(lambda: holder(hosts) == "two.example", 30)
            let_go(hosts)
            second.process.wait(60)
            second.check()
    hosts.at_rest(hosts.machine(), *DEPLOY_HOOKS)
    with hosts.ctx.store.read() as tx:
        rows = tx._connection.execute("SELECT committed FROM operation").fetchall()
    last = max(datetime.fromisoformat(row["committed"]) for row in rows)
    assert abs(last - datetime.now(UTC)) < timedelta(minutes=5)


async def test_work_goes_on_when_the_clock_of_the_server_is_set_back_by_an_hour(
    new_world: NewWorld,
    alone: Server,  # noqa: F811
) -> None:
    """The process with the lease stands still, so that only the end of the lease frees the machine."""
    clock = alone.folder / "clock"
    clock.write_text("+0\n")
    alone.stop()
    alone.start(**wrong_by(file=clock))
    with databases.database(str(alone.folder)) as url:
        world = new_world(store=url)
        world.deploy(HELD)
        with world.process(*LEASE, host="one.example") as first:
            await until(lambda: runs(world), 60)
            await freeze(first.process, alone.folder)
            clock.write_text("-1h\n")
            with world.process(*LEASE, host="two.example") as second:
                await until(lambda: holder(world) == "two.example", 30)
                let_go(world)
                second.process.wait(60)
                second.check()
            world.at_rest(world.machine(), *DEPLOY_HOOKS)
            world.config(number="2")
            os.kill(first.process.pid, signal.SIGCONT)
            first.process.wait(60)
            first.check()
        assert world.machine().begun()[len(DEPLOY_HOOKS) :] in ([], ["config-changed 2"])
        world.drive(*LEASE).check()
        assert world.machine().begun()[len(DEPLOY_HOOKS) :] == ["config-changed 2"]
        assert world.machine().ended() == world.machine().begun()
        assert not world.open_operations()
