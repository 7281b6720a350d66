"""The status document of a model: one structure from which every format derives. Layer: services.

Keys and their order are those of `juju status --format json`; times are aware datetimes, for the command line
to render. Mirrors: juju apiserver/facades/client/client/status.go, cmd/juju/status/formatted.go (3.6)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from pushjuju import JUJU_VERSION
from pushjuju.charms.model import Charm
from pushjuju.core import constraints
from pushjuju.core.base import Base
from pushjuju.core.clock import from_iso
from pushjuju.core.life import Life
from pushjuju.core.names import parent_machine
from pushjuju.core.natural import natural_key
from pushjuju.core.ports import PortRange
from pushjuju.core.status import (
    AGENT_INITIALISING,
    INSTALLING_CHARM,
    NOT_COMMUNICATING,
    Agent,
    MachineStatus,
    StatusInfo,
    StatusKind,
    Workload,
    derive_application_status,
)
from pushjuju.services import charms, network, statuses
from pushjuju.services.context import Context
from pushjuju.services.relations import remote_endpoint
from pushjuju.state.records import (
    Application,
    Machine,
    Model,
    Port,
    Relation,
    RelationEndpoint,
    Status,
    Unit,
)
from pushjuju.state.store import Tx

LOST_AFTER_S = 60.0  # how long a machine may be silent before its units count as lost
_HARDWARE_ORDER = ("arch", "cores", "cpu-power", "mem", "root-disk", "availability-zone", "virt-type")


T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Model:
    """All rows of a model that status shows, read at one moment; in the order in which it shows them.

    Attributes:
        contained: Machine -> its containers; None -> the machines that are in no other.
        units: Application -> its units.
        subordinates: Principal unit -> its subordinates.
    """

    model: Model
    controller: str
    now: datetime
    machines: dict[str, Machine]
    contained: dict[str | None, list[Machine]]
    applications: dict[str, Application]
    units: dict[str, list[Unit]]
    subordinates: dict[str, list[Unit]]
    statuses: dict[tuple[str, str], StatusInfo]
    ports: dict[str, list[Port]]
    leaders: dict[str, str]
    relations: dict[int, Relation]
    sides: dict[int, list[RelationEndpoint]]
    charms: dict[str, Charm]

    def status(self, kind: StatusKind, entity: str, default: str = "unknown") -> StatusInfo:
        """Return a status of an entity."""
        return self.statuses.get((str(kind), entity)) or StatusInfo(status=default)

    def machine(self, machine_id: str | None) -> Machine | None:
        """Return a machine by its id."""
        return self.machines.get(machine_id or "")


def document(ctx: Context, model: Model) -> dict[str, Any]:
    """Return the status of a model, with absolute times as aware datetimes."""
    with ctx.store.read() as tx:
        rows = _read(ctx, tx, model)
    return {
        "model": _model(rows),
        "machines": _machines(rows, None),
        "applications": {name: _application(rows, app) for name, app in rows.applications.items()},
        "storage": {},
        "controller": {"timestamp": rows.now},
    }


def _read(ctx: Context, tx: Tx, model: Model) -> _Model:
    ports: dict[str, list[Port]] = defaultdict(list)
    for port in tx.list(Port, "port_list", model=model.uuid):
        ports[port.unit].append(port)
    sides: dict[int, list[RelationEndpoint]] = defaultdict(list)
    for side in tx.list(RelationEndpoint, "relation_endpoint_list", model=model.uuid):
        sides[side.relation].append(side)
    applications = tx.list(Application, "application_list", model=model.uuid)
    machines = sorted(
        tx.list(Machine, "machine_list", model=model.uuid), key=lambda item: natural_key(item.id)
    )
    units = sorted(tx.list(Unit, "unit_list", model=model.uuid), key=lambda item: natural_key(item.name))
    return _Model(
        model=model,
        controller=ctx.controller.name,
        now=ctx.clock.now(),
        machines={item.id: item for item in machines},
        contained=_grouped(machines, lambda item: parent_machine(item.id)),
        applications={
            item.name: item for item in sorted(applications, key=lambda app: natural_key(app.name))
        },
        units=_grouped(units, lambda item: item.application),
        subordinates=_grouped(units, lambda item: item.principal or ""),
        statuses={
            (item.kind, item.entity): statuses.info(item)
            for item in tx.list(Status, "status_list", model=model.uuid)
        },
        ports=ports,
        leaders={row["application"]: row["holder"] for row in tx.rows("lease_list", model=model.uuid)},
        relations={item.id: item for item in tx.list(Relation, "relation_list", model=model.uuid)},
        sides=sides,
        charms={app.charm_url: charms.get(tx, model.uuid, app.charm_url) for app in applications},
    )


def _grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Return items by a key of theirs, in their order."""
    found: dict[K, list[T]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found


def _status(info: StatusInfo, *, version: bool = False, life: str = Life.ALIVE) -> dict[str, Any]:
    found: dict[str, Any] = {"current": str(info.status)}
    if info.message:
        found["message"] = info.message
    if info.since:
        found["since"] = info.since
    if version:
        found["version"] = JUJU_VERSION
    if life != Life.ALIVE:
        found["life"] = life
    return found


def _base(text: str) -> dict[str, str]:
    base = Base.parse(text)
    return {"name": base.os, "channel": base.channel}


# --- model ------------------------------------------------------------------------------------------------


def _model(rows: _Model) -> dict[str, Any]:
    model = rows.model
    return {
        "name": model.name,
        "type": "iaas",
        "controller": rows.controller,
        "cloud": model.cloud,
        "region": model.region,
        "version": JUJU_VERSION,
        "model-status": _status(rows.status(StatusKind.MODEL, model.name, "available")),
        "sla": "unsupported",
    }


# --- machines ---------------------------------------------------------------------------------------------


def _machines(rows: _Model, parent: str | None) -> dict[str, Any]:
    return {machine.id: _machine(rows, machine) for machine in rows.contained.get(parent, ())}


def silent(machine: Machine, now: datetime) -> bool:
    """Tell whether a machine did not answer for so long that it counts as down."""
    if machine.unreachable_since is None:
        return False
    return now - from_iso(machine.unreachable_since) >= timedelta(seconds=LOST_AFTER_S)


def _machine(rows: _Model, machine: Machine) -> dict[str, Any]:
    agent = rows.status(StatusKind.MACHINE, machine.id, MachineStatus.PENDING)
    if agent.status not in (MachineStatus.PENDING, MachineStatus.STOPPED) and silent(machine, rows.now):
        agent = StatusInfo(status=MachineStatus.DOWN, message=NOT_COMMUNICATING, since=agent.since)
    found: dict[str, Any] = {"juju-status": _status(agent, version=True, life=machine.life)}
    addresses = _addresses(machine)
    optional = {
        "hostname": machine.hostname,
        "dns-name": network.public_address(machine) if machine.instance_id else "",
        "ip-addresses": addresses,
        "instance-id": machine.instance_id or "pending",
        "display-name": machine.display_name,
    }
    found.update({key: value for key, value in optional.items() if value})
    found["machine-status"] = _status(rows.status(StatusKind.INSTANCE, machine.id, "pending"))
    found["modification-status"] = {"current": "idle", "since": from_iso(machine.created)}
    found["base"] = _base(machine.base)
    rest = {
        "network-interfaces": _interfaces(machine),
        "containers": _machines(rows, machine.id),
        "constraints": constraints.render(machine.constraints),
        "hardware": _hardware(machine),
    }
    found.update({key: value for key, value in rest.items() if value})
    return found


def _addresses(machine: Machine) -> list[str]:
    return [str(item["value"]) for item in machine.addresses]


def _interfaces(machine: Machine) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for item in machine.addresses:
        nic = found.setdefault(
            item["nic"],
            {"ip-addresses": [], "mac-address": item["mac"], "space": network.ALPHA, "is-up": True},
        )
        nic["ip-addresses"].append(item["value"])
    return dict(sorted(found.items(), key=lambda pair: natural_key(pair[0])))


def _hardware(machine: Machine) -> str:
    known = machine.hardware
    return " ".join(f"{key}={known[key]}" for key in _HARDWARE_ORDER if known.get(key))


# --- applications -----------------------------------------------------------------------------------------


def _application(rows: _Model, app: Application) -> dict[str, Any]:
    charm = rows.charms[app.charm_url]
    found: dict[str, Any] = {
        "charm": app.charm_url,
        "base": _base(app.base),
        "charm-origin": app.charm_url.partition(":")[0],
        "charm-name": charm.name,
        "charm-rev": int(app.charm_url.rpartition("-")[2]),
    }
    if charm.version:
        found["charm-version"] = charm.version
    found["exposed"] = bool(app.exposed)
    if app.life != Life.ALIVE:
        found["life"] = app.life
    found["application-status"] = _status(_application_status(rows, app))
    rest = {
        "relations": _relations(rows, app),
        "subordinate-to": _principals(rows, app),
        "units": {} if app.subordinate else _units(rows, app),
        "version": app.workload_version,
    }
    found.update({key: value for key, value in rest.items() if value})
    return found


def _application_status(rows: _Model, app: Application) -> StatusInfo:
    own = rows.status(StatusKind.APPLICATION, app.name, Workload.UNSET)
    if own.status != Workload.UNSET:
        return own
    mine = sorted(rows.units.get(app.name, ()), key=lambda unit: unit.name)
    return derive_application_status(_shown(rows, unit)[0] for unit in mine)


def _relations(rows: _Model, app: Application) -> dict[str, Any]:
    found: dict[str, list[dict[str, str]]] = {}
    for relation_id, sides in rows.sides.items():
        own = next((side for side in sides if side.application == app.name), None)
        if own is None:
            continue
        other = remote_endpoint(sides, app.name)
        entry = {
            "related-application": other.application,
            "interface": own.interface,
            "scope": rows.relations[relation_id].scope,
        }
        found.setdefault(own.endpoint, []).append(entry)
    for entries in found.values():
        entries.sort(key=lambda entry: entry["related-application"])
    return dict(sorted(found.items()))


def _principals(rows: _Model, app: Application) -> list[str]:
    if not app.subordinate:
        return []
    found = set()
    for relation_id, sides in rows.sides.items():
        if rows.relations[relation_id].scope == "container" and any(
            side.application == app.name for side in sides
        ):
            found |= {side.application for side in sides if side.application != app.name}
    return sorted(found)


# --- units ------------------------------------------------------------------------------------------------


def _units(rows: _Model, app: Application) -> dict[str, Any]:
    mine = rows.units.get(app.name, ())
    return {unit.name: _unit(rows, unit, app) for unit in mine if not unit.principal}


def _shown(rows: _Model, unit: Unit) -> tuple[StatusInfo, StatusInfo]:
    """Return (workload, agent) as people see them."""
    workload, agent = statuses.shown_unit(
        rows.status(StatusKind.WORKLOAD, unit.name),
        rows.status(StatusKind.AGENT, unit.name, Agent.ALLOCATING),
    )
    machine = rows.machine(unit.machine)
    if machine is None or not silent(machine, rows.now) or not _can_be_lost(workload, agent):
        return workload, agent
    lost = StatusInfo(status=Agent.LOST, message=NOT_COMMUNICATING, since=agent.since)
    if workload.status in (Workload.ERROR, Workload.TERMINATED):
        return workload, lost
    text = f"agent lost, see 'juju show-status-log {unit.name}'"
    return StatusInfo(status=Workload.UNKNOWN, message=text, since=workload.since), lost


def _can_be_lost(workload: StatusInfo, agent: StatusInfo) -> bool:
    """Mirrors: juju apiserver/common/unitstatus.go (3.6)."""
    if agent.status == Agent.ALLOCATING:
        return False
    if agent.status == Agent.EXECUTING:
        return agent.message != "running install hook"
    beginning = (
        (Workload.MAINTENANCE, INSTALLING_CHARM),
        (Workload.WAITING, AGENT_INITIALISING),
    )
    return (workload.status, workload.message) not in beginning


def _error_text(rows: _Model, unit: Unit, workload: StatusInfo) -> StatusInfo:
    """Name the other application's endpoint when the hook of a relation failed; a peer relation has none.

    Mirrors: juju cmd/juju/status/formatter.go updateUnitStatusInfo (3.6)
    """
    if workload.status != Workload.ERROR or workload.data.get("relation-id") is None:
        return workload
    sides = rows.sides.get(int(workload.data["relation-id"]), ())
    other = next((side for side in sides if side.application != unit.application), None)
    if other is None:
        return workload
    message = f"{workload.message} for {other.application}:{other.endpoint}"
    return StatusInfo(status=workload.status, message=message, data=workload.data, since=workload.since)


def _unit(rows: _Model, unit: Unit, app: Application) -> dict[str, Any]:
    workload, agent = _shown(rows, unit)
    found: dict[str, Any] = {
        "workload-status": _status(_error_text(rows, unit, workload)),
        "juju-status": _status(agent, version=agent.status != Agent.ALLOCATING, life=unit.life),
    }
    machine = rows.machine(unit.machine)
    optional = {
        "leader": rows.leaders.get(unit.application) == unit.name,
        "upgrading-from": unit.charm_url if unit.charm_url and unit.charm_url != app.charm_url else "",
        "machine": unit.machine if not unit.principal else "",
        "open-ports": open_ports(rows.ports.get(unit.name, [])),
        "public-address": network.public_address(machine) if machine and machine.instance_id else "",
        "subordinates": _subordinates(rows, unit),
    }
    found.update({key: value for key, value in optional.items() if value})
    return found


def open_ports(ports: list[Port]) -> list[str]:
    """Return what a unit has open, whatever the endpoint: sorted by protocol, then number."""
    ranges = {PortRange(port.protocol, port.from_port, port.to_port) for port in ports}
    return [str(item) for item in sorted(ranges)]


def _subordinates(rows: _Model, unit: Unit) -> dict[str, Any]:
    mine = rows.subordinates.get(unit.name, ())
    return {other.name: _unit(rows, other, rows.applications[other.application]) for other in mine}
