"""What must be true of a random model at rest."""

from __future__ import annotations

from collections.abc import Mapping

from pushjuju.core.model.tasks import TaskStatus
from pushjuju.core.status import Agent, Life, StatusKind
from pushjuju.services.entities.application import units
from pushjuju.services.entities.basis import leadership, statuses
from pushjuju.services.entities.machine import machines, upgrade_machine
from pushjuju.services.entities.model import firewall
from pushjuju.services.entities.relation import relations
from pushjuju.services.lifecycle import removal
from pushjuju.store.queue import machine_key
from pushjuju.store.rows.records import Application, Cleanup, Machine, Model, Relation, RelationScope, Unit
from pushjuju.store.tx import ModelTx
from pushjuju.uniter.decide.decision import Answer
from pushjuju.uniter.decide.loop import decide
from pushjuju.uniter.decide.reconcile import reconcile_effects
from pushjuju.uniter.input.snapshot import read_view
from tests.world.stepped.random_model import RandomModel


def check_rest(town: RandomModel) -> None:
    """Check the model when nothing is due and all machines answer."""
    with town.ctx.read(town.model) as tx:
        every = {unit.name: unit for unit in tx.list(Unit, "unit_list")}
        stuck = {name for name in every if units.in_error(tx, name)}
        for unit in every.values():
            _check_unit(tx, town, unit, stuck)
            _check_home(every, unit)
        for relation in tx.list(Relation, "relation_list"):
            _check_relation(tx, town, relation, every, stuck)
        for application in tx.list(Application, "application_list"):
            _check_application(tx, town, application, every, stuck)
        for machine in machines.list_machines(tx):
            assert upgrade_machine.lock_of(tx, machine.id) is None
            mine = [unit for unit in every.values() if unit.machine == machine.id]
            played = town.box_of(machine)
            waiting = played.requests.values() if played else ()
            assert not any(item["unit"] in every for item in waiting), f"{machine.id}: {waiting}"
            assert machine.life == Life.ALIVE or any(unit.life != Life.ALIVE for unit in mine), machine.id
            _check_firewall(tx, town, machine)
        assert all(item.due > town.clock.now() for item in tx.list(Cleanup, "cleanup_list"))
    _check_gone(town, set(every))
    assert [task for task in town.all_tasks() if not TaskStatus(task.status).over] == []


def _check_firewall(tx: ModelTx, town: RandomModel, machine: Machine) -> None:
    """Check that a machine's firewall has the rules that the model wants.

    A new machine that no relation connects with this machine is let in at the next contact.
    """
    known, played = firewall.state(tx, machine.id), town.box_of(machine)
    if not town.guarded:
        return
    if known is None or played is None:
        assert not machine.last_seen, f"machine {machine.id} was never guarded"
        return
    assert played.rules == known.applied, machine.id
    if known.seen == known.changes:
        assert known.applied == firewall.rules(tx, machine.id, known).digest(), machine.id


def check_awake(town: RandomModel) -> None:
    """Check that every entity with work left has a due time in the queue."""
    if any(played.down for played in town.cloud.played_machines.values()):
        return
    later = {item.key for item in town.queue.items(town.model) if item.attempts}
    with town.ctx.read(town.model) as tx:
        for unit in tx.list(Unit, "unit_list"):
            if machine_key(town.model, unit.machine or "") in later:
                continue
            view = read_view(tx, unit.name)
            assert view is not None
            decision = decide(view.local, view.remote)
            assert decision.answer in (Answer.IDLE, Answer.WAITING), f"{unit.name}: {decision.reason}"
            if all(life is Life.ALIVE for life in view.remote.subordinates.values()):
                left = reconcile_effects(view.local, view.remote)
                assert not left, f"{unit.name}: {left}"
            if unit.life == Life.ALIVE:
                assert leadership.holder(tx, unit.application), f"nobody leads {unit.application}"


def _held(tx: ModelTx, town: RandomModel, unit: Unit, stuck: set[str]) -> bool:
    """Return True when a unit may rest before its goal: it is in error, or waits for a unit in error."""
    mates = {other.name for other in removal.subordinates(tx, unit)} | {unit.name, unit.principal or ""}
    return bool(mates & stuck)


def _check_unit(tx: ModelTx, town: RandomModel, unit: Unit, stuck: set[str]) -> None:
    view = read_view(tx, unit.name)
    assert view is not None
    agent = statuses.get_status(tx, StatusKind.AGENT, unit.name)
    assert agent is not None
    if unit.name in stuck:
        return
    effects = list(reconcile_effects(view.local, view.remote))
    decision = decide(view.local, view.remote)
    if not _held(tx, town, unit, stuck):
        assert not effects, f"{unit.name} was forgotten: {effects}"
        assert unit.life == Life.ALIVE, f"{unit.name} is {unit.life}: {decision.reason}"
        assert decision.answer is Answer.IDLE, f"{unit.name} was forgotten: {decision.reason}"
        assert agent.status == Agent.IDLE, f"{unit.name}: {agent}"
        assert view.local.current_charm_url == view.application.charm_url
    else:
        assert decision.answer in (Answer.IDLE, Answer.WAITING), f"{unit.name}: {decision.reason}"


