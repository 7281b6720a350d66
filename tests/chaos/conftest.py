"""Machines and controllers for tests that break things."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pushjuju.core.clock import Clock
from pushjuju.testing.machines import LocalCloud, local_cloud  # noqa: F401
from tests.chaos.controller import RealController

NewWorld = Callable[..., RealController]


@pytest.fixture
def new_world(local_cloud: LocalCloud, tmp_path: Path) -> Iterator[NewWorld]:  # noqa: F811
    """Make controllers; all their machines are gone at the end, also after a failure."""
    made: list[RealController] = []

    def make(clock: Clock | None = None, store: str = "") -> RealController:
        work = tmp_path / f"work{len(made)}"
        work.mkdir()
        made.append(RealController(local_cloud.data_dir(), local_cloud.base, work, clock, store))
        return made[-1]

    yield make
    for world in made:
        world.ctx.close()
        local_cloud.sweep_data_dir(world.ctx.controller.machines)
        assert not local_cloud.leftovers(world.ctx.controller.machines)


@pytest.fixture
def world(new_world: NewWorld) -> RealController:
    """A controller with an empty model."""
    return new_world()
