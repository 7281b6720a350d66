"""What several rooms of tests share: two models, and a Vault that is played."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.world.charms import Charms
from tests.world.two_models import TwoModels
from tests.world.vault import StandIn, running


@pytest.fixture
def twins(tmp_path: Path, packs: Charms) -> Iterator[TwoModels]:
    """Two models of one controller, with nothing in them."""
    made = TwoModels(tmp_path, packs)
    yield made
    made.ctx.close()


@pytest.fixture
def vault_server() -> Iterator[StandIn]:
    """A stand-in for a Vault."""
    with running() as made:
        yield made
