"""Relations: endpoints, units in scope, and bags of settings. Mirrors: juju state/relation*.go (3.6).

A relation between models has a row in each model. Each model keeps all bags and the units of both sides that
are in scope, so that a reader needs only one model. A transaction that writes in one model writes in the
other too, under the names that the other model uses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pushjuju.charms.values.model import Charm, Endpoint, Role
from pushjuju.core.status import Life, StatusKind
from pushjuju.core.values import dataclass
from pushjuju.portable.jsontext import compact
from pushjuju.services.entities.basis import statuses, wake
from pushjuju.services.entities.model import firewall
from pushjuju.store.rows.records import (
    Bag,
    Relation,
    RelationEndpoint,
    RelationScope,
    RemoteApplication,
    Unit,
)
from pushjuju.store.tx import ModelTx, Questions, Tx


def add_peers(tx: ModelTx, application: str, charm: Charm) -> None:
    """Add the peer relations that an application lacks, in the order of the endpoints' names."""
    for name, peer in sorted(charm.meta.peers.items()):
        key = f"{application}:{name}"
        if tx.find(Relation, "relation_by_key", key=key) is None:
            add(tx, key, [(application, peer)])


def add(tx: ModelTx, key: str, sides: Sequence[tuple[str, Endpoint]], egress: str = "") -> Relation:
    """Record a relation of two sides, or of one for a peer relation, with empty bags for its applications."""
    relation = Relation(
        model=tx.model, id=tx.next(tx.model, "relation"), key=key, life=Life.ALIVE, scope=sides[0][1].scope,
        egress=egress, created=tx.now,
    )  # fmt: skip
    tx.insert("relation", relation)
    for application, endpoint in sides:
        row = RelationEndpoint(
            model=tx.model, relation=relation.id, application=application, endpoint=endpoint.name,
            role=endpoint.role, interface=endpoint.interface, capacity=endpoint.limit,
        )  # fmt: skip
        tx.insert("relation_endpoint", row)
        put_bag(tx, relation.id, application, {})
    statuses.set_status(tx, StatusKind.RELATION, str(relation.id), "joining")
    return relation


def of_application(tx: ModelTx, application: str) -> list[Relation]:
    """Return the relations of an application, in the order of their ids."""
    return tx.list(Relation, "relation_of_application", application=application)


def endpoints(tx: ModelTx, relation: int) -> list[RelationEndpoint]:
    """Return the two endpoints of a relation, or the one endpoint of a peer relation."""
    return tx.list(RelationEndpoint, "relation_endpoints", relation=relation)


def own_endpoint(sides: Iterable[RelationEndpoint], application: str) -> RelationEndpoint:
    """Return the endpoint of an application, among those of a relation."""
    return next(side for side in sides if side.application == application)


def remote_endpoint(sides: list[RelationEndpoint], application: str) -> RelationEndpoint:
    """Return the endpoint of the other application; in a peer relation, the only endpoint."""
    return next((side for side in sides if side.application != application), sides[0])


def is_peer(sides: Iterable[RelationEndpoint]) -> bool:
    """Return True when these endpoints make a peer relation."""
    return any(side.role == Role.PEER for side in sides)


def scopes(tx: ModelTx, relation: int) -> list[RelationScope]:
    """Return the units in scope of a relation, in the order of their names."""
    return tx.list(RelationScope, "scope_list", relation=relation)


def is_entered(tx: ModelTx, relation: int) -> bool:
    """Return True when any unit is in scope."""
    return tx.row("scope_any", relation=relation) is not None


