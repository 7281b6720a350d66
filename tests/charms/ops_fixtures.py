"""Fixtures that the integration tests of `ops` ask for, on machines of pushjuju: a plugin for their runs.

The tests come unmodified. What they build with charmcraft is packed already; the counterpart, which they take
from the store, is one of our recording charms. Settings come by environment, from who starts the run.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jubilant
import pytest

CHARM, COUNTERPART, PATIENCE_S = "OPS_TEST_CHARM", "OPS_TEST_COUNTERPART", 180.0


class Juju(jubilant.Juju):
    """jubilant, with a charm of ours for the one that is in the store."""

    def deploy(self, charm: Any, app: str | None = None, **more: Any) -> None:
        """Deploy a charm; `any-charm` is ours, whatever the channel."""
        if charm == "any-charm":
            charm = os.environ[COUNTERPART]
            more.pop("channel")
        super().deploy(charm, app, **more)


@pytest.fixture(scope="module")
def juju() -> Iterator[Juju]:
    """A model for all tests of a file."""
    with jubilant.temp_model() as model:
        yield Juju(model=model.model, wait_timeout=PATIENCE_S)


@pytest.fixture(scope="session")
def build_hookcmds_charm(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], str]:
    """The packed charm, in a folder that the test may write to."""
    target = tmp_path_factory.mktemp("charm") / "test-hookcmds_amd64.charm"
    shutil.copy(Path(os.environ[CHARM]), target)
    return lambda: str(target)
