"""A served controller with one model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.world.api import ApiWorld
from tests.world.charms import Charms
from tests.world.controller import TestController


@pytest.fixture
def house(tmp_path: Path, packs: Charms) -> Iterator[TestController]:
    """A controller with the model `shop`."""
    made = TestController.build(tmp_path, packs)
    yield made
    made.ctx.close()


@pytest.fixture
async def served(house: TestController) -> AsyncIterator[ApiWorld]:
    """The API of that controller."""
    async with ApiWorld.serve(house.ctx) as world:
        yield world
