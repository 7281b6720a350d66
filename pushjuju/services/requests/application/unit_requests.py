"""The requests of add-unit, resolved and update-status. Mirrors: juju facades/client/application (3.6)"""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.core import limits
from pushjuju.core.base import Base
from pushjuju.core.errors import NotValid, UsageError
from pushjuju.core.model.placement import Placement
from pushjuju.core.status import Life
from pushjuju.core.values import dataclass
from pushjuju.portable.names import is_application
from pushjuju.services.entities.application import applications, units
from pushjuju.services.entities.basis import wake
from pushjuju.services.entities.basis.callbacks import SILENT, Notices, Precheck, unchecked
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import lost_results
from pushjuju.store.processes import CAUSE
from pushjuju.store.rows.records import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class AddUnitsOptions:
    """What a user asks `add-unit` for.

    Raises:
        UsageError: The options contradict each other; the messages are Juju's.
    """

    application: str
    num_units: int = 1
    placements: Sequence[Placement] = ()  # the placements of the first units; further units get new machines
    attach_storage: Sequence[str] = ()  # existing storage for the unit; possible only with `num_units` 1

    def __post_init__(self) -> None:
        check_number(self.num_units, self.attach_storage)
        if not is_application(self.application):
            raise UsageError(f'invalid application name "{self.application}"')


def add_units(
    ctx: Context,
    model: str,
    options: AddUnitsOptions,
    *,
    notices: Notices = SILENT,
    precheck: Precheck = unchecked,
) -> list[str]:
    """Add units to an application, and return the names of the units.

    Raises:
        PushjujuError: The cloud or the model refuses one of the units; no unit is added.
    """
    name, count, placements = options.application, options.num_units, options.placements
    with ctx.read(model) as tx:
        found = applications.get(tx, name)
    base, wanted = Base.parse(found.base), found.constraints
    precheck(ctx, model, base=base, constraints=wanted, count=count, placements=placements, warn=notices.warn)
    added = units.add_units(ctx, model, name, count, placements, options.attach_storage)
    return [unit.name for unit in added]


def check_number(units: int, attach_storage: Sequence[str], least: int = 1) -> None:
    """Refuse a number of units that one command cannot add.

    Raises:
        UsageError: The number is too small or too large, or is not 1 and storage is to be attached.
    """
    if units < least:
        raise UsageError("--num-units must be a positive integer")
    if units > limits.UNITS:
        raise UsageError(f"--num-units must be at most {limits.UNITS}")
    if attach_storage and units != 1:
        raise UsageError("--attach-storage cannot be used with -n")


def resolve(ctx: Context, model: str, names: Sequence[str], *, retry: bool) -> None:
    """Let units in error continue, with or without a retry of the hook; an exception leaves all unchanged."""
    mode = "retry-hooks" if retry else "no-hooks"
    with ctx.change(model) as tx:
        for name in names:
            unit = units.get(tx, name)
            if not units.in_error(tx, name):
                raise NotValid(f'unit "{name}" is not in an error state')
            if unit.resolved != "none":
                raise NotValid(f'cannot set resolved mode for unit "{name}": already resolved')
            lost_results.excuse(tx, unit, retry=retry)
            tx.run("unit_set_resolved", name=name, resolved=mode)
            wake.unit(tx, unit, "resolved")


def resolve_all(ctx: Context, model: str, *, retry: bool) -> list[str]:
    """Let all units of a model that are in error continue; return their names."""
    with ctx.read(model) as tx:
        every = tx.list(Unit, "unit_list")
        names = [unit.name for unit in every if units.in_error(tx, unit.name) and unit.resolved == "none"]
    resolve(ctx, model, names, retry=retry)
    return names


def make_due(ctx: Context, model: str, names: Sequence[str] = ()) -> list[str]:
    """Make update-status due, so that units run the hook at the next work on their machine.

    Args:
        names: Names of units; empty for all units of the model.

    Returns:
        The units that will run the hook; units that have never been idle run it later anyway.
    """
    now = ctx.clock.now()
    with ctx.change(model) as tx:
        if names:
            chosen = [units.get(tx, name) for name in names]
            ready = [
                (unit.name, unit.machine)
                for unit in chosen
                if unit.life == Life.ALIVE and unit.update_status_due
            ]
            for name, _ in ready:
                tx.run("unit_update_status_now", name=name, due=now)
        else:
            rows = tx.rows("units_with_update_status")
            ready = [(row["name"], row["machine"]) for row in rows]
            tx.run("units_update_status_now", due=now)
        # Until the end of the block: what waits on the machines still follows the command that asked for it.
        CAUSE.set("")
        for machine in sorted({machine for _, machine in ready if machine is not None}):
            wake.routine(tx, machine)
    return [name for name, _ in ready]
