"""Watchers and changes whose transactions end in another order than they began, in a real PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pushjuju.services.entities.basis.context import Context, open_context
from pushjuju.services.entities.model import model_config
from pushjuju.services.requests.controller.new_controllers import Database
from pushjuju.services.requests.model.add_model import AddModelOptions, add_model
from pushjuju.services.views import entity_news
from pushjuju.web import messages
from pushjuju.web.pool import Pool
from pushjuju.web.subscriptions import Wanted
from pushjuju.web.watch.hub import Hub
from tests.waiting import until
from tests.world.charms import Charms
from tests.world.controller import TestController


@pytest.fixture
def world(postgres_url: str, tmp_path: Path) -> Iterator[TestController]:
    """A controller whose store is in PostgreSQL, with the model `shop`."""
    made = TestController.build(
        tmp_path, Charms(tmp_path / "charms"), Database(url=postgres_url, insecure=True)
    )
    yield made
    made.ctx.close()


def opened(world: TestController) -> Context:
    """Return the controller as another process has it."""
    return open_context(world.ctx.datadir, world.ctx.controller.name, clock=world.clock)


@pytest.fixture
async def hub(world: TestController) -> AsyncIterator[Hub]:
    pool = Pool(lambda: opened(world), threads=1)
    made = Hub(pool)
    yield made
    await made.close()
    await pool.close()


@contextmanager
def late(world: TestController) -> Iterator[None]:
    """Change the model `shop`; commit after a later change of another model, and after the block."""
    other = add_model(world.ctx, AddModelOptions(name="other")).uuid
    second = opened(world)
    try:
        with second.write(world.model) as tx:
            model_config.change(tx, {"extra-info": "late"})
            assert entity_news.number_of(tx)  # the server has made the change
            with world.ctx.write(other) as its:
                model_config.change(its, {"extra-info": "before"})
            yield
    finally:
        second.close()


def wanted(model: str) -> Wanted:
    """Return a watch that answers with a fixed text."""
    return Wanted(facade="", model=model, read=lambda *_: messages.Encoded("{}"))


async def test_a_watcher_hears_of_a_change_that_was_open_when_it_began(
    world: TestController, hub: Hub
) -> None:
    with late(world):
        watcher = await hub.subscribe(world.model)
        assert "late" not in await watcher.take()
    await until(watcher.news.is_set)
    assert '"extra-info":"late"' in await watcher.take()


async def test_a_watcher_hears_of_a_change_that_was_open_when_a_later_one_was_told(
    world: TestController, hub: Hub
) -> None:
    watcher = await hub.subscribe(world.model)
    await watcher.take()
    everywhere = await hub.listen(wanted(""))
    with late(world):
        await until(everywhere.news.is_set)
        await everywhere.take()
    await until(watcher.news.is_set)
    assert '"extra-info":"late"' in await watcher.take()


async def test_a_signal_hears_of_a_change_that_was_open_when_it_began(
    world: TestController, hub: Hub
) -> None:
    with late(world):
        signal = await hub.listen(wanted(world.model))
        await signal.take()
    await until(signal.news.is_set)


def test_the_sign_of_a_model_differs_after_a_change_that_committed_late(world: TestController) -> None:
    with late(world), world.ctx.store.read() as tx:
        before = entity_news.sign(world.ctx, tx, world.model)
    with world.ctx.store.read() as tx:
        assert entity_news.sign(world.ctx, tx, world.model) != before
