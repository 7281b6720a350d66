"""Write the changes of a successful hook to the model: all of them, or none and the hook fails.

The machine has checked the changes for the charm. This module checks them again, because the machine may be
compromised. Their form is that of `runner.trust.intake.read_result`.

Mirrors: juju apiserver/facades/agent/uniter CommitHookChanges (3.6)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import Any

from pushjuju.core import limits
from pushjuju.core.model.ports import OpenPort, PortRange, changed, conflict
from pushjuju.services.entities.basis import wake
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import controller_config, firewall
from pushjuju.services.entities.relation import relations
from pushjuju.store.rows.records import Port
from pushjuju.store.tx import ModelTx, Questions, Tx
from pushjuju.uniter.decide.decision import Operation
from pushjuju.uniter.decide.state import HookKind
from pushjuju.uniter.input.hookcontext import binding_names, relation_settings
from pushjuju.uniter.input.snapshot import View
from pushjuju.uniter.input.unit_secrets import flush_secrets, secrets_refused
from pushjuju.uniter.input.unit_storage import flush_storage, storage_refused

Writes = Mapping[str, Any]
_TOLD = ("egress-subnets", "ingress-address", "private-address")  # settings of a relation that hold addresses
_ASKED_AHEAD = 16  # relations of a hook
_ONE_BY_ONE = 100  # up to this number, keys of charm state are read singly; else all are read


def refusal(ctx: Context, tx: ModelTx, view: View, writes: Writes) -> str:
    """Return why the changes of a hook are refused, or ""; change nothing."""
    return (
        _relations_refused(view, writes)
        or _ports_refused(tx, view, writes)
        or _state_refused(ctx, tx, view, writes)
        or storage_refused(tx, view.unit, view.charm, writes.get("storage", {}))
        or secrets_refused(tx, view.unit, writes, leader=view.remote.leader)
    )


def flush(ctx: Context, tx: ModelTx, view: View, operation: Operation, writes: Writes) -> Writes:
    """Write the changes of a hook in Juju's order; return those that changed a value."""
    if operation.hook and operation.hook.kind is HookKind.CONFIG_CHANGED:
        _refresh_addresses(tx, view)
    flush_secrets(ctx, tx, view.unit, writes, leader=view.remote.leader)
    relation_changes = _flush_relations(tx, view, writes)
    ports = _flush_ports(tx, view, writes)
    state = _flush_state(tx, view, writes)
    if writes.get("storage"):
        flush_storage(tx, view.unit, view.charm, writes["storage"])
    return {**writes, "relations": relation_changes, "ports": ports, "state": state}


def flush_questions(of: tuple[str, Writes]) -> Questions:
    """Yield what `flush` asks the store about a unit and the changes of its hook, for `Tx.ahead`.

    Only about a few relations: a machine may name thousands that its unit has not entered.
    """
    unit, writes = of
    for key, bags in islice(writes.get("relations", {}).items(), _ASKED_AHEAD):
        for side, entity in (("unit", unit), ("app", unit.partition("/")[0])):
            if bags.get(side):
                yield from relations.bag_questions((int(key), entity))


# --- relations --------------------------------------------------------------------------------------------


def _relations_refused(view: View, writes: Writes) -> str:
    as_leader = any(bags.get("app") for bags in writes.get("relations", {}).values())
    if as_leader and not view.remote.leader:
        return f'prerequisites failed: "{view.unit.name}" is not leader of "{view.unit.application}"'
    for relation_id, entity, changes in _bags(view, writes):
        wanted = relations.merged(_present(view, relation_id, entity), changes)
        if _size(wanted) > limits.BAG:
            return f"writing relation {relation_id}: max allowed size ({limits.BAG}) exceeded"
    return ""


def _bags(view: View, writes: Writes) -> Iterator[tuple[int, str, Mapping[str, str | None]]]:
    """Yield the changes to settings in relations that the unit has entered; drop all others."""
    unit = view.unit
    for relation_id, bags in sorted((int(key), bags) for key, bags in writes.get("relations", {}).items()):
        if relation_id in view.local.relations and relation_id in view.remote.relations:
            for side, entity in (("unit", unit.name), ("app", unit.application)):
                if changes := bags.get(side):
                    yield relation_id, entity, changes


