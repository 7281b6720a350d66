"""All entities of a model in the form of Juju's AllWatcher: (kind, id) -> fields as on the wire.

One read of the model makes the whole picture; a watcher reports the difference between two pictures.
Mirrors: juju core/multiwatcher/types.go, rpc/params/multiwatcher.go (3.6)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from pushjuju import JUJU_VERSION
from pushjuju.charms.format.url import name_in
from pushjuju.core.base import Base
from pushjuju.core.clock import to_iso
from pushjuju.core.constraints import of_hardware
from pushjuju.core.status import StatusKind
from pushjuju.core.values import dataclass
from pushjuju.services.entities.basis import annotations as notes
from pushjuju.services.entities.basis import network
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.charm import charms
from pushjuju.services.entities.model import constraints, model_config, models
from pushjuju.services.views.status import document, status_rows
from pushjuju.services.views.status.status_rows import ApplicationRow, MachineRow, Rows, Seen, UnitRow
from pushjuju.store.rows import records

if TYPE_CHECKING:
    from pushjuju.store.tx import ModelTx

Picture = dict[tuple[str, str], dict[str, object]]
"""(kind, id) -> entity, in the order in which Juju sends them."""

_NEVER = "0001-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The data for watchers that the rows of status do not have, of all or of the changed entities."""

    charms: Sequence[records.CharmRecord] = ()
    applications: Mapping[str, records.Application] = field(default_factory=dict)
    relations: Sequence[records.Relation] = ()
    sides: Sequence[records.RelationEndpoint] = ()
    tasks: Sequence[records.Task] = ()
    model: bool = True  # True to include the model itself
    others: bool = True  # True to include consumed applications and offers
    notes: bool = True  # True to include annotations
    blocks: bool = True  # True to include disabled commands


def picture(ctx: Context, model: str) -> Picture:
    """Return all entities of a model; empty when the model was removed."""
    with ctx.read(model) as tx:
        found = models.find_in(tx, model)
        if found is None:
            return {}
        rows = status_rows.read(ctx, tx, found, str)
        return entities(ctx, tx, rows, whole(tx))


def whole(tx: ModelTx) -> Part:
    """Read the data for a whole picture that the rows of status do not have."""
    return Part(
        charms=tx.list(records.CharmRecord, "charm_list"),
        applications={item.name: item for item in tx.list(records.Application, "application_list")},
        relations=tx.list(records.Relation, "relation_list"),
        sides=tx.list(records.RelationEndpoint, "relation_endpoint_list"),
        tasks=tx.list(records.Task, "task_list"),
    )


def entities(ctx: Context, tx: ModelTx, rows: Rows, part: Part) -> Picture:
    """Return the entities of some rows of a model."""
    uuid = str(ctx.controller.settings().get("uuid", ""))
    return {
        (kind, name): {"model-uuid": tx.model, **entity} for kind, name, entity in _all(tx, rows, part, uuid)
    }


def _all(
    tx: ModelTx, rows: Rows, part: Part, controller: str
) -> Iterator[tuple[str, str, dict[str, object]]]:
    if part.model:
        yield "model", rows.model.uuid, _model(tx, rows, controller)
    for charm in part.charms:
        yield "charm", charm.url, _charm(charm)
    for machine in rows.machines.values():
        yield "machine", machine.id, _machine(rows, machine)
    for app in rows.applications.values():
        yield "application", app.name, _application(tx, rows, app, part.applications[app.name])
    for units in rows.units.values():
        for unit in units:
            yield "unit", unit.name, _unit(rows, unit)
    if part.others:
        yield from _other_models(tx, rows)
    yield from _relations(part)
    if part.notes:
        yield from _notes(tx)
    if part.blocks:
        yield from _blocks(tx)
    for task in part.tasks:
        yield "action", str(task.id), _action(task)


def _notes(tx: ModelTx) -> Iterator[tuple[str, str, dict[str, object]]]:
    for kind in notes.Kind:
        for owner, values in notes.of_model(tx, kind).items():
            tag = f"{kind}-{owner.replace('/', '-')}"
            yield "annotation", tag, {"tag": tag, "annotations": values}


def _blocks(tx: ModelTx) -> Iterator[tuple[str, str, dict[str, object]]]:
    for row in tx.rows("block_list"):
        name = row["type"]
        told = {"id": name, "type": name, "message": row["message"], "tag": f"model-{tx.model}"}
        yield "block", name, told


def status_of(seen: Seen, *, version: bool = False) -> dict[str, object]:
    """Return a status in the form of the watcher's deltas."""
    found: dict[str, object] = {
        "current": seen.status,
        "message": seen.message,
        "version": JUJU_VERSION if version else "",
        "data": seen.data,
    }
    if seen.since:
        found["since"] = seen.since
    return found


def _model(tx: ModelTx, rows: Rows, controller: str) -> dict[str, object]:
    model = rows.model
    config = {key: value["value"] for key, value in model_config.effective(tx, {}).items()}
    seen = document.seen_status(rows, StatusKind.MODEL, model.name, Seen("available"))
    return {
        "name": model.name,
        "life": model.life,
        "owner": model.owner,
        "controller-uuid": controller,
        "is-controller": models.is_controller(model),
        "config": config,
        "status": status_of(seen),
        "constraints": constraints.of_model(tx),
        "sla": {"level": "unsupported", "owner": ""},
        "type": "iaas",
        "cloud": model.cloud,
        "cloud-region": model.region,
        "version": JUJU_VERSION,
    }


def _charm(charm: records.CharmRecord) -> dict[str, object]:
    return {
        "charm-url": charm.url,
        "charm-version": str(charm.document.get("version") or ""),
        "life": "alive",
        "profile": None,
    }


