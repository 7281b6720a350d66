"""Units: reads them, and adds them to applications. Mirrors: juju state/unit.go (3.6)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pushjuju.core import constraints as rules
from pushjuju.core.base import Base
from pushjuju.core.errors import NotValid
from pushjuju.core.model.placement import Placement, PlacementKind
from pushjuju.core.problems import Subject
from pushjuju.core.status import WAITING_FOR_MACHINE, Agent, Life, StatusKind, Workload
from pushjuju.services.entities.application import applications
from pushjuju.services.entities.basis import statuses, wake
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.charm import charms
from pushjuju.services.entities.machine import machines, upgrade_machine
from pushjuju.services.entities.model import constraints, models
from pushjuju.services.entities.storage import storage_instances
from pushjuju.store.rows.records import Application, Machine, Unit
from pushjuju.store.tx import ModelTx


def get(tx: ModelTx, name: str) -> Unit:
    """Return a unit, or raise NotFound."""
    return tx.get(Unit, "unit_get", Subject("unit", name), name=name)


def of_application(tx: ModelTx, application: str) -> list[Unit]:
    """Return the units of an application, sorted by number."""
    return tx.list(Unit, "unit_of_application", application=application)


def add(
    tx: ModelTx,
    application: Application,
    count: int,
    placements: Sequence[Placement],
    attach: Sequence[str] = (),
) -> list[Unit]:
    """Add units to an application, each on its placement or on a new machine.

    Args:
        placements: The placements of the first units.
        attach: Storage that is attached to the only new unit; the unit goes to the machine that hosts it.
    """
    if application.subordinate:
        raise NotValid(f'cannot add units to subordinate application "{application.name}"')
    if attach and count != 1:
        raise NotValid(f"AttachStorage is non-empty, but NumUnits is {count}")
    targets = list(placements[:count]) + [None] * (count - len(placements))
    if attach and not placements and (home := storage_instances.home_of(tx, attach)):
        targets = [Placement(kind=PlacementKind.MACHINE, value=home)]
    return [_add_one(tx, application, target, attach) for target in targets]


def _add_one(tx: ModelTx, application: Application, target: Placement | None, attach: Sequence[str]) -> Unit:
    machine = _machine_for(tx, application, target)
    unit = _insert(tx, application, machine.id, attach=attach)
    wake.unit(tx, unit, "new unit")
    return unit


def _insert(
    tx: ModelTx,
    application: Application,
    machine: str | None,
    *,
    principal: str | None = None,
    attach: Sequence[str] = (),
) -> Unit:
    """Record a unit with its first statuses; create or attach its storage, when its charm has storage."""
    number = tx.next(application.model, f"unit-{application.name}")
    unit = Unit(
        model=application.model, name=f"{application.name}/{number}", application=application.name,
        number=number, machine=machine, principal=principal, life=Life.ALIVE, created=tx.now,
    )  # fmt: skip
    tx.insert("unit", unit)
    if application.workload_version:
        tx.run("application_set_version", name=application.name, version="")
    set_first_statuses(tx, unit)
    if attach or storage_instances.directives(tx, unit.application):
        storage_instances.equip(tx, unit, charms.get(tx, application.charm_url), attach)
    return unit


def set_version(tx: ModelTx, name: str, version: str, moment: datetime) -> None:
    """Record the version of a unit's workload, which becomes that of its application."""
    application = name.partition("/")[0]
    tx.run("unit_set_version", unit=name, application=application, version=version, since=moment)
    tx.run("application_set_version", name=application, version=version)


def delete(tx: ModelTx, unit: Unit) -> None:
    """Delete a unit; its application then has the newest version of the others."""
    tx.run("unit_delete", name=unit.name)
    tx.run("application_set_newest_version", name=unit.application)


def add_subordinate(tx: ModelTx, application: Application, principal: Unit) -> Unit:
    """Add a unit of a subordinate application beside a principal unit, on the principal's machine."""
    unit = _insert(tx, application, principal.machine, principal=principal.name)
    wake.unit(tx, unit, "new subordinate")
    return unit


def set_first_statuses(tx: ModelTx, unit: Unit) -> None:
    """Set the statuses of a new unit, as Juju does."""
    statuses.set_status(tx, StatusKind.AGENT, unit.name, Agent.ALLOCATING)
    statuses.set_status(tx, StatusKind.WORKLOAD, unit.name, Workload.WAITING, WAITING_FOR_MACHINE)


def _machine_for(tx: ModelTx, application: Application, target: Placement | None) -> Machine:
    if target is not None and target.kind is PlacementKind.MACHINE:
        machine = machines.get(tx, target.value)
        if machine.life != Life.ALIVE:
            raise NotValid(f"cannot assign unit to machine {machine.id}: machine is not alive")
        if upgrade_machine.lock_of(tx, machine.id):
            raise NotValid(
                f'cannot deploy "{application.name}" to machine {machine.id}: '
                "machine is locked for series upgrade"
            )
        if not Base.parse(machine.base).matches(Base.parse(application.base)):
            base, wanted = Base.parse(machine.base), Base.parse(application.base)
            raise NotValid(
                f"cannot assign unit to machine {machine.id}: base does not match: "
                f'unit has "{wanted.display}", machine has "{base.display}"',
                hint=f"deploy with --base {base.display}, and --force if the charm does not name that base",
            )
        return machine
    needs = constraints.for_machine(tx, application.constraints)
    target = Placement.wanted(target, needs)
    if target is not None and target.kind is PlacementKind.CONTAINER:
        base = Base.parse(application.base)
        return machines.new_container(tx, target, base=base, constraints=needs)
    if target is not None and target.kind is not PlacementKind.PROVIDER:
        raise NotValid(
            f'placement "{target}" is not supported: ssh: targets are machines to add first',
            hint=f"pushjuju add-machine {target}",
        )
    return machines.new_machine(
        tx, base=Base.parse(application.base),
        constraints=rules.of_host(needs),
        placement=target.value if target else ""
    )  # fmt: skip


def add_units(
    ctx: Context,
    model: str,
    application: str,
    count: int,
    placements: Sequence[Placement],
    attach: Sequence[str] = (),
) -> list[Unit]:
    """Add units to an application that is alive, as `add-unit` does."""
    with ctx.change(model) as tx:
        models.require_alive(tx)
        found = applications.get(tx, application)
        if found.life != Life.ALIVE:
            raise NotValid(
                f'cannot add unit to application "{application}": application is not found or not alive'
            )
        return add(tx, found, count, placements, attach)


def in_error(tx: ModelTx, unit: str) -> bool:
    """Return True when a unit's hook has failed and the unit waits for `resolved`."""
    agent = statuses.get_status(tx, StatusKind.AGENT, unit)
    return agent is not None and agent.status == Agent.ERROR
