"""FullStatus: the status of a model as Juju's clients get it, made of the rows that `status` shows.

Mirrors: juju apiserver/facades/client/client/status.go, rpc/params/status.go (3.6)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from typing import Any, NamedTuple

from pushjuju import JUJU_VERSION
from pushjuju.core import constraints
from pushjuju.core.base import Base
from pushjuju.core.model.offerurl import parse
from pushjuju.core.model.ports import text
from pushjuju.core.status import StatusKind
from pushjuju.services.entities.basis import network
from pushjuju.services.views.status import document
from pushjuju.services.views.status.status_rows import ApplicationRow, MachineRow, Rows, Seen, UnitRow
from pushjuju.web.times import text as moment_text


class Kept(NamedTuple):
    """The entities that match the patterns of a request; in place of `Kept`, None stands for all entities."""

    machines: Collection[str]
    applications: Set[str]
    units: Collection[str]


def full_status(
    rows: Rows,
    joined: dict[int, Seen],
    others: Mapping[str, Any],
    exposed: Mapping[str, Any],
    versions: Mapping[str, str],
    kept: Kept | None = None,
) -> dict[str, object]:
    """Return the answer of FullStatus.

    Args:
        rows: The model, with times as texts.
        joined: Relation -> its status.
        others: Offers and consumed offers, from `document.other_models`.
        exposed: Application -> its exposed endpoints, from `application_documents.exposures`.
        versions: Unit -> the version of its workload, where it has set one.
        kept: The entities that match the patterns, or None for all.
    """
    return {
        "model": _model(rows),
        "machines": {
            item.id: _machine(rows, item)
            for item in rows.contained.get(None, ())
            if kept is None or item.id in kept.machines
        },
        "applications": {
            name: {**_application(rows, app, versions, kept), **_exposed(app, exposed)}
            for name, app in rows.applications.items()
            if kept is None or name in kept.applications
        },
        "remote-applications": {
            name: _remote(item) for name, item in others.get("application-endpoints", {}).items()
        },
        "offers": {name: _offer(name, item) for name, item in others.get("offers", {}).items()},
        "relations": _relations(rows, joined),
        "branches": {},
        "controller-timestamp": moment_text(rows.now),
    }


def _remote(item: Mapping[str, Any]) -> dict[str, object]:
    """Return a consumed offer (SAAS) in the form of the wire."""
    shown = item["application-status"]
    seen = Seen(shown["current"], shown.get("message", ""), since=shown.get("since"))
    return {
        "offer-url": item["url"],
        "offer-name": parse(item["url"]).offer,
        "endpoints": list(_ends(item.get("endpoints", {})).values()),
        "life": item.get("life", ""),
        "relations": item.get("relations", {}),
        "status": detailed(seen),
    }


def _offer(name: str, item: Mapping[str, Any]) -> dict[str, object]:
    """Return an offer of the model in the form of the wire."""
    return {
        "offer-name": name,
        "application-name": item["application"],
        "charm": item["charm"],
        "endpoints": _ends(item["endpoints"]),
        "active-connected-count": item.get("active-connected-count", 0),
        "total-connected-count": item.get("total-connected-count", 0),
    }


def _ends(endpoints: Mapping[str, Any]) -> dict[str, dict[str, object]]:
    return {name: {"name": name, "limit": 0, **end} for name, end in endpoints.items()}


def detailed(seen: Seen, *, life: str = document.ALIVE, version: bool = False) -> dict[str, object]:
    """Return a status in the form of the wire."""
    return {
        "status": seen.status,
        "info": seen.message,
        "data": seen.data,
        "since": seen.since,
        "kind": "",
        "version": JUJU_VERSION if version else "",
        "life": "" if life == document.ALIVE else life,
    }


def _base(name: str) -> dict[str, str]:
    base = Base.parse(name)
    return {"name": base.os, "channel": base.channel}


def _model(rows: Rows) -> dict[str, object]:
    model = rows.model
    seen = document.seen_status(rows, StatusKind.MODEL, model.name, Seen("available"))
    return {
        "name": model.name,
        "type": "iaas",
        "cloud-tag": f"cloud-{model.cloud}",
        "region": model.region,
        "version": JUJU_VERSION,
        "available-version": "",
        "model-status": detailed(seen, life=model.life),
        "meter-status": {"color": "", "message": ""},
        "sla": "unsupported",
    }


def _machine(rows: Rows, machine: MachineRow) -> dict[str, object]:
    return {
        "id": machine.id,
        "agent-status": detailed(document.machine_agent(rows, machine), life=machine.life, version=True),
        "instance-status": detailed(document.machine_instance(rows, machine)),
        "modification-status": detailed(document.machine_modification(rows, machine)),
        "hostname": machine.hostname,
        "dns-name": machine.dns if machine.instance_id else "",
        "ip-addresses": [str(item["value"]) for item in machine.addresses],
        "instance-id": machine.instance_id or "pending",
        "display-name": machine.display_name,
        "base": _base(machine.base),
        "network-interfaces": document.interfaces(rows, machine) if machine.addresses else {},
        "containers": {item.id: _machine(rows, item) for item in rows.contained.get(machine.id, ())},
        "constraints": constraints.render(machine.constraints) if machine.constraints else "",
        "hardware": document.hardware_text(machine.hardware),
        "jobs": ["JobHostUnits"],
        "has-vote": False,
        "wants-vote": False,
        "lxd-profiles": rows.profiles.get(machine.id, ({}, ""))[0],
    }


def _application(
    rows: Rows, app: ApplicationRow, versions: Mapping[str, str], kept: Kept | None
) -> dict[str, object]:
    charm, origin = rows.charms[app.charm_url], rows.origins.get(app.name)
    found: dict[str, object] = {
        "charm": app.charm_url,
        "charm-version": charm.version,
        "charm-profile": "",
        "charm-channel": origin.channel if origin else "",
        "charm-rev": int(app.charm_url.rpartition("-")[2]),
        "base": _base(app.base),
        "exposed": app.exposed,
        "life": "" if app.life == document.ALIVE else app.life,
        "relations": _related(rows, app),
        "can-upgrade-to": origin.latest_url if origin else "",
        "subordinate-to": document.principals(rows, app),
        "units": None if app.subordinate else _units(rows, app, versions, kept),
        "meter-statuses": {},
        "status": detailed(document.shown_application(rows, app)),
        "workload-version": app.workload_version,
        "endpoint-bindings": _bindings(rows, app),
        "public-address": "",
    }
    return found


def _exposed(app: ApplicationRow, exposed: Mapping[str, Any]) -> dict[str, object]:
    return {"exposed-endpoints": exposed.get(app.name, {})} if app.exposed else {}


def _bindings(rows: Rows, app: ApplicationRow) -> dict[str, str]:
    own = {endpoint: rows.spaces.get(space, "") for endpoint, space in rows.bindings.get(app.name, ())}
    return {"": network.ALPHA, **own}


def _related(rows: Rows, app: ApplicationRow) -> dict[str, list[str]]:
    """Return endpoint -> the related applications."""
    found: dict[str, list[str]] = {}
    for sides in rows.sides_of.get(app.name, ()):
        own = next(side for side in sides if side.application == app.name)
        other = next((side for side in sides if side.application != app.name), sides[0])
        found.setdefault(own.endpoint, []).append(other.application)
    return {endpoint: sorted(names) for endpoint, names in found.items()}


def _units(
    rows: Rows, app: ApplicationRow, versions: Mapping[str, str], kept: Kept | None
) -> dict[str, object]:
    return {
        unit.name: _unit(rows, unit, app, versions)
        for unit in rows.units.get(app.name, ())
        if not unit.principal and (kept is None or unit.name in kept.units)
    }


def _unit(rows: Rows, unit: UnitRow, app: ApplicationRow, versions: Mapping[str, str]) -> dict[str, object]:
    workload, agent = document.shown_unit(rows, unit)
    machine = rows.machines.get(unit.machine or "")
    found: dict[str, object] = {
        "agent-status": detailed(agent, life=unit.life, version=True),
        "workload-status": detailed(workload),
        "workload-version": versions.get(unit.name, ""),
        "machine": unit.machine or "" if not unit.principal else "",
        "opened-ports": [text(*item) for item in rows.ports.get(unit.name, ())],
        "public-address": machine.dns if machine and machine.instance_id else "",
        "charm": unit.charm_url if unit.charm_url and unit.charm_url != app.charm_url else "",
        "subordinates": {
            other.name: _unit(rows, other, rows.applications[other.application], versions)
            for other in rows.subordinates.get(unit.name, ())
        },
    }
    if rows.leaders.get(unit.application) == unit.name:
        found["leader"] = True
    return found


def _relations(rows: Rows, joined: dict[int, Seen]) -> list[dict[str, object]]:
    shown = {side.relation for ties in rows.sides_of.values() for sides in ties for side in sides}
    found = []
    for number, sides in ((number, sides) for number, sides in rows.sides.items() if number in shown):
        ends = sorted(sides, key=lambda side: side.role != "requirer")
        found.append(
            {
                "id": number,
                "key": " ".join(f"{side.application}:{side.endpoint}" for side in ends),
                "interface": ends[0].interface,
                "scope": ends[0].scope,
                "endpoints": [_end(rows, side.application, side.endpoint, side.role) for side in ends],
                "status": detailed(joined.get(number, Seen("joining"))),
            }
        )
    return found


def _end(rows: Rows, application: str, endpoint: str, role: str) -> dict[str, object]:
    app = rows.applications.get(application)
    subordinate = app is not None and app.subordinate
    return {"application": application, "name": endpoint, "role": role, "subordinate": subordinate}