def _machine(rows: Rows, machine: MachineRow) -> dict[str, object]:
    _, _, rest = machine.id.partition("/")
    return {
        "id": machine.id,
        "instance-id": machine.instance_id,
        "agent-status": status_of(document.machine_agent(rows, machine), version=True),
        "instance-status": status_of(document.machine_instance(rows, machine)),
        "life": machine.life,
        "base": _base(machine.base),
        "container-type": rest.partition("/")[0],
        "supported-containers": [] if rest else ["lxd"],
        "supported-containers-known": True,
        "hardware-characteristics": _hardware(machine.hardware),
        "jobs": ["JobHostUnits"],
        "addresses": [address(item) for item in machine.addresses],
        "has-vote": False,
        "wants-vote": False,
        "hostname": machine.hostname,
    }


def _hardware(known: Mapping[str, Any]) -> dict[str, object]:
    return {"cpu-cores" if key == "cores" else key: value for key, value in of_hardware(known).items()}


def address(item: Mapping[str, Any]) -> dict[str, object]:
    """Return an address of a machine in the form of the API."""
    value = str(item["value"])
    return {
        "value": value,
        "type": "ipv6" if ":" in value else "ipv4",
        "scope": str(item.get("scope") or "local-cloud"),
        "space-name": network.ALPHA,
    }


def _base(text: str) -> str:
    base = Base.parse(text)
    return f"{base.os}@{base.channel.partition('/')[0]}"


def _application(
    tx: ModelTx, rows: Rows, app: ApplicationRow, known: records.Application
) -> dict[str, object]:
    seen = document.seen_status(rows, StatusKind.APPLICATION, app.name, Seen("unset"))
    return {
        "name": app.name,
        "exposed": app.exposed,
        "charm-url": app.charm_url,
        "owner-tag": f"user-{rows.model.owner}",
        "life": app.life,
        "min-units": 0,
        "constraints": {key: value for key, value in known.constraints.items() if value is not None},
        "config": charms.stored_settings(tx, app.name, app.charm_url),
        "subordinate": app.subordinate,
        "status": status_of(seen),
        "workload-version": app.workload_version,
    }


def _unit(rows: Rows, unit: UnitRow) -> dict[str, object]:
    app = rows.applications[unit.application]
    workload, agent = document.shown_unit(rows, unit)
    machine = rows.machines.get(unit.machine or "")
    placed = machine is not None and bool(machine.instance_id)
    ports = rows.ports.get(unit.name, ())
    return {
        "name": unit.name,
        "application": unit.application,
        "base": _base(machine.base if machine else app.base),
        "charm-url": unit.charm_url or app.charm_url,
        "life": unit.life,
        "public-address": machine.dns if machine and placed else "",
        "private-address": _private(machine) if machine and placed else "",
        "machine-id": unit.machine or "",
        "ports": [{"protocol": protocol, "number": first} for protocol, first, _ in ports],
        "port-ranges": [
            {"from-port": first, "to-port": last, "protocol": protocol} for protocol, first, last in ports
        ],
        "principal": unit.principal or "",
        "subordinate": bool(unit.principal),
        "workload-status": status_of(workload),
        "agent-status": status_of(agent, version=True),
    }


def _private(machine: MachineRow) -> str:
    return network.private(machine.addresses) or machine.dns


def _relations(part: Part) -> Iterator[tuple[str, str, dict[str, object]]]:
    sides: dict[int, list[dict[str, Any]]] = {}
    for side in part.sides:
        sides.setdefault(side.relation, []).append(
            {"application-name": side.application, "relation": _endpoint(side)}
        )
    for relation in part.relations:
        ends = sides.get(relation.id, [])
        for end in ends:
            end["relation"]["scope"] = relation.scope
        yield "relation", str(relation.id), {"key": relation.key, "id": relation.id, "endpoints": ends}


def _endpoint(side: records.RelationEndpoint) -> dict[str, object]:
    return {
        "name": side.endpoint,
        "role": side.role,
        "interface": side.interface,
        "optional": False,
        "limit": side.capacity,
    }


def _other_models(tx: ModelTx, rows: Rows) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the consumed applications and the offers of a model."""
    if not tx.scalar("crossmodel_any"):
        return
    for item in tx.list(records.RemoteApplication, "remote_application_list"):
        if item.url:
            entity = {
                "name": item.name,
                "offer-url": item.url,
                "life": item.life,
                "status": status_of(
                    document.seen_status(rows, StatusKind.APPLICATION, item.name, Seen("unknown"))
                ),
            }
            yield "remoteApplication", item.name, entity
    statuses = status_rows.of_relations(tx)
    for offer in tx.list(records.Offer, "offer_list"):
        app = rows.applications.get(offer.application)
        links = [row["id"] for row in tx.rows("relation_by_offer", offer=offer.uuid)]
        yield "applicationOffer", offer.name, {
            "offer-name": offer.name,
            "offer-uuid": offer.uuid,
            "application-name": offer.application,
            "charm-name": name_in(app.charm_url) if app else "",
            "total-connected-count": len(links),
            "active-connected-count": sum(_is_joined(statuses.get(number)) for number in links),
        }  # fmt: skip


def _is_joined(seen: Seen | None) -> bool:
    return seen is not None and seen.status == "joined"


def _action(task: records.Task) -> dict[str, object]:
    return {
        "id": str(task.id),
        "receiver": task.receiver,
        "name": task.action,
        "parameters": dict(task.parameters),
        "status": task.status,
        "message": task.message,
        "results": dict(task.results),
        "enqueued": to_iso(task.enqueued),
        "started": to_iso(task.started) if task.started else _NEVER,
        "completed": to_iso(task.completed) if task.completed else _NEVER,
    }
