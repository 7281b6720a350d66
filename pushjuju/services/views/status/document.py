"""Builds the document of `status`, from which all output formats are made.

Keys and their order are those of `juju status --format json`. The caller's `moment` decides about times:
aware datetimes, or formatted texts. To be fast with thousands of units, the rows of `status_rows` become
dicts in one pass.
Mirrors: juju apiserver/facades/client/client/status.go, cmd/juju/status/formatted.go (3.6)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from pushjuju import JUJU_VERSION
from pushjuju.charms.format.url import name_in
from pushjuju.core import constraints
from pushjuju.core.base import Base
from pushjuju.core.clock import from_iso
from pushjuju.core.errors import InstanceGone
from pushjuju.core.model.ports import text
from pushjuju.core.status import (
    MODEL_SUSPENDED,
    NOT_COMMUNICATING,
    Agent,
    InstanceStatus,
    MachineStatus,
    StatusKind,
    Workload,
    is_beginning,
    is_installing,
    most_severe,
)
from pushjuju.portable.natural import natural_key
from pushjuju.services.entities.basis import network
from pushjuju.services.views.status import status_filter, status_part, status_rows
from pushjuju.services.views.status.status_rows import (
    ApplicationRow,
    MachineRow,
    Moment,
    Rows,
    Seen,
    Side,
    UnitRow,
)

if TYPE_CHECKING:
    from pushjuju.services.entities.basis.context import Context
    from pushjuju.services.views.status.status_part import Part
    from pushjuju.store.rows.records import Model, Port
    from pushjuju.store.tx import ModelTx

LOST_AFTER_S = 60.0  # seconds without contact after which a machine is down and its units are lost
ALIVE = "alive"
_HARDWARE_ORDER = (
    "arch", "cores", "cpu-power", "mem", "root-disk", "root-disk-source", "tags", "availability-zone",
    "virt-type",
)  # fmt: skip
_UNUSABLE = "why"  # equals `machine_work.UNUSABLE`; importing that module would make `status` slower
_UNKNOWN = Seen(str(Workload.UNKNOWN))
_PENDING = Seen(str(MachineStatus.PENDING))
_ALLOCATING = Seen(str(Agent.ALLOCATING))


def document(
    ctx: Context, model: Model, moment: Moment = from_iso, patterns: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the status of a model.

    Args:
        moment: Converts a time from the store's text to the document's form.
        patterns: Patterns with which the caller filters the document; what they do not keep may be missing.
    """
    with ctx.read(model.uuid) as tx:
        part = status_part.find(tx, patterns) if patterns else None
        rows = status_rows.read(ctx, tx, model, moment, part)
        others = other_models(tx, rows, moment)  # before the applications: it takes relations out of the rows
        found = {
            "model": _model(rows),
            "machines": _machines(rows, None),
            "applications": {name: _application(rows, app) for name, app in rows.applications.items()},
            **others,
            "storage": storage(tx, moment, part),
            "controller": {"timestamp": rows.now},
        }
        if patterns:
            found["applications"] = _of_kept(tx, rows, found, patterns)
    return found


def _of_kept(tx: ModelTx, rows: Rows, found: Mapping[str, Any], patterns: Sequence[str]) -> dict[str, object]:
    """Return the applications with the statuses and versions that come from the units that patterns keep."""
    kept = status_filter.select(found, patterns)
    fewer = status_rows.narrowed(tx, rows, kept.applications, kept.units)
    changed = {
        name: {**_application(fewer, app), "units": found["applications"][name].get("units", {})}
        for name, app in fewer.applications.items()
        if fewer.units.get(name) is not rows.units.get(name)
    }
    return {**found["applications"], **changed}


def storage(tx: ModelTx, moment: Moment, part: Part | None = None) -> dict[str, object]:
    """Return the section about storage; a model without storage costs one query and no import.

    Args:
        part: The part of the model that is shown, whose storage must be there; None for all.
    """
    if not tx.scalar("storage_any") or (part is not None and not status_part.has_storage(tx, part)):
        return {}
    from pushjuju.services.views.status.storage_document import combined  # many models have no storage

    return combined(tx, moment)


def other_models(tx: ModelTx, rows: Rows, moment: Moment) -> dict[str, Any]:
    """Return the sections about other models, and remove relations of consumers of offers from the rows."""
    if not tx.scalar("crossmodel_any"):
        return {}
    from pushjuju.services.views import offer_documents  # most models have no offers

    hidden = offer_documents.proxies(tx)
    for name, ties in rows.sides_of.items() if hidden else ():
        rows.sides_of[name] = [sides for sides in ties if not hidden & {side.application for side in sides}]
    return offer_documents.sections(tx, moment)


