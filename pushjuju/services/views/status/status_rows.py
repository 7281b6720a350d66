"""Reads everything that `status` shows of a model, with few statements.

A model may have thousands of units, so rows stay named tuples, only what is shown is decoded, and a text that
many rows share is decoded once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from pushjuju.core.clock import from_iso
from pushjuju.core.names import parent_machine
from pushjuju.core.status import InstanceStatus, Life, StatusKind
from pushjuju.portable.natural import natural_key, natural_order
from pushjuju.services.entities.basis import network
from pushjuju.services.entities.machine import machine_work
from pushjuju.services.entities.machine.machines import STOPPED, stopped

if TYPE_CHECKING:
    from pushjuju.services.entities.basis.context import Context
    from pushjuju.services.views.status.status_part import Part
    from pushjuju.store.engine import Row
    from pushjuju.store.rows.records import Model
    from pushjuju.store.statement_names import StatementName
    from pushjuju.store.tx import ModelTx

Moment = Callable[[str], Any]
"""Converts a time from the store's text to the document's form."""


class Seen(NamedTuple):
    """A status to show: `text` is its data as JSON, `since` comes from `Moment`, or is None when unknown."""

    status: str
    message: str = ""
    text: str = "{}"
    since: Any = None

    @property
    def data(self) -> dict[str, Any]:
        """The data of the status, decoded at each access, because most data is never shown."""
        return {} if self.text == "{}" else json.loads(self.text)


class MachineRow(NamedTuple):
    """A machine; `dns` is the address under which users reach it."""

    id: str
    life: str
    base: str
    constraints: dict[str, object]
    instance_id: str
    display_name: str
    hostname: str
    hardware: dict[str, object]
    addresses: list[dict[str, Any]]
    dns: str
    unreachable_since: str | None
    created: Any


class ApplicationRow(NamedTuple):
    name: str
    charm_url: str
    life: str
    subordinate: bool
    base: str
    exposed: bool
    workload_version: str

    @classmethod
    def of(cls, row: Iterable[Any]) -> ApplicationRow:
        """Return a row of the store as values."""
        name, charm_url, life, subordinate, base, exposed, version = row
        return cls(name, charm_url, life, bool(subordinate), base, bool(exposed), version)


class UnitRow(NamedTuple):
    name: str
    application: str
    machine: str | None
    principal: str | None
    life: str
    charm_url: str


class Side(NamedTuple):
    """One side of a relation."""

    relation: int
    application: str
    endpoint: str
    interface: str
    scope: str
    role: str


class Charm(NamedTuple):
    """The facts of a charm that are shown."""

    name: str
    version: str


class Origin(NamedTuple):
    """The origin of an application's charm: the channel it follows, and the URL of a newer revision there."""

    channel: str
    latest_url: str


class Rows(NamedTuple):
    """Everything that `status` shows of a model, in the order of the document."""

    model: Model
    controller: str
    now: datetime
    machines: dict[str, MachineRow]
    # machine -> its containers; None -> the machines that are not containers
    contained: dict[str | None, list[MachineRow]]
    applications: dict[str, ApplicationRow]
    units: dict[str, list[UnitRow]]  # application -> its units
    subordinates: dict[str, list[UnitRow]]  # principal unit -> its subordinates
    statuses: dict[str, dict[str, Seen]]  # kind -> entity -> status
    # unit -> sorted (protocol, from, to) of the open ports on all endpoints
    ports: dict[str, list[tuple[str, int, int]]]
    leaders: dict[str, str]  # application -> its leader unit
    sides: dict[int, list[Side]]  # relation -> its endpoints
    sides_of: dict[str, list[list[Side]]]  # application -> the endpoints of each of its relations
    charms: dict[str, Charm]  # URL -> charm
    origins: dict[str, Origin]  # application -> origin of its charm, for charms of a store
    failing: dict[str, str]  # machine whose last work failed -> who works on it and what is next
    unguarded: dict[str, str]  # machine whose firewall rules could not be applied -> why
    # machine -> its LXD profiles of charms, and the problem of the last change, or empty
    profiles: dict[str, tuple[dict[str, object], str]]
    spaces: dict[str, str]  # id -> name of every network space
    # application -> (endpoint, id of its space), for applications whose endpoints users have bound
    bindings: dict[str, list[tuple[str, str]]]
    # unit -> its statuses as users see them, as far as they were asked for
    shown: dict[str, tuple[Seen, Seen]]
    part: Part | None = None  # the part of the model that was read, or None for all


