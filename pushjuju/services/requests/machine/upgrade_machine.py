"""upgrade-machine: which units an upgrade concerns, and how far it is. Mirrors: juju cmd/juju/machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pushjuju.core.base import Base
from pushjuju.core.model.series import SeriesStatus
from pushjuju.core.problems import Problem, Subject
from pushjuju.core.status import Agent, StatusKind
from pushjuju.services.entities.basis import statuses
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import upgrade_machine
from pushjuju.store.rows.records import MachineUpgradeMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far an upgrade is.

    Attributes:
        new: The messages that were not seen yet.
        failed: The units in error, each with the reason.
    """

    status: SeriesStatus
    new: Sequence[MachineUpgradeMessage]
    failed: Sequence[Problem]


def progress(ctx: Context, model: str, machine_id: str, units: Sequence[str], seen: int) -> Progress:
    """Return how far an upgrade is; `seen` is the last message that is known."""
    with ctx.store.read() as tx:
        agents = [(name, statuses.get_status(tx, model, StatusKind.AGENT, name)) for name in units]
        return Progress(
            status=upgrade_machine.status_of(tx, model, machine_id),
            new=upgrade_machine.messages(tx, model, machine_id, seen),
            failed=[
                Problem.of(Subject("unit", name), agent.message)
                for name, agent in agents
                if agent is not None and agent.status == Agent.ERROR
            ],
        )


def units_of(ctx: Context, model: str, machine_id: str) -> list[str]:
    """Return the units of a machine as `affected_units` does."""
    with ctx.store.read() as tx:
        return upgrade_machine.affected_units(tx, model, machine_id)


def plan(ctx: Context, model: str, machine_id: str, base: Base, *, force: bool = False) -> list[str]:
    """Return the units that the upgrade of a machine concerns.

    Raises:
        PushjujuError: As `check`.
    """
    with ctx.store.read() as tx:
        upgrade_machine.check(tx, model, machine_id, base, force=force)
        return upgrade_machine.affected_units(tx, model, machine_id)