def _status(seen: Seen, *, version: bool = False, life: str = ALIVE) -> dict[str, object]:
    found: dict[str, object] = {"current": seen.status}
    if seen.message:
        found["message"] = seen.message
    if seen.since:
        found["since"] = seen.since
    if version:
        found["version"] = JUJU_VERSION
    if life != ALIVE:
        found["life"] = life
    return found


@cache
def _base_parts(text: str) -> tuple[str, str]:
    base = Base.parse(text)
    return base.os, base.channel


def _base(text: str) -> dict[str, str]:
    name, channel = _base_parts(text)
    return {"name": name, "channel": channel}


def seen_status(rows: Rows, kind: StatusKind, entity: str, default: Seen) -> Seen:
    """Return the status of an entity, or the default when none is stored."""
    return rows.statuses.get(kind, {}).get(entity, default)


# --- model ------------------------------------------------------------------------------------------------


def _model(rows: Rows) -> dict[str, object]:
    model = rows.model
    return {
        "name": model.name,
        "type": "iaas",
        "controller": rows.controller,
        "cloud": model.cloud,
        "region": model.region,
        "version": JUJU_VERSION,
        "model-status": _model_status(seen_status(rows, StatusKind.MODEL, model.name, Seen("available"))),
        "sla": "unsupported",
    }


def _model_status(seen: Seen) -> dict[str, object]:
    found = _status(seen)
    if seen.status == MODEL_SUSPENDED and (reason := seen.data.get("reason")):
        found = {"current": seen.status, "message": seen.message, "reason": reason, **found}
    return found


# --- machines ---------------------------------------------------------------------------------------------


def _machines(rows: Rows, parent: str | None) -> dict[str, object]:
    return {machine.id: _machine(rows, machine) for machine in rows.contained.get(parent, ())}


def machine_agent(rows: Rows, machine: MachineRow) -> Seen:
    """Return the status of a machine's agent as users see it: `down` when the machine is not reachable."""
    agent = seen_status(rows, StatusKind.MACHINE, machine.id, _PENDING)
    if agent.status in (MachineStatus.PENDING, MachineStatus.STOPPED) or not _silent(rows, machine):
        return agent
    return Seen(str(MachineStatus.DOWN), NOT_COMMUNICATING, since=agent.since)


def _silent(rows: Rows, machine: MachineRow) -> bool:
    """Return True when a machine counts as down: stopped, deleted in its cloud, or long unreachable."""
    seen = seen_status(rows, StatusKind.INSTANCE, machine.id, _PENDING)
    if seen.status == InstanceStatus.STOPPED:
        return True
    if seen.status == InstanceStatus.UNKNOWN and seen.data.get("code") == InstanceGone.code:
        return True
    if machine.unreachable_since is None:
        return False
    return rows.now - from_iso(machine.unreachable_since) >= timedelta(seconds=LOST_AFTER_S)


def _machine(rows: Rows, machine: MachineRow) -> dict[str, object]:
    found: dict[str, Any] = {
        "juju-status": _status(machine_agent(rows, machine), version=True, life=machine.life)
    }
    if machine.hostname:
        found["hostname"] = machine.hostname
    if machine.dns and machine.instance_id:
        found["dns-name"] = machine.dns
    if machine.addresses:
        found["ip-addresses"] = [str(item["value"]) for item in machine.addresses]
    found["instance-id"] = machine.instance_id or "pending"
    if machine.display_name:
        found["display-name"] = machine.display_name
    found["machine-status"] = _status(machine_instance(rows, machine))
    found["modification-status"] = _status(machine_modification(rows, machine))
    profiles, _ = rows.profiles.get(machine.id, ({}, ""))
    found["base"] = _base(machine.base)
    if machine.addresses:
        found["network-interfaces"] = interfaces(rows, machine)
    if machine.id in rows.contained:
        found["containers"] = _machines(rows, machine.id)
    if machine.constraints and (text := constraints.render(machine.constraints)):
        found["constraints"] = text
    if hardware := hardware_text(machine.hardware):
        found["hardware"] = hardware
    if profiles:
        found["lxd-profiles"] = profiles
    return found


def machine_modification(rows: Rows, machine: MachineRow) -> Seen:
    """Return whether the LXD profiles and the firewall rules of a machine are in force."""
    profiles, not_applied = rows.profiles.get(machine.id, ({}, ""))
    if problem := not_applied or rows.unguarded.get(machine.id):
        return Seen("error", problem, since=machine.created)
    return Seen("applied" if profiles else "idle", since=machine.created)


def machine_instance(rows: Rows, machine: MachineRow) -> Seen:
    """Return an instance's status; a failure's message also has its time and the process that works on it."""
    seen = seen_status(rows, StatusKind.INSTANCE, machine.id, _PENDING)
    if machine.id not in rows.failing:
        return seen
    if machine.instance_id and not machine.unreachable_since and _UNUSABLE not in seen.data:
        return seen
    return _with_next(rows, seen, machine.id)