def bags(tx: ModelTx, relation: int) -> dict[str, Bag]:
    """Return all bags of a relation: name of the unit or application -> bag."""
    return {bag.entity: bag for bag in tx.list(Bag, "bag_list", relation=relation)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """All relations of an application, with their endpoints, units and bags, by the relation's id."""

    relations: Mapping[int, Relation]
    # relation -> both endpoints, or the one endpoint of a peer relation
    sides: Mapping[int, list[RelationEndpoint]]
    scopes: Mapping[int, list[RelationScope]]  # relation -> the units in scope, by name
    bags: Mapping[int, dict[str, Bag]]  # relation -> name of the unit or application -> bag


def neighbourhood(tx: ModelTx, unit: Unit) -> Neighbourhood:
    """Read all relations of a unit's application with four statements, however many relations there are.

    Bags of the application's other units are read only in peer relations, as the unit sees no others.
    """
    model, application = unit.model, unit.application
    found = {relation.id: relation for relation in of_application(tx.beside(model), application)}
    sides: dict[int, list[RelationEndpoint]] = {number: [] for number in found}
    scopes_found: dict[int, list[RelationScope]] = {number: [] for number in found}
    bags_found: dict[int, dict[str, Bag]] = {number: {} for number in found}
    if found:
        here = {"model": model, "application": application}
        for side in tx.list(RelationEndpoint, "endpoint_of_neighbours", **here):
            sides[side.relation].append(side)
        for scope in tx.list(RelationScope, "scope_of_neighbours", **here):
            scopes_found[scope.relation].append(scope)
        for item in tx.list(Bag, "bag_of_neighbours", unit=unit.name, **here):
            bags_found[item.relation][item.entity] = item
    return Neighbourhood(relations=found, sides=sides, scopes=scopes_found, bags=bags_found)


def put_bag(tx: ModelTx, relation: int, entity: str, data: Mapping[str, str]) -> None:
    """Write a bag; the statement counts up its version, from 0 for a new bag."""
    text = compact(dict(data))
    tx.run("bag_put", relation=relation, entity=entity, data=text)


def bag(tx: ModelTx, relation: int, entity: str) -> dict[str, str]:
    """Return the settings of a unit or application in a relation; empty before the first write."""
    found = tx.find(Bag, "bag_get", relation=relation, entity=entity)
    return dict(found.data) if found else {}


def merged(present: Mapping[str, str], changes: Mapping[str, str | None]) -> dict[str, str]:
    """Return settings with changes applied; None or an empty text deletes a key."""
    return {key: value for key, value in {**present, **changes}.items() if value}


def bag_questions(of: tuple[int, str]) -> Questions:
    """Yield what `update_bag` asks the store about a relation and a unit or application, for `Tx.ahead`."""
    relation, entity = of
    yield "bag_get", {"relation": relation, "entity": entity}
    yield "scope_counterpart_machines", _counterparts(relation, entity)


def update_bag(
    tx: ModelTx, relation: Relation, entity: str, changes: Mapping[str, str | None]
) -> dict[str, str | None]:
    """Merge changes into the bag of a unit or application of this model; None or an empty text deletes a key.

    The units that see the bag are woken.

    Returns:
        The changes that made a difference, without keys that already had their new value.
    """
    old = bag(tx.beside(relation.model), relation.id, entity)
    made = {key: value for key, value in changes.items() if (value or None) != old.get(key)}
    if made:
        new = merged(old, made)
        for model, number, name in both(relation, entity):
            put_bag(tx.beside(model), number, name, new)
            wake_counterparts(tx.beside(model), number, name, "relation settings changed")
    return made


# --- relations between models -----------------------------------------------------------------------------


def both(relation: Relation, entity: str) -> list[tuple[str, int, str]]:
    """Return (model, relation, name there) of a unit or application of this model, for each model."""
    here = (relation.model, relation.id, entity)
    if not relation.far_model:
        return [here]
    return [here, (relation.far_model, relation.far_relation, renamed(entity, relation.far_alias))]


def renamed(entity: str, application: str) -> str:
    """Return a unit or application under another name of the application."""
    _, slash, number = entity.partition("/")
    return f"{application}{slash}{number}"


def other_row(tx: Tx, relation: Relation) -> Relation | None:
    """Return the other model's row of a relation; None for a relation inside a model."""
    if not relation.far_model:
        return None
    return tx.find(Relation, "relation_get", model=relation.far_model, id=relation.far_relation)


def remote(tx: ModelTx, name: str) -> RemoteApplication | None:
    """Return an application of another model by its name in this model, or None."""
    return tx.find(RemoteApplication, "remote_application_get", name=name)


def _everywhere(tx: ModelTx, relation: Relation, unit: str) -> list[tuple[str, int, str]]:
    """Return (model, relation, name there) of a unit, for each model, whichever of them it belongs to."""
    if not relation.far_model:
        return [(relation.model, relation.id, unit)]
    found = remote(tx.beside(relation.model), unit.partition("/")[0])
    if found is None:
        return both(relation, unit)
    there = (relation.far_model, relation.far_relation, renamed(unit, found.application))
    return [(relation.model, relation.id, unit), there]


def wake_firewalls(tx: ModelTx, relation: Relation, reason: str) -> None:
    """Wake the provider's machines in a relation between models, so that they update their firewall rules.

    The status of the relation says when the other side's firewall refuses this side.
    """
    other = other_row(tx, relation)
    if other is None:
        return
    for one, its_other in ((relation, other), (other, relation)):
        here = tx.beside(one.model)
        provider = next(side for side in endpoints(here, one.id) if side.role == Role.PROVIDER)
        if remote(here, provider.application) is None:
            firewall.changed_of(here, provider.application, reason)
            _judge_ingress(here, its_other)


def _judge_ingress(tx: ModelTx, comer: Relation) -> None:
    """Set the relation to error while the other model refuses its units' traffic, and back afterwards.

    Mirrors: juju worker/firewaller publishNetworkChanged (3.6)
    """
    there = tx.beside(comer.model)
    problem = firewall.ingress_problem(tx, firewall.egress_of(there, comer.id))
    status = statuses.get_status(there, StatusKind.RELATION, str(comer.id))
    word, message = (status.status, status.message) if status else ("", "")
    if comer.suspended or (problem == "" and word != "error") or (word, message) == ("error", problem):
        return
    usual = "joined" if is_entered(there, comer.id) else "joining"
    word = "error" if problem else usual
    statuses.set_status(there, StatusKind.RELATION, str(comer.id), word, problem)


# --- wakes and scopes -------------------------------------------------------------------------------------


def wake_members(tx: ModelTx, relation: int, reason: str) -> None:
    """Wake the machines of all units in scope of a relation."""
    for row in tx.rows("scope_machines", relation=relation):
        wake.machine(tx, row["machine"], reason)


def wake_counterparts(tx: ModelTx, relation: int, entity: str, reason: str) -> None:
    """Wake the machines of the units that see a change of a unit or application in a relation.

    Units of one application see each other in peer relations only. Without this rule, each unit that enters a
    relation would wake the machines of its own application.
    """
    for row in tx.rows("scope_counterpart_machines", **_counterparts(relation, entity)):
        wake.machine(tx, row["machine"], reason)


def _counterparts(relation: int, entity: str) -> dict[str, object]:
    return {"relation": relation, "entity": entity, "application": entity.partition("/")[0]}


def scope_questions(of: tuple[int, str]) -> Questions:
    """Yield what the entering of a scope asks the store about a relation and a unit, for `Tx.ahead`."""
    relation, unit = of
    yield "scope_of_unit", {"unit": unit}
    yield "scope_counterpart_machines", _counterparts(relation, unit)


def enter_scope(tx: ModelTx, unit: Unit, relation: Relation, settings: Mapping[str, str]) -> None:
    """Add a unit with its first settings to the scope of a relation; wake the units that see it."""
    container = (unit.principal or unit.name) if relation.scope == "container" else ""
    for model, number, name in both(relation, unit.name):
        there = tx.beside(model)
        wake_counterparts(there, number, name, f"{name} joins")
        scope = RelationScope(
            model=model, relation=number, unit=name, application=name.partition("/")[0], container=container
        )
        tx.insert("relation_scope", scope)
        put_bag(there, number, name, settings)
    wake_firewalls(tx, relation, f"{unit.name} joins")
    if relation.scope != "container":
        firewall.joined(tx, unit.application, unit.machine or "", f"{unit.name} joins")


def leave_scope(tx: ModelTx, relation_id: int, unit: str) -> None:
    """Remove a unit from the scope of a relation; remove a dying relation when no unit is left in it."""
    if not tx.run("scope_leave", relation=relation_id, unit=unit):
        return
    wake_counterparts(tx, relation_id, unit, f"{unit} leaves")
    relation = tx.find(Relation, "relation_get", id=relation_id)
    if relation is None:
        return
    for there, number, name in _everywhere(tx, relation, unit)[1:]:
        tx.run("scope_leave", model=there, relation=number, unit=name)
        wake_counterparts(tx.beside(there), number, name, f"{name} leaves")
    wake_firewalls(tx, relation, f"{unit} leaves")
    if relation.life != Life.ALIVE and not is_entered(tx, relation_id):
        remove(tx, relation_id)


def depart(tx: ModelTx, unit: Unit) -> None:
    """Mark a dying unit as departing in its relations, so that its counterparts run relation-departed."""
    tx.run("scope_depart", model=unit.model, unit=unit.name)
    for scope in tx.list(RelationScope, "scope_of_unit", model=unit.model, unit=unit.name):
        relation = tx.find(Relation, "relation_get", model=unit.model, id=scope.relation)
        for model, number, name in both(relation, unit.name) if relation else ():
            tx.run("scope_depart_one", model=model, relation=number, unit=name)
            wake_counterparts(tx.beside(model), number, name, f"{name} departs")


def destroy(tx: ModelTx, relation: Relation) -> None:
    """Remove a relation at once when no unit is in scope, or let its units run their hooks first."""
    here = tx.beside(relation.model)
    if not scopes(here, relation.id):
        remove(here, relation.id)
        return
    for item in (relation, other_row(tx, relation)):
        if item is not None:
            there = tx.beside(item.model)
            there.run("relation_set_life", id=item.id, life=Life.DYING)
            wake_members(there, item.id, "relation removed")


def remove(tx: ModelTx, relation_id: int) -> None:
    """Delete a relation with its bags in both models; wake their cleaners for applications that wait."""
    relation = tx.find(Relation, "relation_get", id=relation_id)
    other = other_row(tx, relation) if relation else None
    if relation and other:
        wake_firewalls(tx, relation, "a relation to another model is gone")
        _remove(tx.beside(other.model), other.id)
    _remove(tx, relation_id)


def _remove(tx: ModelTx, relation_id: int) -> None:
    wake.cleaner(tx, tx.now, f"relation {relation_id} is gone")
    tx.run("relation_delete", id=relation_id)
    statuses.forget(tx, str(relation_id), [StatusKind.RELATION])