def _check_home(every: Mapping[str, Unit], unit: Unit) -> None:
    if unit.principal:
        assert unit.principal in every, f"{unit.name} lost {unit.principal}"
        assert every[unit.principal].machine == unit.machine
        twins = [
            other.name
            for other in every.values()
            if (other.principal, other.application) == (unit.principal, unit.application)
        ]
        assert twins == [unit.name], twins


def _check_relation(
    tx: ModelTx, town: RandomModel, relation: Relation, every: Mapping[str, Unit], stuck: set[str]
) -> None:
    sides = relations.endpoints(tx, relation.id)
    scopes = {scope.unit: scope for scope in relations.scopes(tx, relation.id)}
    assert set(scopes) <= set(every), f"{relation.key}: strangers in scope"
    if relation.life != Life.ALIVE:
        assert any(_held(tx, town, every[name], stuck) for name in scopes), f"{relation.key} is dying"
        return
    for unit in every.values():
        if unit.application not in {side.application for side in sides} or _held(tx, town, unit, stuck):
            continue
        if relation.suspended:
            assert unit.name not in scopes, f"{relation.key}: {unit.name}"
            continue
        if not _implemented(tx, town, relation, unit):
            continue
        assert unit.name in scopes, f"{relation.key}: {unit.name} is not in scope"
        _check_members(tx, town, relation, unit, scopes)
        _check_subordinate(tx, relation, unit, every, stuck)
    _check_bags(tx, town, relation, scopes)


def _implemented(tx: ModelTx, town: RandomModel, relation: Relation, unit: Unit) -> bool:
    """Return True when a unit's charm has the endpoint; a refresh may remove a peer relation."""
    view = read_view(tx, unit.name)
    return view is not None and view.remote.relations[relation.id].implemented


def _check_members(
    tx: ModelTx, town: RandomModel, relation: Relation, unit: Unit, scopes: Mapping[str, RelationScope]
) -> None:
    view = read_view(tx, unit.name)
    assert view is not None
    if view.remote.relations[relation.id].implicit:
        return
    track = town.witness.tracks[(unit.name, relation.id)]
    other = view.remote.relations[relation.id].remote_application
    container = scopes[unit.name].container
    wanted = {
        name
        for name, scope in scopes.items()
        if scope.application == other
        and name != unit.name
        and not scope.departing
        and scope.container == container * (relation.scope == "container")
    }
    assert set(track.members) == wanted, f"{relation.key}: {unit.name} knows {track.members}"
    assert not track.pending
    assert track.created


def _check_subordinate(
    tx: ModelTx, relation: Relation, unit: Unit, every: Mapping[str, Unit], stuck: set[str]
) -> None:
    if relation.scope != "container" or unit.principal:
        return
    sides = relations.endpoints(tx, relation.id)
    other = relations.remote_endpoint(sides, unit.application).application
    mine = [one for one in every.values() if (one.principal, one.application) == (unit.name, other)]
    assert len(mine) == 1, f"{relation.key}: {unit.name} has {mine}"


def _check_bags(
    tx: ModelTx, town: RandomModel, relation: Relation, scopes: Mapping[str, RelationScope]
) -> None:
    """Check that no written settings are lost, of members of the relation and of units that left."""
    bags = relations.bags(tx, relation.id)
    for (number, entity), said in town.witness.wrote.items():
        if number == relation.id and said:
            kept = {key: bags[entity].data.get(key) for key in said}
            assert kept == said, f"{relation.key}: {entity}"
    for name in scopes:
        assert "private-address" in bags[name].data


def _check_application(
    tx: ModelTx, town: RandomModel, application: Application, every: Mapping[str, Unit], stuck: set[str]
) -> None:
    mine = [unit for unit in every.values() if unit.application == application.name]
    held = [unit for unit in mine if _held(tx, town, unit, stuck)]
    if application.life != Life.ALIVE:
        every_held = held or any(
            relation.life != Life.ALIVE or relation.suspended
            for relation in relations.of_application(tx, application.name)
        )
        assert every_held, f"{application.name} is {application.life}"
    holder = leadership.holder(tx, application.name)
    assert holder is None or holder in every
    if len(mine) > len(held):
        assert holder is not None, f"nobody leads {application.name}"


def _check_gone(town: RandomModel, there: set[str]) -> None:
    """Check that removed units have departed from all relations, unless they were forced."""
    present = {relation.id for relation in town.all_relations()}
    for (unit, relation), track in town.witness.tracks.items():
        if unit in town.forced or str(relation) in town.forced:
            continue
        if unit not in there:
            assert not track.members, f"{unit} never departed from {track.members} in {relation}"
        elif relation not in present:
            assert not track.created, f"{unit} never broke relation {relation}"


def check_nothing_left(town: RandomModel) -> None:
    assert town.read(lambda tx: tx.find(Model, "model_by_uuid", uuid=town.model)) is None
    assert town.rows(town.model) == {}
    assert town.cloud.played_machines == {}
    assert not town.ctx.controller.known_hosts(town.model).exists()