def read(
    ctx: Context, tx: ModelTx, model: Model, moment: Moment = from_iso, part: Part | None = None
) -> Rows:
    """Read the rows of a model, or of the applications, units and machines of a part."""
    tx = tx.beside(model.uuid)
    rows = partial(_rows, tx, part)
    machines = _machines(rows("shown_machines", "shown_machines_of", "shown_machines_from"), moment)
    units = [UnitRow._make(row) for row in rows("shown_units", "shown_units_of")]
    sides = _sides(rows("shown_sides", "shown_sides_of"))
    statuses: list[Iterable[Any]] = [*rows("shown_statuses", "shown_statuses_of", "shown_statuses_from")]
    if part is not None:
        statuses += _of_part(tx, model, (), part.applications, ())
    return Rows(
        model=model,
        controller=ctx.controller.name,
        now=ctx.clock.now(),
        machines={machine.id: machine for machine in machines},
        contained=_grouped(
            (_host(machine.id), machine) for machine in machines if part is None or part.keeps(machine.id)
        ),
        applications=_applications(tx, part),
        units=_grouped((unit.application, unit) for unit in units),
        subordinates=_subordinates(units),
        statuses=_with_stopped(ctx, model, machines, _statuses(statuses, moment)),
        ports=_grouped((row[0], row[1:]) for row in rows("shown_ports", "shown_ports_within")),
        leaders={row[0]: row[1] for row in rows("lease_list", "shown_leader_of")},
        sides=sides,
        sides_of=_grouped(
            (name, both) for both in sides.values() for name in {side.application for side in both}
        ),
        charms={row[0]: _charm(*row[1:]) for row in rows("shown_charms", "shown_charm_of")},
        origins={row[0]: Origin(*row[1:]) for row in rows("origin_shown", "shown_origin_of")},
        failing=_failing(ctx, tx, moment),
        unguarded={row["machine"]: row["problem"] for row in tx.rows("firewall_problems")},
        profiles={
            row["machine"]: (json.loads(row["profiles"]), row["problem"]) for row in tx.rows("profiles_list")
        },
        spaces={network.ALPHA_ID: network.ALPHA, **{row[1]: row[2] for row in tx.rows("space_list")}},
        bindings=_grouped((row[0], row[1:]) for row in rows("binding_list_all", "shown_bindings_of")),
        shown={},
        part=part,
    )


def narrowed(tx: ModelTx, rows: Rows, applications: Iterable[str], kept: Collection[str]) -> Rows:
    """Return rows in which some applications have only the units that a filter keeps.

    Their statuses and versions then come from these units. Subordinate applications keep all units.

    Mirrors: juju apiserver/facades/client/client/status.go processApplication (3.6)
    """
    units, apps = dict(rows.units), dict(rows.applications)
    for name in applications:
        app, every = apps[name], units.get(name, [])
        mine = [unit for unit in every if unit.name in kept]
        if app.subordinate or len(mine) == len(every):
            continue
        versions = [row[1] for row in tx.rows("shown_versions_of", application=name) if row[0] in kept]
        units[name], apps[name] = mine, app._replace(workload_version="".join(versions[-1:]))
    return rows._replace(units=units, applications=apps)


def _rows(
    tx: ModelTx,
    part: Part | None,
    every: StatementName,
    of_application: StatementName,
    of_machine: StatementName | None = None,
) -> list[Row]:
    """Return the rows of a whole model, or of the applications and machines of a part."""
    if part is None:
        return tx.rows(every)
    found = [row for name in part.applications for row in tx.rows(of_application, application=name)]
    if of_machine is not None:
        found += [row for name in part.machines for row in tx.rows(of_machine, machine=name)]
    return found


def _applications(tx: ModelTx, part: Part | None) -> dict[str, ApplicationRow]:
    if part is None:
        found = [ApplicationRow.of(row) for row in tx.rows("shown_applications")]
    else:
        found = _some_applications(tx, part.applications)
    return {row.name: row for row in sorted(found, key=lambda row: natural_key(row.name))}


def _some_applications(tx: ModelTx, names: Iterable[str]) -> list[ApplicationRow]:
    return [ApplicationRow.of(row) for name in names if (row := tx.row("shown_application", name=name))]


def _sides(rows: Iterable[Row]) -> dict[int, list[Side]]:
    """Return relation -> its endpoints; a relation of two applications of a part was read with each."""
    return _grouped((side.relation, side) for side in dict.fromkeys(map(Side._make, rows)))