def _with_next(rows: Rows, seen: Seen, machine: str) -> Seen:
    """Add the time of a failure, and the process that works on the machine, to the message."""
    since = seen.since  # a text when the caller formats times
    if isinstance(since, datetime):
        since = f"{since:%Y-%m-%d %H:%M:%SZ}"
    since = f"since {since}" if since else ""
    return seen._replace(
        message="; ".join(text for text in (seen.message, since, rows.failing[machine]) if text)
    )


def interfaces(rows: Rows, machine: MachineRow) -> dict[str, object]:
    """Return name -> network interface of a machine."""
    found: dict[str, Any] = {}
    for item in machine.addresses:
        nic = found.get(item["nic"])
        if nic is None:
            nic = found[item["nic"]] = {
                "ip-addresses": [],
                "mac-address": item["mac"],
                **({"gateway": item["gateway"]} if "gateway" in item else {}),
                "space": "",
                "is-up": True,
            }
        nic["ip-addresses"].append(item["value"])
        space = rows.spaces.get(item.get("space", network.ALPHA_ID), "")
        if space not in nic["space"].split():
            nic["space"] = f"{nic['space']} {space}".strip()
    return dict(sorted(found.items(), key=lambda pair: natural_key(pair[0])))


def hardware_text(known: Mapping[str, Any]) -> str:
    """Return the hardware of a machine as one line."""
    return " ".join([f"{key}={known[key]}" for key in _HARDWARE_ORDER if known.get(key)])


# --- applications -----------------------------------------------------------------------------------------


def _application(rows: Rows, app: ApplicationRow) -> dict[str, object]:
    charm, name = rows.charms[app.charm_url], name_in(app.charm_url)
    found: dict[str, object] = {
        "charm": app.charm_url if app.charm_url.startswith("local:") else name,
        "base": _base(app.base),
        "charm-origin": "local" if app.charm_url.startswith("local:") else "charmhub",
        "charm-name": name,
        "charm-rev": int(app.charm_url.rpartition("-")[2]),
    }
    origin = rows.origins.get(app.name)
    if origin is not None:
        found["charm-channel"] = origin.channel
    if charm.version:
        found["charm-version"] = charm.version
    if origin is not None and origin.latest_url:
        found["can-upgrade-to"] = origin.latest_url
    found["exposed"] = app.exposed
    if app.life != ALIVE:
        found["life"] = app.life
    found["application-status"] = _status(shown_application(rows, app))
    rest = {
        "relations": _relations(rows, app),
        "subordinate-to": principals(rows, app),
        "units": {} if app.subordinate else _units(rows, app),
        "version": app.workload_version,
        "endpoint-bindings": _bindings(rows, app),
    }
    found.update({key: value for key, value in rest.items() if value})
    return found


def _bindings(rows: Rows, app: ApplicationRow) -> dict[str, str]:
    """Return endpoint -> name of its space; empty when all endpoints are in alpha."""
    found = {endpoint: rows.spaces.get(space, "") for endpoint, space in rows.bindings.get(app.name, ())}
    return found if set(found.values()) - {network.ALPHA} else {}


def shown_application(rows: Rows, app: ApplicationRow) -> Seen:
    """Return the status of an application as users see it: set by the leader, or the worst of its units."""
    own = seen_status(rows, StatusKind.APPLICATION, app.name, Seen(str(Workload.UNSET)))
    if own.status != Workload.UNSET:
        return own
    mine = sorted(rows.units.get(app.name, ()), key=lambda unit: unit.name)
    shown = [shown_unit(rows, unit)[0] for unit in mine]
    worst = most_severe(seen.status for seen in shown)
    return _UNKNOWN if worst is None else shown[worst]


def _relations(rows: Rows, app: ApplicationRow) -> dict[str, object]:
    found: dict[str, list[dict[str, str]]] = {}
    for sides in rows.sides_of.get(app.name, ()):
        own = next(side for side in sides if side.application == app.name)
        other = next((side for side in sides if side.application != app.name), sides[0])
        entry = {"related-application": other.application, "interface": own.interface, "scope": own.scope}
        found.setdefault(own.endpoint, []).append(entry)
    for entries in found.values():
        entries.sort(key=lambda entry: entry["related-application"])
    return dict(sorted(found.items()))


def principals(rows: Rows, app: ApplicationRow) -> list[str]:
    """Return the principal applications that a subordinate is related to in container scope."""
    if not app.subordinate:
        return []
    contained = (sides for sides in rows.sides_of.get(app.name, ()) if sides[0].scope == "container")
    return sorted({side.application for sides in contained for side in sides} - {app.name})


