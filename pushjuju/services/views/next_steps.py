"""Facts about entities with a failure, from which the CLI chooses the commands that it suggests."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pushjuju.core.status import Agent, Life, StatusKind
from pushjuju.core.values import dataclass
from pushjuju.portable.names import is_application, is_unit
from pushjuju.services.entities.application import applications, units
from pushjuju.services.entities.basis import statuses
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import credential_validity, machines
from pushjuju.services.entities.storage import storage_instances
from pushjuju.store import processes
from pushjuju.store.queue import WorkQueue, machine_key
from pushjuju.store.rows.model import Model
from pushjuju.store.rows.records import Application, Machine, Unit
from pushjuju.store.tx import ModelTx


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedUnit:
    waits: bool  # True when a failed hook waits for `resolved`
    machine: str  # the id of its machine, or empty
    is_dying: bool  # True when the unit is being removed
    # the name of the unit's application when the application is being removed, or empty
    dying_application: str
    ended_by: str  # the unit that `remove-unit --force` may name to end this unit, or empty


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedMachine:
    """A machine with a failure; `suspended` is True when the cloud refuses the model's credential."""

    suspended: bool
    given_up: bool
    is_dying: bool
    containers: Sequence[str]


def unit(ctx: Context, model: str, name: str) -> FailedUnit:
    """Return the facts of a unit with a failure."""
    with ctx.read(model) as tx:
        found = tx.find(Unit, "unit_get", name=name)
        owner = tx.find(Application, "application_get", name=name.partition("/")[0])
        agent = statuses.get_status(tx, StatusKind.AGENT, name)
        ended_by = ended_with(tx, found) if found else ""
    return FailedUnit(
        waits=found is None or agent is None or agent.status == Agent.ERROR,
        machine=(found.machine if found else None) or "",
        is_dying=found is not None and found.life != Life.ALIVE,
        dying_application=owner.name if owner is not None and owner.life != Life.ALIVE else "",
        ended_by=ended_by,
    )


def ended_with(tx: ModelTx, dying: Unit) -> str:
    """Return the unit that `remove-unit --force` may name to end a dying unit.

    That of a subordinate is its principal, or "" while the principal lives.
    """
    principal = tx.find(Unit, "unit_get", name=dying.principal) if dying.principal else None
    if principal is None:
        return dying.name
    return principal.name if principal.life != Life.ALIVE else ""


def machine(ctx: Context, model: Model, name: str) -> FailedMachine:
    """Return the facts of a machine with a failure."""
    with ctx.read(model.uuid) as tx:
        found = tx.find(Machine, "machine_get", id=name)
        return FailedMachine(
            suspended=bool(credential_validity.reason(tx, model)),
            given_up=name in machines.not_started(tx),
            is_dying=found is not None and found.life != Life.ALIVE,
            containers=[item.id for item in machines.containers_on(tx, name)],
        )


def waiting_process(ctx: Context) -> str:
    """Return the process that works on keys when they become due; empty when no such process runs."""
    with ctx.store.read() as tx:
        return processes.waiting(tx, ctx.store.lives)


def next_try(ctx: Context, model: str, name: str) -> datetime | None:
    """Return when work on a machine starts next, or None when nothing is due."""
    key = machine_key(model, name)
    return next((item.due for item in WorkQueue(ctx.store, "").items(key) if item.key == key), None)


def lacks_new_charm(ctx: Context, model: str, name: str) -> bool:
    """Return True when a unit in error does not run its application's present charm yet."""
    with ctx.read(model) as tx:
        application = applications.get(tx, name)
        return any(_lacks(tx, item, application) for item in units.of_application(tx, name))


def _lacks(tx: ModelTx, item: Unit, application: Application) -> bool:
    return units.in_error(tx, item.name) and item.charm_url not in ("", application.charm_url)


def waits_for_resolved(ctx: Context, model: str, name: str) -> bool:
    """Return True when a unit's hook has failed and the unit waits for `resolved`."""
    with ctx.read(model) as tx:
        return units.in_error(tx, name)


def homes_and_storage(ctx: Context, model: str, names: Sequence[str]) -> tuple[set[str], list[str]]:
    """Return the machines and the storage of the units and applications among some names."""
    found: list[Unit] = []
    with ctx.read(model) as tx:
        for name in names:
            if is_unit(name):
                found += filter(None, [tx.find(Unit, "unit_get", name=name)])
            elif is_application(name):
                found += units.of_application(tx, name)
        with_storage = [item.name for item in found if item.storage]
        stored = [row for name in with_storage for row in storage_instances.of_unit(tx, name)]
    return {item.machine for item in found if item.machine is not None}, [row.storage for row in stored]
