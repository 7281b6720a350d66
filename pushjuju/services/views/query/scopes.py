"""The attributes of models, applications, units and machines that a query may read.

An attribute is read from the store only when the query evaluates it, always within one transaction.
Mirrors: juju cmd/juju/waitfor/{model,application,unit,machine}.go (3.6)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pushjuju.core.base import Base
from pushjuju.core.status import Agent, MachineStatus, StatusInfo, StatusKind, Workload, most_severe
from pushjuju.core.values import dataclass
from pushjuju.services.entities.application import units
from pushjuju.services.entities.basis import network, statuses
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import model_config, models
from pushjuju.services.views.query.run import Asked, Query, Scope, Scopes
from pushjuju.store.rows.records import Application, Machine, Model, Unit
from pushjuju.store.tx import ModelTx, Tx

Values = Mapping[str, Callable[[], Any]]


def _scope(kind: str, values: Values) -> Scope:
    return Scope(kind=kind, values=values, asked=Asked())


def _is(value: Any) -> Callable[[], Any]:
    return lambda: value


def ghost(kind: str, asked: Asked) -> Scope:
    """Return an entity that was removed: with the values that were read last, and the life `dead`."""
    return _scope(kind, {**{name: _is(value) for name, value in asked.values.items()}, "life": _is("dead")})


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """The entity that `wait-for` waits for."""

    kind: str  # `application`, `machine`, `model` or `unit`
    name: str
    within: str  # UUID of its model; for a model, the name of its owner


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The result of a query over an entity."""

    holds: bool
    life: str
    status: str  # the status of an application while the query is not true; else empty
    asked: Asked


def answer(ctx: Context, goal: Goal, query: Query) -> Answer | None:
    """Evaluate a query over an entity, or return None when the entity does not exist."""
    with ctx.store.read() as tx:
        found = _READ[goal.kind](ctx, tx, goal.within, goal.name)
        if found is None:
            return None
        life, holds = str(found.values["life"]()), query.holds(found)
        status = str(found.values["status"]()) if goal.kind == "application" and not holds else ""
        return Answer(holds=holds, life=life, status=status, asked=found.asked)


# --- model ------------------------------------------------------------------------------------------------


def model(tx: ModelTx, found: Model) -> Scope:
    return _scope(
        "ModelInfo",
        {
            "name": _is(found.name),
            "life": _is(found.life),
            "is-controller": _is(models.is_controller(found)),
            "status": lambda: _status(tx, StatusKind.MODEL, found.name, "available"),
            "config": lambda: {key: entry["value"] for key, entry in model_config.effective(tx).items()},
            "applications": lambda: Scopes(
                (each.name, application(tx, each)) for each in tx.list(Application, "application_list")
            ),
            "machines": lambda: Scopes((each.id, machine(tx, each)) for each in machines.list_machines(tx)),
            "units": lambda: Scopes((each.name, unit(tx, each)) for each in tx.list(Unit, "unit_list")),
        },
    )


def _status(tx: ModelTx, kind: StatusKind, entity: str, default: str) -> str:
    found = statuses.get_status(tx, kind, entity)
    return str(found.status) if found is not None else default


# --- application ------------------------------------------------------------------------------------------


def application(tx: ModelTx, found: Application) -> Scope:
    return _scope(
        "ApplicationInfo",
        {
            "name": _is(found.name),
            "life": _is(found.life),
            "exposed": _is(found.exposed),
            "charm-url": _is(found.charm_url),
            "min-units": _is(0),
            "subordinate": _is(found.subordinate),
            "status": lambda: application_status(tx, found),
            "workload-version": _is(found.workload_version),
            "units": lambda: Scopes((each.name, unit(tx, each)) for each in _units(tx, found)),
            "machines": lambda: Scopes(
                (name, machine(tx, machines.get(tx, name)))
                for name in sorted({each.machine for each in _units(tx, found) if each.machine})
            ),
        },
    )


def _units(tx: ModelTx, found: Application) -> list[Unit]:
    return units.of_application(tx, found.name)


