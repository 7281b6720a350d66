"""The document of `show-unit`."""

from __future__ import annotations

from typing import Any

from pushjuju.portable.natural import natural_key
from pushjuju.services.entities.application import units
from pushjuju.services.entities.basis import leadership, network
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.relation import relations
from pushjuju.services.views.status.document import open_ports
from pushjuju.store.rows.records import Application, Bag, Port, RelationScope, Unit
from pushjuju.store.tx import ModelTx


def show_units(ctx: Context, model: str, names: list[str]) -> dict[str, Any]:
    """Return the document of `show-unit`: name -> unit."""
    with ctx.read(model) as tx:
        return {name: _show_unit(tx, units.get(tx, name)) for name in names}


def _show_unit(tx: ModelTx, unit: Unit) -> dict[str, object]:
    application = tx.get(Application, "application_get", "", name=unit.application)
    found: dict[str, object] = {}
    if version := tx.scalar("unit_version", name=unit.name):
        found["workload-version"] = version
    if unit.machine is not None:
        found["machine"] = unit.machine
    found["opened-ports"] = open_ports(tx.list(Port, "port_of_unit", unit=unit.name))
    if unit.machine is not None:
        machine = machines.get(tx, unit.machine)
        if machine.instance_id:
            found["public-address"] = network.public_address(machine)
    found["charm"] = application.charm_url
    found["leader"] = leadership.holder(tx, unit.application) == unit.name
    found["life"] = unit.life
    entries = [
        _relation_info(tx, unit, relation.id) for relation in relations.of_application(tx, unit.application)
    ]
    if entries:
        found["relation-info"] = entries
    return found


def _relation_info(tx: ModelTx, unit: Unit, relation_id: int) -> dict[str, object]:
    sides = relations.endpoints(tx, relation_id)
    own, other = (
        relations.own_endpoint(sides, unit.application),
        relations.remote_endpoint(sides, unit.application),
    )
    remote = {"cross-model": True} if relations.remote(tx, other.application) else {}
    bags = relations.bags(tx, relation_id)
    scopes = {scope.unit for scope in tx.list(RelationScope, "scope_list", relation=relation_id)}
    found: dict[str, object] = {
        "relation-id": relation_id,
        "endpoint": own.endpoint,
        **remote,
        "related-endpoint": other.endpoint,
        "application-data": _data(bags, other.application),
    }
    if relations.is_peer(sides):
        found["local-unit"] = {"in-scope": unit.name in scopes, "data": _data(bags, unit.name)}
    # Units behind an offer are in the other model: of these, only units in the relation are known here.
    present = {item.name for item in units.of_application(tx, other.application)}
    present |= {name for name in scopes if name.startswith(f"{other.application}/")}
    related = sorted(present - {unit.name}, key=natural_key)
    if related:
        found["related-units"] = {
            name: {"in-scope": name in scopes, "data": _data(bags, name) if name in scopes else {}}
            for name in related
        }
    return found


def _data(bags: dict[str, Bag], entity: str) -> dict[str, str]:
    return dict(bags[entity].data) if entity in bags else {}
