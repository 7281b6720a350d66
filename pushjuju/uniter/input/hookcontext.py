"""The context of a hook: what its hook tools can read. Reads only.

Mirrors: juju worker/uniter/runner/context/contextfactory.go (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.charms.format.config import merge_settings
from pushjuju.charms.values.model import Charm, Role
from pushjuju.core import limits
from pushjuju.core.firewall import split
from pushjuju.core.status import Life, StatusInfo, StatusKind, Workload, derive_application_status
from pushjuju.core.values import dataclass
from pushjuju.services.entities.application import bindings
from pushjuju.services.entities.application.units import of_application
from pushjuju.services.entities.basis import leadership, network, statuses
from pushjuju.services.entities.model import model_config
from pushjuju.services.entities.relation import relations
from pushjuju.services.lifecycle import removal
from pushjuju.store.rows.records import Bag, Machine, Model, Port, Relation, Unit
from pushjuju.store.tx import ModelTx, Questions
from pushjuju.uniter.decide.decision import Operation
from pushjuju.uniter.decide.naming import hook_name
from pushjuju.uniter.decide.state import HookInfo, HookKind, LocalState
from pushjuju.uniter.input.snapshot import View
from pushjuju.uniter.input.unit_secrets import context_secrets
from pushjuju.uniter.input.unit_storage import storage_context

_SINCE = "%Y-%m-%d %H:%M:%SZ"


def hook_questions(name: str) -> Questions:
    """Yield what the beginning of a hook asks the store, for `Tx.ahead`."""
    yield "leader_setting_list", {"application": name.partition("/")[0]}
    yield "port_of_unit", {"unit": name}
    yield "charm_state_size", {"unit": name}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What the machine gets with an earlier hook of a plan, and mostly gets again with the next hook."""

    view: View
    hook: HookInfo | None
    context: Mapping[str, object]


def hook_context(
    tx: ModelTx, view: View, operation: Operation, model: Model, before: Sent | None = None
) -> dict[str, object]:
    """Return the snapshot that is sent with a hook, from which the machine answers its hook tools.

    Args:
        before: What the machine gets with the hook before this one, when both are decided in this
            transaction: the snapshots share what is equal.
    """
    hook = operation.hook
    if before is not None and before.view.bags is not view.bags:
        before = None  # the unit has another charm since
    common = _common(tx, view, model) if before is None else before.context
    found = {
        **common,
        "hook": hook_name(hook, operation.endpoint) if hook else "",
        "relation": _hook_relation(hook, operation.endpoint),
        "relations": _relations(tx, view, hook, before),
    }
    found.pop("hook_storage", None)
    return {**found, **storage_context(view.remote, hook)}


def _common(tx: ModelTx, view: View, model: Model) -> dict[str, object]:
    """Return the part of a snapshot that all hooks of a plan share."""
    unit = view.unit
    return {
        "unit": unit.name,
        "app": unit.application,
        "model_uuid": model.uuid,
        "model_name": model.name,
        "kind": "hook",
        "config": merge_settings(view.charm.config, view.settings),
        "leader": view.remote.leader,
        "leader_settings": leadership.settings(tx, unit.application),
        "trusted": view.application.trust,
        "status": _own_status(tx, unit),
        "endpoints": binding_names(view.charm),
        "ports": _ports(tx, unit),
        "network": _network(tx, view),
        "state": _state_along(tx, unit),
        "payload_classes": {name: item.type for name, item in view.charm.meta.payloads.items()},
        "action": None,
        **(
            {"secrets": context_secrets(tx, view.unit, leader=view.remote.leader)}
            if view.application.secrets
            else {}
        ),
    }


def application_status(tx: ModelTx, unit: Unit) -> dict[str, object]:
    """Return what `status-get --application` shows: the statuses of an application and of its units."""
    return _statuses(tx, unit, _Units.read(tx, unit.application))


def goal_state(tx: ModelTx, view: View) -> dict[str, object]:
    """Return what `goal-state` shows."""
    peers = _Units.read(tx, view.unit.application)
    return _goal_state(tx, view, peers)