def _present(view: View, relation_id: int, entity: str) -> Mapping[str, str]:
    found = view.bags[relation_id].get(entity)
    return found.data if found else {}


def _size(settings: Mapping[str, str]) -> int:
    return sum(len(key.encode()) + len(value.encode()) for key, value in settings.items())


def _flush_relations(tx: ModelTx, view: View, writes: Writes) -> dict[str, object]:
    unit = view.unit
    made: dict[str, Any] = {}
    for relation_id, entity, asked in _bags(view, writes):
        changes = relations.update_bag(tx, view.relations[relation_id], entity, asked)
        if not changes:
            continue
        side = "unit" if entity == unit.name else "app"
        made.setdefault(str(relation_id), {})[side] = changes
        if entity == unit.application and view.remote.relations[relation_id].peer:
            wake.unit(tx, unit, "own application settings changed")
    return made


def _refresh_addresses(tx: ModelTx, view: View) -> None:
    """Write the present addresses to the unit's settings in every joined relation."""
    unit = view.unit
    for relation_id in sorted(view.local.relations):
        if relation_id in view.remote.relations:
            endpoint = view.remote.relations[relation_id].endpoint
            settings: dict[str, str | None] = dict.fromkeys(_TOLD)
            relation = view.relations[relation_id]
            settings.update(relation_settings(tx, view, relation, endpoint))
            known = _present(view, relation_id, unit.name)
            if all((value or None) == known.get(key) for key, value in settings.items()):
                continue  # mostly; so no statement asks for the settings again
            if relations.update_bag(tx, relation, unit.name, settings):
                relations.wake_firewalls(tx, relation, "addresses changed")


# --- ports ------------------------------------------------------------------------------------------------


def _asked(writes: Writes, what: str) -> list[OpenPort]:
    return [
        OpenPort(item["endpoint"], PortRange(item["protocol"], item["from"], item["to"]))
        for item in writes.get("ports", {}).get(what, [])
    ]


def _ports_refused(tx: ModelTx, view: View, writes: Writes) -> str:
    opened, closed = _asked(writes, "open"), _asked(writes, "close")
    if not opened and not closed:
        return ""
    known = binding_names(view.charm)
    others = list(_others_ports(tx, view))
    for word, ports in (("open", opened), ("close", closed)):
        for port in ports:
            if port.endpoint and port.endpoint not in known:
                missing = f'endpoint "{port.endpoint}" for unit "{view.unit.name}" not found'
                return f"cannot open/close ports: {word} port range: {missing}"
    wanted = _wanted_ports(tx, view, opened, closed)[1]
    if len(wanted) > limits.PORTS:
        return f"cannot open/close ports: more than {limits.PORTS} port ranges"
    return _ports_conflict(view.unit.name, {port.range for port in opened}, wanted, others)


def _ports_conflict(
    unit: str,
    opened: Collection[PortRange],
    wanted: Collection[OpenPort],
    others: list[tuple[str, PortRange]],
) -> str:
    """Return the conflict of an opened range with a range of another unit or of the unit itself, or "".

    An action that ran in parallel may have opened the unit's other ranges, unknown to the machine's check.
    """
    own = {port.range for port in wanted}
    for new in sorted(opened):
        mine = [(unit, other) for other in sorted(own) if other != new] if new in own else []
        if clash := conflict(new, [*others, *mine]):
            ours = f'cannot open {new} (unit "{unit}")'
            theirs = f'port range conflicts with {clash[1]} (unit "{clash[0]}")'
            return f"cannot open/close ports: {ours}: {theirs}"
    return ""


def _wanted_ports(
    tx: ModelTx, view: View, opened: list[OpenPort], closed: list[OpenPort]
) -> tuple[set[OpenPort], frozenset[OpenPort]]:
    """Return the ranges that a unit has open, and the ranges after the changes."""
    rows = tx.list(Port, "port_of_unit", unit=view.unit.name)
    present = {OpenPort(row.endpoint, PortRange(row.protocol, row.from_port, row.to_port)) for row in rows}
    return present, changed(present, opened, closed, binding_names(view.charm))


