"""The model that hostile machines and odd command lines meet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pushjuju.core.model.placement import Placement
from tests.world.charms import Charms
from tests.world.rewind import RewindController

HERE = Placement.parse("0")
ACTIONS = "backup:\n  params:\n    to: {type: string}\n"


@pytest.fixture(scope="module")
def stage(
    tmp_path_factory: pytest.TempPathFactory, empty_controller: Path, packs: Charms
) -> Iterator[RewindController]:
    """A model with units that are at rest, kept as `rest`.

    web/0 (leader) and web/1 are peers on machines 0 and 1; db/0 shares machine 0; web and db are related.
    """
    world = RewindController.copy(empty_controller, tmp_path_factory.mktemp("stage"), packs)
    payloads = {"payloads": {"monitor": {"type": "docker"}}}
    web = packs.make(
        provides={"site": {"interface": "http"}}, files={"actions.yaml": ACTIONS}, **payloads
    )  # fmt: skip
    world.active(count=2, packed=web)
    world.active("db", packed=packs.make("db", requires={"up": {"interface": "http"}}), placements=[HERE])
    world.integrate("web:site", "db:up")
    world.keep_as("rest")
    yield world
    world.close()