# --- units ------------------------------------------------------------------------------------------------


def _units(rows: Rows, app: ApplicationRow) -> dict[str, object]:
    mine, part = rows.units.get(app.name, ()), rows.part
    if part is not None:
        mine = [unit for unit in mine if part.keeps(unit.machine or "")]
    return {unit.name: _unit(rows, unit, app) for unit in mine if not unit.principal}


def shown_unit(rows: Rows, unit: UnitRow) -> tuple[Seen, Seen]:
    """Return (workload, agent) as users see them.

    Mirrors: juju apiserver/common/unitstatus.go (3.6)
    """
    if (found := rows.shown.get(unit.name)) is None:  # an application asks for its units, too
        found = rows.shown[unit.name] = _shown_unit(rows, unit)
    return found


def _shown_unit(rows: Rows, unit: UnitRow) -> tuple[Seen, Seen]:
    workload = seen_status(rows, StatusKind.WORKLOAD, unit.name, _UNKNOWN)
    agent = seen_status(rows, StatusKind.AGENT, unit.name, _ALLOCATING)
    if agent.status == Agent.ERROR:  # the same rule as in `statuses.shown_unit`
        workload, agent = agent, Seen(str(Agent.IDLE), since=agent.since)
    elif agent.status == Agent.IDLE and agent.message:
        workload = Seen(str(Workload.WAITING), agent.message, since=agent.since)
        agent = Seen(str(Agent.IDLE), since=agent.since)
    machine = rows.machines.get(unit.machine or "")
    if machine is None:
        return workload, agent
    if agent.status == Agent.FAILED and machine.unreachable_since is None and machine.id in rows.failing:
        agent = _with_next(rows, agent, machine.id)
    if not _silent(rows, machine) or not _can_be_lost(workload, agent):
        return workload, agent
    lost = Seen(str(Agent.LOST), NOT_COMMUNICATING, since=agent.since)
    if workload.status in (Workload.ERROR, Workload.TERMINATED):
        return workload, lost
    text = f"agent lost, see 'pushjuju show-status-log {unit.name}'"
    return Seen(str(Workload.UNKNOWN), text, since=workload.since), lost


def _can_be_lost(workload: Seen, agent: Seen) -> bool:
    """Return False for a unit that is being installed. Mirrors: juju apiserver/common/unitstatus.go (3.6)"""
    if agent.status == Agent.ALLOCATING:
        return False
    if agent.status == Agent.EXECUTING:
        return not is_installing(agent.message)
    return not is_beginning(workload.status, workload.message)


def _error_text(rows: Rows, unit: UnitRow, workload: Seen) -> Seen:
    """Add the remote endpoint to the error of a relation hook, except for peer relations.

    Mirrors: juju cmd/juju/status/formatter.go updateUnitStatusInfo (3.6)
    """
    if workload.status != Workload.ERROR:
        return workload
    relation = workload.data.get("relation-id")
    sides: Iterable[Side] = () if relation is None else rows.sides.get(int(relation), ())
    other = next((side for side in sides if side.application != unit.application), None)
    if other is None:
        return workload
    return workload._replace(message=f"{workload.message} for {other.application}:{other.endpoint}")


def _unit(rows: Rows, unit: UnitRow, app: ApplicationRow) -> dict[str, object]:
    workload, agent = shown_unit(rows, unit)
    found: dict[str, object] = {
        "workload-status": _status(_error_text(rows, unit, workload)),
        "juju-status": _status(agent, version=agent.status != Agent.ALLOCATING, life=unit.life),
    }
    if rows.leaders.get(unit.application) == unit.name:
        found["leader"] = True
    if unit.charm_url and unit.charm_url != app.charm_url:
        found["upgrading-from"] = unit.charm_url
    if unit.machine and not unit.principal:
        found["machine"] = unit.machine
    if unit.name in rows.ports:
        found["open-ports"] = _ports(rows.ports[unit.name])
    machine = rows.machines.get(unit.machine or "")
    if machine is not None and machine.dns and machine.instance_id:
        found["public-address"] = machine.dns
    if unit.name in rows.subordinates:
        found["subordinates"] = _subordinates(rows, unit)
    return found


def _ports(ranges: Iterable[tuple[str, int, int]]) -> list[str]:
    return [text(*item) for item in ranges]


def open_ports(ports: Iterable[Port]) -> list[str]:
    """Return the open port ranges of a unit on all endpoints, sorted by protocol and number."""
    return _ports(sorted({(port.protocol, port.from_port, port.to_port) for port in ports}))


def _subordinates(rows: Rows, unit: UnitRow) -> dict[str, object]:
    mine = rows.subordinates[unit.name]
    return {other.name: _unit(rows, other, rows.applications[other.application]) for other in mine}
