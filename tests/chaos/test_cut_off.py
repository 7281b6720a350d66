"""A process loses the way to the server of the store and keeps the way to its machines.

Machine, hooks, processes, server and network are real.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pushjuju.services.entities.basis import leadership
from tests.chaos.conftest import NewWorld
from tests.chaos.controller import DEPLOY_HOOKS, until
from tests.chaos.test_hosts import holder, let_go
from tests.postgres import databases, fixtures, server

pytestmark = pytest.mark.machine

LEASE = ("--lease", "1")
FAR, NEAR = "127.0.97.1", "127.0.97.2"  # two ways to one server
HELD = "if [ $hook = leader-elected ]; then until [ -e /var/tmp/go ]; do sleep 0.1; done; leader-set a=1; fi"


@pytest.fixture
def two_ways(tmp_path: Path) -> Iterator[str]:
    """The address of a database, whose server listens at both addresses; a lost packet is noticed soon."""
    fixtures.require_psycopg()
    try:
        with (
            server.running(tmp_path, durable=True, address=f"{FAR},{NEAR}") as folder,
            databases.database(folder) as url,
        ):
            yield url.partition("?")[0].replace("@/", f"@{FAR}/") + "?tcp_user_timeout=3000"
    except server.NoServerError as error:
        fixtures.missing(str(error))


@contextmanager
def cut() -> Iterator[None]:
    """Lose all packets to and from the far address; nobody is told."""
    lost = f"ip daddr {FAR} drop; ip saddr {FAR} drop;"
    rules = f"table ip pjcut {{ chain lost {{ type filter hook input priority 0; {lost} }}; }}\n"
    subprocess.run(["nft", "-f", "-"], input=rules, text=True, check=True)
    try:
        yield
    finally:
        subprocess.run(["nft", "delete", "table", "ip", "pjcut"], check=True)


async def test_another_process_takes_the_results_of_the_plan_of_one_that_is_cut_off(
    new_world: NewWorld, two_ways: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two hooks are planned behind the one that runs, which asks for something while the way is cut."""
    monkeypatch.setenv("PGHOSTADDR", NEAR)
    world = new_world(store=two_ways)
    world.deploy(HELD)
    with world.process(*LEASE, host="one.example", PGHOSTADDR=FAR) as first:
        await until(lambda: world.layout.records() and "leader-elected 1" in world.machine().begun(), 60)
        with cut(), world.process(*LEASE, host="two.example") as second:
            let_go(world)
            await until(lambda: holder(world) == "two.example", 30)
            second.process.wait(60)
            second.check()
            world.at_rest(world.machine(), *DEPLOY_HOOKS)
        first.process.wait(60)
    world.at_rest(world.machine(), *DEPLOY_HOOKS)
    assert not world.machine().journal()
    with world.ctx.read(world.uuid) as tx:
        assert leadership.settings(tx, "tally") == {"a": "1"}