def _hook_relation(hook: HookInfo | None, endpoint: str) -> dict[str, object] | None:
    if hook is None or hook.relation_id is None:
        return None
    return {
        "id": hook.relation_id,
        "endpoint": endpoint,
        "remote_unit": hook.remote_unit,
        "remote_app": hook.remote_application,
        "departing_unit": hook.departee,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Units:
    """The units of an application, by number, with the status of their workloads."""

    units: list[Unit]
    workloads: Mapping[str, StatusInfo]

    @classmethod
    def read(cls, tx: ModelTx, application: str) -> _Units:
        """Read the units in two statements, however many there are."""
        units = of_application(tx, application)
        known = statuses.workloads(tx, application)
        unknown = StatusInfo(status=Workload.UNKNOWN)
        return cls(units=units, workloads={unit.name: known.get(unit.name, unknown) for unit in units})

    def goals(self, asking: Unit) -> dict[str, dict[str, str]]:
        """Return the units that goal-state lists, of subordinates only those with the same principal."""
        seen = (None, asking.principal or asking.name)
        return {
            unit.name: self._goal(unit)
            for unit in self.units
            if unit.life != Life.DEAD and unit.principal in seen
        }

    def _goal(self, unit: Unit) -> dict[str, str]:
        """Return the status of a unit as goal-state lists it."""
        info = self.workloads[unit.name]
        return _goal_status(StatusInfo(status="dying", since=info.since) if unit.life == Life.DYING else info)


def _statuses(tx: ModelTx, unit: Unit, peers: _Units) -> dict[str, object]:
    """Return the statuses that status-get may show: those that charms have set, never `error`."""
    units = peers.workloads
    own = statuses.get_status(tx, StatusKind.APPLICATION, unit.application)
    if own is None or own.status == Workload.UNSET:
        own = derive_application_status(units[name] for name in sorted(units))
    return {
        "unit": _status(units[unit.name]),
        "app": _status(own),
        "units": {name: _status(info) for name, info in units.items()},
    }


def _own_status(tx: ModelTx, unit: Unit) -> dict[str, object]:
    """Return the unit's status; the rarely needed status of the application is asked for separately."""
    found = statuses.get_status(tx, StatusKind.WORKLOAD, unit.name)
    return {"unit": _status(found or StatusInfo(status=Workload.UNKNOWN))}


def _status(info: StatusInfo) -> dict[str, object]:
    return {"status": str(info.status), "message": info.message, "data": dict(info.data)}


def _relations(tx: ModelTx, view: View, hook: HookInfo | None, before: Sent | None) -> dict[str, object]:
    """Return the relations that the unit has joined or entered, as the hook's tools show them."""
    same: dict[str, object] = {}
    if before is not None:
        known: Any = before.context["relations"]
        changing = {one.relation_id for one in (hook, before.hook) if one is not None}
        same = {
            key: relation
            for key, relation in known.items()
            if int(key) not in changing
            and before.view.local.relations[int(key)] is view.local.relations.get(int(key))
        }
    return {
        str(number): same.get(str(number)) or _relation(tx, view, number, view.bags.get(number, {}), hook)
        for number in sorted(view.local.relations)
        if number in view.remote.relations
    }


def _relation(
    tx: ModelTx, view: View, relation_id: int, bags: Mapping[str, Bag], hook: HookInfo | None
) -> dict[str, object]:
    unit, remote = view.unit, view.remote.relations[relation_id]
    sides = view.sides[relation_id]
    own = relations.own_endpoint(sides, unit.application)
    apps = {side.application for side in sides}
    seen = _mates(tx, unit) | set(view.local.relations[relation_id].members) if remote.container else None
    return {
        "endpoint": remote.endpoint,
        "interface": own.interface,
        "role": own.role,
        "life": str(remote.life),
        "suspended": remote.suspended,
        "remote_app": remote.remote_application,
        "members": _members(view.local, relation_id, hook),
        "unit_bags": {
            name: dict(bag.data)
            for name, bag in bags.items()
            if name not in apps and (seen is None or name in seen)
        },
        "app_bags": {name: dict(bag.data) for name, bag in bags.items() if name in apps},
        "key": " ".join(f"{side.application}:{side.endpoint}" for side in _by_role(sides)),
        "remote_model_uuid": view.relations[relation_id].far_model or unit.model,
    }


def _by_role(sides: list[Any]) -> list[Any]:
    order = {Role.REQUIRER: 0, Role.PROVIDER: 1, Role.PEER: 2}
    return sorted(sides, key=lambda side: (order[Role(side.role)], side.application))


def _mates(tx: ModelTx, unit: Unit) -> set[str]:
    """Return the units with the same principal as a unit, which it can see in container scope."""
    principal = unit.principal or unit.name
    return {principal, *removal.lives_of_subordinates(tx, principal)}


def _members(local: LocalState, relation_id: int, hook: HookInfo | None) -> list[str]:
    """Return the units whose relation-joined ran, and the joining unit, but not the departing unit."""
    members = set(local.relations[relation_id].members)
    if hook and hook.relation_id == relation_id and hook.remote_unit:
        if hook.kind is HookKind.RELATION_DEPARTED:
            members.discard(hook.remote_unit)
        elif hook.kind is HookKind.RELATION_JOINED:
            members.add(hook.remote_unit)
    return sorted(members)


def binding_names(charm: Charm) -> list[str]:
    """Return the names of a charm's endpoints and extra bindings, always with juju-info."""
    names = [endpoint.name for endpoint in charm.meta.endpoints()]
    return [*names, *charm.meta.extra_bindings, *([] if "juju-info" in names else ["juju-info"])]


def _ports(tx: ModelTx, unit: Unit) -> dict[str, object]:
    own = tx.list(Port, "port_of_unit", unit=unit.name)
    every = tx.list(Port, "port_on_machine", machine=unit.machine)
    return {
        "unit": [
            {"endpoint": port.endpoint, "protocol": port.protocol, "from": port.from_port, "to": port.to_port}
            for port in own
        ],
        "machine": [
            {"unit": port.unit, "protocol": port.protocol, "from": port.from_port, "to": port.to_port}
            for port in every
            if port.unit != unit.name
        ],
    }


def egress_subnets(tx: ModelTx) -> list[str]:
    """Return the subnets of the model's setting egress-subnets."""
    return split(str(model_config.get(tx, "egress-subnets") or ""))


def relation_settings(tx: ModelTx, view: View, relation: Relation, endpoint: str) -> dict[str, str]:
    """Return the settings of a relation that hold a unit's addresses."""
    egress = split(relation.egress) or egress_subnets(tx)
    space = bindings.space_of(view.bindings, endpoint)
    info = network.network_info(view.machine, egress, space)
    if _is_public(relation, space) and info:
        info = network.between_models(info, network.public_address(view.machine), egress)
    return network.relation_settings(info)


def _is_public(relation: Relation, space: str) -> bool:
    """Return True when the other side of a relation gets the unit's public address."""
    return bool(relation.far_model) and space == network.ALPHA_ID


def _network(tx: ModelTx, view: View) -> dict[str, object]:
    names = binding_names(view.charm)
    spaces = {name: bindings.space_of(view.bindings, name) for name in names}
    default = bindings.space_of(view.bindings, "")
    place = _Place(model=tx.model, machine=view.machine.id, spaces=frozenset({default, *spaces.values()}))
    found = tx.derived(_addresses, place)
    infos = found.infos
    return {
        "bindings": {name: infos[spaces[name]] for name in names},
        "relations": _egress(view, found.egress, infos, spaces),
        "private_address": _bind_address(infos[default]) or found.private,
        "public_address": found.public,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A machine and some spaces, whose addresses change rarely."""

    model: str
    machine: str
    spaces: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Addresses:
    """The addresses of a machine: for each space what `network-get` answers."""

    infos: Mapping[str, Mapping[str, Any]]
    egress: list[str]
    private: str
    public: str


def _addresses(tx: ModelTx, place: _Place) -> _Addresses:
    machine = tx.get(Machine, "machine_get", f"machine {place.machine} not found", id=place.machine)
    egress = egress_subnets(tx)
    return _Addresses(
        infos={space: network.network_info(machine, egress, space) for space in place.spaces},
        egress=egress,
        private=network.private_address(machine),
        public=network.public_address(machine),
    )


def _bind_address(info: Mapping[str, Any]) -> str:
    """Return the first address in a space, or "" when the machine has no address there."""
    return str(info["bind-addresses"][0]["addresses"][0]["value"]) if info else ""


def _egress(
    view: View, egress: list[str], infos: Mapping[str, Mapping[str, Any]], spaces: Mapping[str, str]
) -> dict[str, object]:
    """Return the addresses shown in relations to other models and in relations made with `--via`."""
    found: dict[str, object] = {}
    for relation in view.relations.values():
        if not (relation.egress or relation.far_model):
            continue
        subnets = split(relation.egress) or egress
        space = spaces.get(view.remote.relations[relation.id].endpoint, network.ALPHA_ID)
        if _is_public(relation, space) and infos.get(space):
            told = network.between_models(infos[space], network.public_address(view.machine), subnets)
            found[str(relation.id)] = {key: told[key] for key in ("egress-subnets", "ingress-addresses")}
        elif subnets:
            found[str(relation.id)] = {"egress-subnets": subnets}
    return found


def _state_along(tx: ModelTx, unit: Unit) -> dict[str, str] | None:
    """Return the charm's state, or None when it is large: hook tools that read it then request it."""
    found = tx.row("charm_state_size", unit=unit.name)
    if found is not None and not found["keys"]:
        return {}
    small = found is None or found["bytes"] + found["keys"] * limits.STATE_OVERHEAD <= limits.STATE_TRAVELS
    return charm_state(tx, unit) if small else None


def charm_state(tx: ModelTx, unit: Unit) -> dict[str, str]:
    """Return the state that a charm stores with the controller."""
    return {row["key"]: row["value"] for row in tx.rows("charm_state_list", unit=unit.name)}


def _goal_state(tx: ModelTx, view: View, peers: _Units) -> dict[str, object]:
    unit = view.unit
    goals: dict[str, dict[str, object]] = {}
    known: dict[str, _Units] = {}  # several relations may lead to one application
    for relation_id, relation in view.remote.relations.items():
        record = view.relations[relation_id]
        if relation.peer or record.offer:
            continue  # goal-state does not list the consumers of an offer
        entry = goals.setdefault(relation.endpoint, {})
        status = statuses.get_status(tx, StatusKind.RELATION, str(relation_id))
        name = relation.remote_application
        consumed = relations.remote(tx, name) if record.far_model else None
        entry[consumed.url if consumed else name] = _goal_status(status or StatusInfo(status="joining"))
        if record.far_model:
            continue  # its units are in another model
        others = known[name] = known.get(name) or _Units.read(tx, name)
        entry.update(others.goals(unit))
    return {"units": peers.goals(unit), "relations": goals}


def _goal_status(info: StatusInfo) -> dict[str, str]:
    since = {"since": info.since.strftime(_SINCE)} if info.since else {}
    return {"status": str(info.status), **since}
