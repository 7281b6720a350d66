"""Units around the resolver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.world.decided_unit import DEPLOYED, Crash, DecidedUnit


@pytest.fixture
def world() -> Callable[..., DecidedUnit]:
    """Make a world: a unit that was deployed a moment ago, with changes to its model."""

    def make(**changes: Any) -> DecidedUnit:
        return DecidedUnit(remote=replace(DEPLOYED, **changes))

    return make


@pytest.fixture
def idle(world: Callable[..., DecidedUnit]) -> Callable[..., DecidedUnit]:
    """Make a world whose unit has settled, then change its model."""

    def make(before: dict[str, Any] | None = None, **changes: Any) -> DecidedUnit:
        made = world(**(before or {}))
        made.settle()
        made.hooks.clear()
        made.operations.clear()
        made.effects.clear()
        made.model(**changes)
        return made

    return make


@pytest.fixture
def crash() -> type[Crash]:
    """The exception that a crash of the controller raises."""
    return Crash
