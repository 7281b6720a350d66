"""Performs effects: what decisions, reconciling and commits change in the model apart from the unit's state.

Performing an effect twice does no harm.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from pushjuju.core.model.series import SeriesStatus
from pushjuju.core.status import Agent, Life, StatusInfo, StatusKind, Workload
from pushjuju.services.entities.application import applications, units
from pushjuju.services.entities.basis import statuses, wake
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import upgrade_machine
from pushjuju.services.entities.relation import relations, remote_applications
from pushjuju.services.entities.storage import storage_instances
from pushjuju.services.lifecycle import removal
from pushjuju.store.rows.records import Relation, RelationScope
from pushjuju.store.tx import ModelTx, Tx
from pushjuju.uniter.decide.decision import Effect, EffectKind
from pushjuju.uniter.decide.timing import retry_delay
from pushjuju.uniter.input.hookcontext import relation_settings
from pushjuju.uniter.input.snapshot import View
from pushjuju.uniter.input.unit_secrets import note


def perform(ctx: Context, tx: ModelTx, view: View, effects: Iterable[Effect]) -> tuple[Effect, ...]:
    """Perform effects in their order.

    Returns:
        The effects that were performed; entering a scope may have to wait.
    """
    return tuple(effect for effect in effects if _perform(ctx, tx, view, effect))


def _perform(ctx: Context, tx: ModelTx, view: View, effect: Effect) -> bool:
    unit, now = view.unit, ctx.clock.now()
    match effect.kind:
        case EffectKind.REPORT_ERROR:
            statuses.set_agent_status(tx, unit.name, Agent.ERROR, effect.message, now=now, data=effect.data)
            if unit.forced:  # the forced removal of a unit in error needs no more hooks
                wake.cleaner(tx, now, f"{unit.name} is in error")
            # Models that consume an offer of the application show its status.
            _tell_consumers(tx, view)
        case EffectKind.REPORT_IDLE:
            statuses.set_agent_status(tx, unit.name, Agent.IDLE, now=now)
            _tell_consumers(tx, view)
        case EffectKind.REPORT_WAITING:
            _report_waiting(tx, view, effect.message)
        case EffectKind.CLEAR_RESOLVED:
            tx.run("unit_set_resolved", name=unit.name, resolved="none")
        case EffectKind.ARM_RETRY_TIMER:
            due = now + timedelta(seconds=retry_delay(effect.attempt, ctx.random.random()))
            _set_retry(tx, view, effect.attempt, due)
        case EffectKind.DISARM_RETRY_TIMER:
            _set_retry(tx, view, 0, None)
        case EffectKind.ENTER_SCOPE:
            # An earlier subordinate may still be dying: the next turn tries again.
            return _enter_scope(tx, view, effect)
        case EffectKind.LEAVE_SCOPE if effect.relation_id is not None:
            _leave_scope(tx, view, effect.relation_id)
        case EffectKind.DESTROY_SUBORDINATES:
            for subordinate in removal.subordinates(tx, unit):
                removal.destroy_unit(tx, subordinate)
        case EffectKind.DESTROY_UNIT:
            removal.destroy_unit(tx, unit)
        case EffectKind.SERIES_STATUS:
            said = str(effect.data["message"])
            upgrade_machine.unit_is(tx, unit, SeriesStatus(effect.message), said)
        case EffectKind.DESTROY_STORAGE_ATTACHMENTS:
            storage_instances.begin_detach_all(tx, unit)
        case EffectKind.REMOVE_STORAGE_ATTACHMENT:
            storage_instances.leave(tx, unit, effect.storage_id)
        case EffectKind.SECRET_ROTATED | EffectKind.SECRET_EXPIRY_SEEN:
            note(tx, effect, rotated=effect.kind is EffectKind.SECRET_ROTATED)
        case EffectKind.FORGET_RELATION | EffectKind.FORGET_STORAGE:
            pass  # changes only the unit's local state
        case _:
            raise AssertionError(f"no snapshot of this version leads to {effect.kind}")
    return True


def _report_waiting(tx: ModelTx, view: View, message: str) -> None:
    """Set what the charm waits for: as workload status before it is installed, else as agent status.

    Mirrors: juju worker/uniter/uniter.go verifyCharmProfile (3.6)
    """
    unit = view.unit
    if view.local.installed:
        statuses.set_agent_status(tx, unit.name, Agent.IDLE, message, now=tx.now)
        return
    told = StatusInfo(status=Workload.WAITING, message=message)
    statuses.set_once(tx, StatusKind.WORKLOAD, unit.name, told)


def _tell_consumers(tx: ModelTx, view: View) -> None:
    """Send the status of an offered application to the models that consume the offer."""
    if view.application.offered:
        remote_applications.tell_consumers(tx, view.unit.application)


def _set_retry(tx: Tx, view: View, attempt: int, due: datetime | None) -> None:
    unit = view.unit
    tx.run(
        "unit_set_retry", model=unit.model, name=unit.name, version=unit.retry_version, count=attempt, due=due
    )


def _enter_scope(tx: ModelTx, view: View, effect: Effect) -> bool:
    """Enter the scope of a relation; return False when the unit cannot enter now.

    A principal that enters a container scope gets its subordinate unit; while an earlier subordinate unit is
    dying, the principal cannot enter. Mirrors: juju state/relationunit.go EnterScope (3.6)
    """
    unit = view.unit
    relation = tx.find(Relation, "relation_get", id=effect.relation_id)
    if relation is None or relation.life != Life.ALIVE or unit.life != Life.ALIVE:
        return False
    tx.ahead(relations.scope_questions, (relation.id, unit.name), changes=True)
    if _in_scope(tx, view, relation.id):
        return True
    if relation.scope == "container" and not unit.principal and not _bring_subordinate(tx, view, relation):
        return False
    own = relations.own_endpoint(view.sides[relation.id], unit.application)
    settings = relation_settings(tx, view, relation, own.endpoint)
    relations.enter_scope(tx, unit, relation, settings)
    if view.remote.leader:
        statuses.set_status(tx, StatusKind.RELATION, str(relation.id), "joined")
    return True


def _bring_subordinate(tx: ModelTx, view: View, relation: Relation) -> bool:
    """Make sure that a principal has its subordinate; return False while an earlier one is dying."""
    sides = relations.endpoints(tx, relation.id)
    name = relations.remote_endpoint(sides, view.unit.application).application
    present = [item for item in removal.subordinates(tx, view.unit) if item.application == name]
    if any(item.life != Life.ALIVE for item in present):
        return False
    if not present:
        units.add_subordinate(tx, applications.get(tx, name), view.unit)
    return True


def _leave_scope(tx: ModelTx, view: View, relation_id: int) -> None:
    """Leave the scope of a relation; the leader sets the status of a suspended relation."""
    unit = view.unit
    relations.leave_scope(tx, relation_id, unit.name)
    relation = tx.find(Relation, "relation_get", id=relation_id)
    if relation is not None and relation.suspended and view.remote.leader:
        reason = relation.suspended_reason
        statuses.set_status(tx, StatusKind.RELATION, str(relation_id), "suspended", reason)


def _in_scope(tx: ModelTx, view: View, relation_id: int) -> bool:
    entries = tx.list(RelationScope, "scope_of_unit", unit=view.unit.name)
    return any(entry.relation == relation_id for entry in entries)
