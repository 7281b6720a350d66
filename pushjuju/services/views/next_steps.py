"""What decides which commands help after a failure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pushjuju.core.model.life import Life
from pushjuju.core.status import Agent, StatusKind
from pushjuju.portable.names import is_application, is_unit
from pushjuju.services.entities.application import applications, units
from pushjuju.services.entities.basis import statuses
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import credential_validity, machines
from pushjuju.services.entities.storage import storage_instances
from pushjuju.store.queue import SqliteWorkQueue, machine_key
from pushjuju.store.rows.model import Model
from pushjuju.store.rows.records import Application, Machine, Unit
from pushjuju.store.tx import ModelTx


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedUnit:
    """A unit after a failure.

    Attributes:
        waits: A hook waits for `resolved`.
        machine: Its machine, or an empty text.
        is_dying: The unit is there and is to go.
        dying_application: The application that is to go with its units, or an empty text.
    """

    waits: bool
    machine: str
    is_dying: bool
    dying_application: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedMachine:
    """A machine after a failure; `containers` are inside of it."""

    suspended: bool
    given_up: bool
    is_dying: bool
    containers: Sequence[str]


def unit(ctx: Context, model: str, name: str) -> FailedUnit:
    """Return what is known of a unit after a failure."""
    with ctx.read(model) as tx:
        found = tx.find(Unit, "unit_get", name=name)
        owner = tx.find(Application, "application_get", name=name.partition("/")[0])
        agent = statuses.get_status(tx, StatusKind.AGENT, name)
    return FailedUnit(
        waits=found is None or agent is None or agent.status == Agent.ERROR,
        machine=(found.machine if found else None) or "",
        is_dying=found is not None and found.life != Life.ALIVE,
        dying_application=owner.name if owner is not None and owner.life != Life.ALIVE else "",
    )


def machine(ctx: Context, model: Model, name: str) -> FailedMachine:
    """Return what is known of a machine after a failure."""
    with ctx.read(model.uuid) as tx:
        found = tx.find(Machine, "machine_get", id=name)
        return FailedMachine(
            suspended=bool(credential_validity.reason(tx, model)),
            given_up=name in machines.not_started(tx),
            is_dying=found is not None and found.life != Life.ALIVE,
            containers=[item.id for item in machines.containers_on(tx, name)],
        )


def next_try(ctx: Context, model: str, name: str) -> datetime | None:
    """Return when the work on a machine is due, or None when no time is set."""
    key = machine_key(model, name)
    return next((item.due for item in SqliteWorkQueue(ctx.store, "").items(key) if item.key == key), None)


def lacks_new_charm(ctx: Context, model: str, name: str) -> bool:
    """Return True when units of an application that are in error have another charm than the application."""
    with ctx.read(model) as tx:
        application = applications.get(tx, name)
        return any(_lacks(tx, item, application) for item in units.of_application(tx, name))


def _lacks(tx: ModelTx, item: Unit, application: Application) -> bool:
    return units.in_error(tx, item.name) and item.charm_url not in ("", application.charm_url)


def waits_for_resolved(ctx: Context, model: str, name: str) -> bool:
    """Return True when a unit waits for `resolved`."""
    with ctx.read(model) as tx:
        return units.in_error(tx, name)


def homes_and_storage(ctx: Context, model: str, names: Sequence[str]) -> tuple[set[str], list[str]]:
    """Return the machines and the storage of the applications and units among some names."""
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
