"""A served controller with one model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from pushjuju.services.entities.cloud import clouds
from pushjuju.services.entities.model import models
from pushjuju.store.tx import ModelTx
from tests.world.api import ApiWorld
from tests.world.charms import Charms
from tests.world.controller import TestController


@pytest.fixture
def house(tmp_path: Path, empty_controller: Path, packs: Charms) -> Iterator[TestController]:
    """A controller with the model `shop`."""
    made = TestController.copy(empty_controller, tmp_path, packs)
    yield made
    made.ctx.close()


@pytest.fixture
def own(house: TestController) -> str:
    """The controller's own model, which `house` lacks; return its UUID."""
    now = house.ctx.clock.now()
    made = models.controller_model(clouds.definition((), "local"), "", "", now)
    with house.ctx.store.write() as tx:
        models.insert(ModelTx(tx, made.uuid, now), made, now=now)
    return made.uuid


@pytest.fixture
async def served(house: TestController) -> AsyncIterator[ApiWorld]:
    """The API of that controller."""
    async with ApiWorld.serve(house.ctx) as world:
        yield world
