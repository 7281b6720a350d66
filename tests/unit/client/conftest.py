"""A served controller with the model `shop`, and kim, who has registered from another home."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.world.charms import Charms
from tests.world.commandline import Home, ok
from tests.world.controller import TestController
from tests.world.remote import ServedHouse, serving


@pytest.fixture
def house(tmp_path: Path, empty_controller: Path, packs: Charms) -> Iterator[TestController]:
    """A controller with the model `shop`, which is current on the host."""
    made = TestController.copy(empty_controller, tmp_path, packs)
    made.focus()
    yield made
    made.ctx.close()


@pytest.fixture
def served(house: TestController, tmp_path: Path, packs: Charms) -> Iterator[ServedHouse]:
    """The API of that controller."""
    with serving(tmp_path, packs) as made:
        yield made


@pytest.fixture
def kim(served: ServedHouse, tmp_path: Path) -> Home:
    """The home of kim, who administers the model `shop`."""
    home = served.register("kim", tmp_path / "kim")
    ok(served.host("grant", "kim", "admin", "shop"))
    ok(home("switch", "admin/shop"))
    return home
