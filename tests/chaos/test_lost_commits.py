"""The store lacks commits that machines have seen acknowledged: after a restore, and after a failover.

Machines, hooks, processes, copies and servers are real.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import pytest

from pushjuju.services.entities.machine.lost_results import LOST
from pushjuju.services.requests.controller import backups
from tests.chaos.conftest import NewWorld
from tests.chaos.controller import DEPLOY_HOOKS, UNIT, RealController, until
from tests.chaos.test_hosts import HELD, let_go, runs
from tests.postgres import databases, server
from tests.postgres.test_absence import Server, alone  # noqa: F401 - a fixture
from tests.waiting import comes

pytestmark = pytest.mark.machine


def in_error(world: RealController, hook: str) -> bool:
    """Return True when a unit waits for `resolved`, because the result of a hook was lost."""
    said = [line for line in world.logs() if line.startswith("ERROR ") and LOST in line]
    return world.agent() == ("error", f'hook failed: "{hook}"') and bool(said)


async def deploy_to_machine_0(world: RealController) -> None:
    """Ask for a unit on a machine that is there; no hook has run."""
    world.add_machine()
    await world.settle()
    world.deploy(to=["0"])


async def restore_to_before_the_hooks(world: RealController, tmp_path: Path) -> None:
    """Run the hooks of a new unit, then restore a copy that knows nothing of them."""
    await deploy_to_machine_0(world)
    copy = backups.create(world.ctx, tmp_path / "copy.tar.gz").path
    await world.settle()
    world.at_rest(world.machine(), *DEPLOY_HOOKS)
    backups.restore_anywhere(world.ctx.datadir, copy, clock=world.ctx.clock, name=world.ctx.controller.name)
    await world.settle()


async def test_hooks_that_ran_after_a_copy_do_not_run_again_after_its_restore(
    world: RealController, tmp_path: Path
) -> None:
    await restore_to_before_the_hooks(world, tmp_path)
    for hook in DEPLOY_HOOKS:
        assert in_error(world, hook)
        world.resolve(retry=False)
        await world.settle()
    world.machine().once(*DEPLOY_HOOKS)
    assert world.agent() == ("idle", "")
    assert not world.machines()[0].lost


async def test_a_user_may_let_a_hook_run_again_whose_result_was_lost(
    world: RealController, tmp_path: Path
) -> None:
    await restore_to_before_the_hooks(world, tmp_path)
    assert in_error(world, "install")
    world.resolve(retry=True)
    await world.settle()
    assert world.machine().begun() == [*(f"{hook} 1" for hook in DEPLOY_HOOKS), "install 2"]
    assert in_error(world, DEPLOY_HOOKS[1])


async def test_a_hook_whose_result_was_lost_is_not_tried_again_by_itself(
    world: RealController, tmp_path: Path
) -> None:
    await restore_to_before_the_hooks(world, tmp_path)
    assert world.unit().retry_due is None
    assert "retries are disabled" in world.unit().decision
    world.work_now()
    await world.settle()
    assert in_error(world, "install")
    world.machine().once(*DEPLOY_HOOKS)


async def test_hooks_with_new_causes_run_after_a_restore(world: RealController, tmp_path: Path) -> None:
    world.deploy()
    await world.settle()
    copy = backups.create(world.ctx, tmp_path / "copy.tar.gz").path
    world.config(do="true")
    await world.settle()
    backups.restore_anywhere(world.ctx.datadir, copy, clock=world.ctx.clock, name=world.ctx.controller.name)
    await world.settle()
    assert world.agent() == ("idle", "")
    world.config(do="true")
    await world.settle()
    assert world.agent() == ("idle", "")
    assert world.machine().begun()[-2:] == ["config-changed 2", "config-changed 3"]


async def test_a_hook_that_ran_during_the_copy_is_in_error_after_the_restore(
    world: RealController, tmp_path: Path
) -> None:
    world.deploy(HELD)
    with world.process() as first:
        # The machine begins the hook before the store has the result of the hook before it.
        await until(lambda: runs(world) and any("config-changed" in line for line in world.logs()), 60)
        copy = backups.create(world.ctx, tmp_path / "copy.tar.gz").path
        let_go(world)
        first.process.wait(60)
        first.check()
    world.at_rest(world.machine(), *DEPLOY_HOOKS)
    backups.restore_anywhere(world.ctx.datadir, copy, clock=world.ctx.clock, name=world.ctx.controller.name)
    await world.settle()
    assert in_error(world, "start")
    world.resolve(retry=False)
    await world.settle()
    world.machine().once(*DEPLOY_HOOKS)
    assert world.agent() == ("idle", "")


# --- another server takes over ----------------------------------------------------------------------------


class Standby(Server):
    """A server that follows another one, and may take over."""

    @classmethod
    @contextmanager
    def of(cls, primary: Server, folder: Path) -> Iterator[Standby]:
        """Yield a standby server that has all of the primary and has stopped."""
        folder.mkdir()
        if not os.geteuid():
            shutil.chown(folder, server._owner())
        programs = server._programs()
        copied = ["-h", primary.folder, "-U", "pushjuju", "-D", folder / "data", "-R", "-c", "fast"]
        subprocess.run([programs / "pg_basebackup", *copied], check=True, cwd=folder, **server.as_owner())
        yield cls(folder)

    def take_over(self) -> None:
        """Become the primary server."""
        self.start()
        self.promote()

    def promote(self) -> None:
        """The same for a standby that runs."""
        self._control("-w", "promote")


def name_standbys(primary: Server, names: str) -> None:
    """Say for which standbys the commits of a server wait; "" for none."""
    host = str(primary.folder)
    databases.command(host, f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
    databases.command(host, "SELECT pg_reload_conf()")


def wait_for_standby(primary: Server) -> None:
    """Let commits of a server wait for the disk of its standby, which runs."""
    name_standbys(primary, "*")
    host, psycopg = str(primary.folder), import_module("psycopg")  # an extra
    with psycopg.connect(host=host, user="pushjuju", dbname="postgres", autocommit=True) as link:
        asked = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"
        comes(lambda: link.execute(asked).fetchone())


def lead_to(place: Path, server: Server) -> None:
    """Let an address lead to a server."""
    place.unlink(missing_ok=True)
    place.symlink_to(server.folder)


async def test_a_standby_that_lacks_commits_runs_no_hook_twice(
    new_world: NewWorld,
    alone: Server,  # noqa: F811
    tmp_path: Path,
) -> None:
    """The first server dies; the second one knows nothing of the hooks that ran."""
    place = tmp_path / "place"
    lead_to(place, alone)
    with databases.database(str(place)) as url:
        world = new_world(store=url)
        await deploy_to_machine_0(world)
        with Standby.of(alone, alone.folder / "standby") as second:
            await world.settle()
            world.machine().once(*DEPLOY_HOOKS)
            alone.stop()
            lead_to(place, second)
            second.take_over()
            try:
                with world.process() as process:
                    process.process.wait(60)
                assert in_error(world, "install")
                for _ in DEPLOY_HOOKS:
                    world.resolve(UNIT, retry=False)
                    with world.process() as process:
                        process.process.wait(60)
                world.machine().once(*DEPLOY_HOOKS)
                assert world.agent() == ("idle", "")
            finally:
                second.stop()
                alone.start()
                lead_to(place, alone)  # whose database is deleted


async def test_a_synchronous_standby_goes_on_and_has_each_result_that_a_machine_forgot(
    new_world: NewWorld,
    alone: Server,  # noqa: F811
    tmp_path: Path,
) -> None:
    """Process and server die right after a machine has deleted a result."""
    place, died = tmp_path / "place", tmp_path / "died"
    lead_to(place, alone)
    died.write_text("".join(f"acknowledged {name}\n" for name in ("charm local:tally-0", *DEPLOY_HOOKS[:-2])))
    with databases.database(str(place)) as url:
        world = new_world(store=url)
        with Standby.of(alone, alone.folder / "standby") as second:
            second.start()
            wait_for_standby(alone)
            world.deploy()
            assert world.drive("--die-file", str(died), "--steps", "acknowledged").killed
            assert "config-changed 1" in world.machine().ended()
            alone.stop()
            lead_to(place, second)
            second.promote()
            try:
                world.drive("--lease", "1").check()
                world.at_rest(world.machine(), *DEPLOY_HOOKS)
                assert not world.machines()[0].lost
            finally:
                second.stop()
                alone.start()
                name_standbys(alone, "")
                lead_to(place, alone)  # whose database is deleted
