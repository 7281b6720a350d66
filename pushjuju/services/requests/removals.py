"""The requests of remove-application, remove-unit and remove-machine.

Mirrors: juju apiserver/facades/client/application DestroyApplication, DestroyUnit, machinemanager (3.6)
"""

from __future__ import annotations

from collections.abc import Iterable

from pushjuju.portable.names import is_unit
from pushjuju.services.entities.application import units
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import models
from pushjuju.services.lifecycle import removal
from pushjuju.services.lifecycle.removal import Force


def remove_units(
    ctx: Context, model: str, names: list[str], force: Force | None = None, *, destroy_storage: bool = False
) -> None:
    """Remove units; when one of them is refused, none is removed."""
    with ctx.change(model) as tx:
        models.get(tx)
        for unit in removal.plan_units(tx, names):
            removal.destroy_unit(tx, unit, force, destroy_storage=destroy_storage)


def remove_applications(
    ctx: Context, model: str, names: list[str], force: Force | None = None, *, destroy_storage: bool = False
) -> None:
    """Remove applications; when one of them is refused, none is removed."""
    with ctx.change(model) as tx:
        for application in removal.plan_applications(tx, names):
            removal.destroy_application(tx, application, force, destroy_storage=destroy_storage)


def remove_machines(
    ctx: Context, model: str, ids: list[str], *, force: Force | None = None, keep_instance: bool = False
) -> None:
    """Remove machines; when one of them is refused, none is removed."""
    with ctx.change(model) as tx:
        for machine_id in ids:
            machine = machines.get(tx, machine_id)
            removal.destroy_machine(tx, machine, force=force, keep_instance=keep_instance)


def doomed_units(ctx: Context, model: str, names: list[str]) -> list[str]:
    """Return the units that `remove-unit` would remove: the named units and their subordinates."""
    with ctx.read(model) as tx:
        found = removal.plan_units(tx, names)
        return [*names, *(item.name for unit in found for item in removal.subordinates(tx, unit))]


def subordinates_of(ctx: Context, model: str, names: Iterable[str]) -> list[str]:
    """Return the subordinates that end with units, or with the units of applications."""
    with ctx.read(model) as tx:
        ends = [name for name in names if is_unit(name)]
        ends += [unit.name for name in names if not is_unit(name) for unit in units.of_application(tx, name)]
        return [name for unit in ends for name in removal.lives_of_subordinates(tx, unit)]


def units_of(ctx: Context, model: str, name: str) -> list[str]:
    """Return the names of an application's units, which are removed with the application."""
    with ctx.read(model) as tx:
        removal.plan_applications(tx, [name])
        return [unit.name for unit in units.of_application(tx, name)]