def application_status(tx: ModelTx, found: Application) -> str:
    """Return the status that the leader set, else the most severe status of the units."""
    own = _status(tx, StatusKind.APPLICATION, found.name, str(Workload.UNSET))
    if own != Workload.UNSET:
        return own
    shown = [_shown(tx, each)[0].status for each in _units(tx, found)]
    worst = most_severe(shown)
    return str(Workload.UNKNOWN) if worst is None else str(shown[worst])


# --- unit -------------------------------------------------------------------------------------------------


def unit(tx: ModelTx, found: Unit) -> Scope:

    def home() -> Machine | None:
        return tx.find(Machine, "machine_get", id=found.machine)

    def of_home(read: Callable[[Machine], str]) -> str:
        at = home()
        return read(at) if at is not None else ""

    def here() -> Scopes:
        at = home()
        return Scopes({at.id: machine(tx, at)} if at is not None else {})

    return _scope(
        "UnitInfo",
        {
            "name": _is(found.name),
            "application": _is(found.application),
            "base": lambda: _application_base(tx, found),
            "charm-url": _is(found.charm_url),
            "life": _is(found.life),
            "public-address": partial(of_home, network.public_address),
            "private-address": partial(of_home, network.private_address),
            "machine-id": _is(found.machine or ""),
            "principal": _is(found.principal or ""),
            "subordinate": _is(found.principal is not None),
            "workload-status": lambda: str(_shown(tx, found)[0].status),
            "workload-message": lambda: _shown(tx, found)[0].message,
            "agent-status": lambda: str(_shown(tx, found)[1].status),
            "machines": here,
        },
    )


def _application_base(tx: ModelTx, found: Unit) -> str:
    own = tx.find(Application, "application_get", name=found.application)
    return Base.parse(own.base).display if own is not None else ""


def _shown(tx: ModelTx, found: Unit) -> tuple[StatusInfo, StatusInfo]:
    """Return the statuses (workload, agent) as users see them."""
    workload = statuses.get_status(tx, StatusKind.WORKLOAD, found.name)
    agent = statuses.get_status(tx, StatusKind.AGENT, found.name)
    return statuses.shown_unit(
        workload or StatusInfo(status=Workload.UNKNOWN), agent or StatusInfo(status=Agent.ALLOCATING)
    )


# --- machine ----------------------------------------------------------------------------------------------


def machine(tx: ModelTx, found: Machine) -> Scope:

    def agent() -> str:
        return _status(tx, StatusKind.MACHINE, found.id, str(MachineStatus.PENDING))

    container = found.id.split("/")[-2] if "/" in found.id else ""
    return _scope(
        "MachineInfo",
        {
            "id": _is(found.id),
            "life": _is(found.life),
            "status": agent,
            "agent-status": agent,
            "instance-status": lambda: _status(tx, StatusKind.INSTANCE, found.id, "pending"),
            "base": _is(Base.parse(found.base).display),
            "container-type": _is(container),
            "config": _is({}),
            "supported-containers": _is([]),
        },
    )


# --- entities by their names ------------------------------------------------------------------------------


def _model(ctx: Context, tx: Tx, owner: str, name: str) -> Scope | None:
    found = tx.find(Model, "model_by_name", owner=owner, name=name)
    return model(ctx.of(tx, found.uuid), found) if found is not None else None


def _application(ctx: Context, store: Tx, uuid: str, name: str) -> Scope | None:
    tx = ctx.of(store, uuid)
    found = tx.find(Application, "application_get", name=name)
    return application(tx, found) if found is not None else None


def _unit(ctx: Context, store: Tx, uuid: str, name: str) -> Scope | None:
    tx = ctx.of(store, uuid)
    found = tx.find(Unit, "unit_get", name=name)
    return unit(tx, found) if found is not None else None


def _machine(ctx: Context, store: Tx, uuid: str, name: str) -> Scope | None:
    tx = ctx.of(store, uuid)
    found = tx.find(Machine, "machine_get", id=name)
    return machine(tx, found) if found is not None else None


_READ: dict[str, Callable[[Context, Tx, str, str], Scope | None]] = {
    "application": _application,
    "machine": _machine,
    "model": _model,
    "unit": _unit,
}
