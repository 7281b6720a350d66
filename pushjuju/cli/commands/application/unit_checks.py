"""Checks of deploy and add-unit before anything is recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.work import checks, session
from pushjuju.core import limits
from pushjuju.core.base import Base
from pushjuju.core.errors import UsageError
from pushjuju.core.model.placement import Placement


def precheck(
    cli: Cli,
    opened: session.Session,
    base: Base,
    constraints: Mapping[str, Any],
    count: int,
    targets: Sequence[Placement],
) -> None:
    """Let the cloud refuse machines that it can never start."""
    checks.of_clouds().units(
        opened.ctx,
        opened.uuid,
        base=base,
        constraints=constraints,
        count=count,
        placements=targets,
        warn=cli.console.warn,
    )


def check_number(units: int) -> None:
    if units < 1:
        raise UsageError("--num-units must be a positive integer")
    if units > limits.UNITS:
        raise UsageError(f"--num-units must be at most {limits.UNITS}")
