"""What becomes of the first turns of units, which share a commit, when the server loses this commit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from pushjuju.core.errors import StoreAway
from pushjuju.services.requests.application.settings import ConfigOptions, set_config
from pushjuju.services.requests.controller.new_controllers import Database
from pushjuju.store.rows.records import Unit
from pushjuju.workers.machine import contact
from pushjuju.workers.machine.machine_worker import MachineWorker
from tests.postgres import fixtures
from tests.world.charms import Charms
from tests.world.controller import TestController
from tests.world.runtime import PlayedRuntime, drive, worker


@pytest.fixture
def world(tmp_path: Path, packs: Charms, postgres_url: str) -> Iterator[TestController]:
    """A controller with a unit at rest, which has no time for update-status."""
    made = TestController.build(tmp_path, packs, Database(url=postgres_url, insecure=True))
    with closing(made.ctx):
        made.ctx.store.remember()
        made.deploy()
        yield made


async def rest(world: TestController) -> PlayedRuntime:
    """Bring the unit to rest, and take the time of its update-status away."""
    work = PlayedRuntime(world)
    await drive(world, work)
    work.opened.clear()  # no session is open any more
    world.change_unit("web/0", update_status_version=0, update_status_due=None)
    return work


def is_set(world: TestController) -> bool:
    """Return True when the first turn has set the time of update-status."""
    return (
        world.read(lambda tx: tx.get(Unit, "unit_get", "no unit", name="web/0")).update_status_due is not None
    )


async def test_a_first_turn_that_the_server_lost_is_told_and_taken_again(
    world: TestController, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = await rest(world)

    def lose(self: MachineWorker, machine: Any) -> bool:
        fixtures.cut(postgres_url)
        return False

    with monkeypatch.context() as patch:
        patch.setattr(MachineWorker, "_wants_rules", lose)
        with pytest.raises(StoreAway):
            await worker(work)
    assert not is_set(world)
    assert not (await worker(work)).failed
    assert is_set(world)


@pytest.mark.parametrize("noticed", [False, True])
async def test_a_hook_whose_first_turn_was_lost_runs_once(
    world: TestController, postgres_url: str, monkeypatch: pytest.MonkeyPatch, *, noticed: bool
) -> None:
    """The run that follows notices the loss, or decides again from what the server has."""
    work = await rest(world)
    set_config(world.ctx, world.model, ConfigOptions(application="web", values={"title": "new"}))
    attach, before = contact.attach, world.of("web/0")

    async def lose(*args: Any) -> Any:
        fixtures.cut(postgres_url)
        if noticed:
            with suppress(StoreAway):
                world.ctx.store.group().flush()
        return await attach(*args)

    with monkeypatch.context() as patch, suppress(StoreAway):
        patch.setattr(contact, "attach", lose)
        await worker(work)
    assert not (await worker(work)).failed
    assert world.of("web/0") == [*before, "config-changed"]
    assert is_set(world)