def part(
    ctx: Context,
    tx: ModelTx,
    model: Model,
    machines: Iterable[str],
    applications: Iterable[str],
    units: Iterable[str],
    moment: Moment = from_iso,
) -> Rows:
    """Read some entities of a model, with the machines and applications of the units, and nothing else."""
    seats = [UnitRow._make(row) for name in units if (row := tx.row("shown_unit", name=name))]
    names = {*applications, *(unit.application for unit in seats)}
    ids = {*machines, *(unit.machine for unit in seats if unit.machine)}
    found = _machines([row for name in ids if (row := tx.row("shown_machine", id=name))], moment)
    apps = _some_applications(tx, names)
    return Rows(
        model=model,
        controller=ctx.controller.name,
        now=ctx.clock.now(),
        machines={machine.id: machine for machine in found},
        contained={},
        applications={app.name: app for app in apps},
        units=_grouped((unit.application, unit) for unit in seats),
        subordinates={},
        statuses=_with_stopped(ctx, model, found, _statuses(_of_part(tx, model, ids, names, seats), moment)),
        ports=_grouped(
            (unit.name, row[1:]) for unit in seats for row in tx.rows("shown_ports_of", unit=unit.name)
        ),
        leaders={}, sides={}, sides_of={}, charms={}, origins={},
        failing=_failing(ctx, tx, moment),
        unguarded={}, profiles={}, spaces={}, bindings={}, shown={},
    )  # fmt: skip


def _of_part(
    tx: ModelTx, model: Model, machines: Iterable[str], applications: Iterable[str], units: Iterable[UnitRow]
) -> Iterator[Iterable[Any]]:
    """Return the rows of the statuses of some entities, and of the model."""
    wanted = [(StatusKind.MODEL, model.name)]
    wanted += [(kind, name) for name in machines for kind in (StatusKind.MACHINE, StatusKind.INSTANCE)]
    wanted += [(StatusKind.APPLICATION, name) for name in applications]
    wanted += [(kind, unit.name) for unit in units for kind in (StatusKind.WORKLOAD, StatusKind.AGENT)]
    for kind, entity in wanted:
        if row := tx.row("status_get", kind=kind, entity=entity):
            yield kind, entity, row["status"], row["message"], row["data"], row["since"]


def _grouped(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, list[Any]]:
    """Return key -> its values in their order."""
    found: dict[Any, list[Any]] = {}
    for key, value in pairs:
        if key in found:
            found[key].append(value)
        else:
            found[key] = [value]
    return found


def _machines(rows: Iterable[Row], moment: Moment) -> list[MachineRow]:
    decoded = cache(json.loads)  # many machines of a model have the same texts
    found = []
    once = {row[0]: row for row in rows}  # a part has a machine once for each of its applications
    for row in once.values():
        name, life, base, constraints, instance, display, host, hardware, addresses, ssh, silent, made = row
        nics = json.loads(addresses)
        found.append(
            MachineRow(
                name, life, base, decoded(constraints), instance, display, host, decoded(hardware), nics,
                network.public(nics) or str(json.loads(ssh).get("host", "")), silent, moment(made),
            )
        )  # fmt: skip
    by_id = {machine.id: machine for machine in found}
    return [by_id[name] for name in natural_order(by_id)]


def _failing(ctx: Context, tx: ModelTx, moment: Moment) -> dict[str, str]:
    """Return the same as `machine_work.failing`; a model without failures costs one query and no import."""
    if tx.row("work_failing") is None:
        return {}
    return machine_work.failing(ctx, tx, moment)


def _host(machine: str) -> str | None:
    return parent_machine(machine) if "/" in machine else None


def _subordinates(units: list[UnitRow]) -> dict[str, list[UnitRow]]:
    found = [unit for unit in units if unit.principal]
    found.sort(key=lambda unit: natural_key(unit.name))
    return _grouped((unit.principal, unit) for unit in found)


def _statuses(rows: Iterable[Iterable[Any]], moment: Moment) -> dict[str, dict[str, Seen]]:
    found: dict[str, dict[str, Seen]] = {}
    for kind, entity, status, message, data, since in rows:
        seen = Seen(status, message, data, moment(since))
        if kind in found:
            found[kind][entity] = seen
        else:
            found[kind] = {entity: seen}
    return found


def _with_stopped(
    ctx: Context, model: Model, machines: list[MachineRow], statuses: dict[str, dict[str, Seen]]
) -> dict[str, dict[str, Seen]]:
    """Set the status of machines on this host that have stopped since a command last contacted them."""
    instances = statuses.get(StatusKind.INSTANCE, {})
    runs = {
        machine.instance_id: machine.id
        for machine in machines
        if machine.life == Life.ALIVE and _seen_running(instances.get(machine.id))
    }
    for machine_id in stopped(ctx, model.cloud_type, runs):
        instances[machine_id] = Seen(str(InstanceStatus.STOPPED), STOPPED)
    return statuses


def of_relations(tx: ModelTx) -> dict[int, Seen]:
    """Return relation -> its status, with the time in the store's form."""
    return {int(row[0]): Seen(*row[1:]) for row in tx.rows("shown_relation_statuses")}


def _seen_running(seen: Seen | None) -> bool:
    return seen is not None and seen.status == InstanceStatus.RUNNING


def _charm(name: str, document: str) -> Charm:
    return Charm(name, str(json.loads(document).get("version") or ""))