def _others_ports(tx: ModelTx, view: View) -> Iterator[tuple[str, PortRange]]:
    for port in tx.list(Port, "port_on_machine", machine=view.unit.machine):
        if port.unit != view.unit.name:
            yield port.unit, PortRange(port.protocol, port.from_port, port.to_port)


def _flush_ports(tx: ModelTx, view: View, writes: Writes) -> dict[str, list[dict[str, object]]]:
    opened, closed = _asked(writes, "open"), _asked(writes, "close")
    if not opened and not closed:
        return {}
    unit = view.unit
    present, wanted = _wanted_ports(tx, view, opened, closed)
    for port in present - wanted:
        tx.run("port_delete", **_columns(view, port))
    for port in sorted(wanted - present):
        tx.insert("port", Port(**_columns(view, port)))
    if wanted != present and (view.application.exposed or _is_reached(view)):
        firewall.changed_on(tx, unit.machine, "ports changed")
    return {"open": _as_written(wanted - present), "close": _as_written(present - wanted)}


def _as_written(ports: Collection[OpenPort]) -> list[dict[str, object]]:
    return [
        {
            "endpoint": port.endpoint,
            "protocol": port.range.protocol,
            "from": port.range.from_port,
            "to": port.range.to_port,
        }
        for port in sorted(ports)
    ]


def _is_reached(view: View) -> bool:
    """Return True when units of other models may use the unit's open ports."""
    return any(relation.far_model for relation in view.relations.values())


def _columns(view: View, port: OpenPort) -> dict[str, Any]:
    return {
        "model": view.unit.model,
        "unit": view.unit.name,
        "endpoint": port.endpoint,
        "protocol": port.range.protocol,
        "from_port": port.range.from_port,
        "to_port": port.range.to_port,
    }


# --- charm state ------------------------------------------------------------------------------------------


def _stored_state(tx: Tx, view: View, names: Collection[str]) -> dict[str, str]:
    """Return the stored values of some keys, without keys that are not stored."""
    key = {"model": view.unit.model, "unit": view.unit.name}
    if len(names) > _ONE_BY_ONE:
        return {row["key"]: row["value"] for row in tx.rows("charm_state_list", **key) if row["key"] in names}
    found = ((name, tx.row("charm_state_get", **key, key=name)) for name in names)
    return {name: row["value"] for name, row in found if row is not None}


def _state_refused(ctx: Context, tx: ModelTx, view: View, writes: Writes) -> str:
    changes: Mapping[str, str | None] = writes.get("state") or {}
    if not changes:
        return ""
    for key, value in changes.items():
        if len(key.encode()) > limits.STATE_KEY:
            return f"persisting charm state: max allowed key length ({limits.STATE_KEY}) exceeded"
        if value is not None and len(value.encode()) > limits.STATE_VALUE:
            return f"persisting charm state: max allowed value length ({limits.STATE_VALUE}) exceeded"
    most = controller_config.max_charm_state(ctx)
    if _state_after(tx, view, changes) > most:
        return f"persisting charm state: max allowed size ({most}) exceeded"
    return ""


def _state_after(tx: ModelTx, view: View, changes: Mapping[str, str | None]) -> int:
    """Return the bytes of the charm state after some changes; keys without change are not read."""
    before = tx.row("charm_state_size", unit=view.unit.name)
    old = _stored_state(tx, view, changes.keys())
    new = {key: value for key, value in changes.items() if value is not None}
    size = _size(new) - _size(old) + (len(new) - len(old)) * limits.STATE_OVERHEAD
    return size + (before["bytes"] + before["keys"] * limits.STATE_OVERHEAD if before else 0)


def _flush_state(tx: Tx, view: View, writes: Writes) -> dict[str, str | None]:
    if not writes.get("state"):
        return {}
    key = {"model": view.unit.model, "unit": view.unit.name}
    present = _stored_state(tx, view, writes["state"].keys())
    made = {name: value for name, value in writes["state"].items() if value != present.get(name)}
    for name, value in made.items():
        if value is None:
            tx.run("charm_state_delete", **key, key=name)
        else:
            tx.run("charm_state_set", **key, key=name, value=value)
    return made
