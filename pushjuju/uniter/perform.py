"""Effects on the model: what decisions, reconciling and commits change beside the unit itself. Layer: uniter.

Every effect may be performed twice without harm.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from pushjuju.core.clock import to_iso
from pushjuju.core.life import Life
from pushjuju.core.status import Agent, StatusKind
from pushjuju.services import network, relations, removal, statuses
from pushjuju.services.context import Context
from pushjuju.state.records import Relation, RelationScope
from pushjuju.state.store import Tx
from pushjuju.uniter.hookcontext import egress_subnets
from pushjuju.uniter.resolver import Effect, EffectKind, retry_delay
from pushjuju.uniter.snapshot import View


def perform(ctx: Context, tx: Tx, view: View, effects: Iterable[Effect]) -> None:
    """Perform effects in their order."""
    for effect in effects:
        _perform(ctx, tx, view, effect)


def _perform(ctx: Context, tx: Tx, view: View, effect: Effect) -> None:
    unit, now = view.unit, ctx.clock.now()
    match effect.kind:
        case EffectKind.REPORT_ERROR:
            statuses.set_agent_status(
                tx, unit.model, unit.name, Agent.ERROR, effect.message, now=now, data=effect.data
            )
        case EffectKind.REPORT_IDLE:
            statuses.set_agent_status(tx, unit.model, unit.name, Agent.IDLE, now=now)
        case EffectKind.CLEAR_RESOLVED:
            tx.run("unit_set_resolved", model=unit.model, name=unit.name, resolved="none")
        case EffectKind.ARM_RETRY_TIMER:
            due = now + timedelta(seconds=retry_delay(effect.attempt, ctx.random.random()))
            _set_retry(tx, view, effect.attempt, to_iso(due))
        case EffectKind.DISARM_RETRY_TIMER:
            _set_retry(tx, view, 0, None)
        case EffectKind.ENTER_SCOPE:
            _enter_scope(ctx, tx, view, effect)
        case EffectKind.LEAVE_SCOPE if effect.relation_id is not None:
            relations.leave_scope(tx, unit.model, effect.relation_id, unit.name, now)
        case EffectKind.DESTROY_SUBORDINATES:
            for subordinate in removal.subordinates(tx, unit):
                removal.destroy_unit(tx, subordinate, now)
        case EffectKind.DESTROY_UNIT:
            removal.destroy_unit(tx, unit, now)
        case EffectKind.FORGET_RELATION:
            pass  # only the unit's own record goes, and that is local state
        case _:
            raise AssertionError(f"no snapshot of this version leads to {effect.kind}")


def _set_retry(tx: Tx, view: View, attempt: int, due: str | None) -> None:
    unit = view.unit
    tx.run(
        "unit_set_retry", model=unit.model, name=unit.name, version=unit.retry_version, count=attempt, due=due
    )


def _enter_scope(ctx: Context, tx: Tx, view: View, effect: Effect) -> None:
    unit, now = view.unit, ctx.clock.now()
    relation = tx.find(Relation, "relation_get", model=unit.model, id=effect.relation_id)
    if relation is None or relation.life != Life.ALIVE:
        return
    if _in_scope(tx, view, relation.id):
        return
    settings = network.relation_settings(view.machine, egress_subnets(tx, unit.model))
    relations.enter_scope(tx, unit, relation, settings, now)
    if view.remote.leader:
        statuses.set_status(tx, unit.model, StatusKind.RELATION, str(relation.id), "joined", now=now)


def _in_scope(tx: Tx, view: View, relation_id: int) -> bool:
    entries = tx.list(RelationScope, "scope_of_unit", model=view.unit.model, unit=view.unit.name)
    return any(entry.relation == relation_id for entry in entries)
