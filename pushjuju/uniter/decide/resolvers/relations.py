"""Hooks of relations: relation-created of all relations first, then the others, relation by relation. Pure.

Entering and leaving scopes is not done here: see `pushjuju.uniter.decide.reconcile`.

Mirrors: juju worker/uniter/relation/resolver.go (3.6)
"""

from __future__ import annotations

from collections.abc import Iterator

from pushjuju.core.status import Life
from pushjuju.core.values import dataclass
from pushjuju.uniter.decide.decision import GO_ON, Effect, EffectKind, Verdict, run_hook
from pushjuju.uniter.decide.remote import RemoteRelation, RemoteState
from pushjuju.uniter.decide.state import HookInfo, HookKind, LocalState, OperationKind, RelationRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tracked:
    """One relation that the unit is in: its record and its remote state."""

    id: int
    record: RelationRecord
    relation: RemoteRelation
    broken: bool

    def hook(self, kind: HookKind, unit: str = "", version: int = 0, departee: str = "") -> HookInfo:
        """Return the identity of a hook of this relation."""
        return HookInfo(
            kind=kind,
            relation_id=self.id,
            remote_unit=unit,
            remote_application=self.relation.remote_application,
            change_version=version,
            departee=departee,
        )


def relation_created(local: LocalState, remote: RemoteState) -> Verdict:
    """Run relation-created for each relation that the unit has entered, before its other hooks."""
    if not local.installed or remote.life is not Life.ALIVE or local.kind is not OperationKind.CONTINUE:
        return GO_ON
    for item in _tracked(local, remote):
        if item.relation.life is Life.ALIVE and not item.relation.suspended and not item.record.created:
            reason = f"the unit entered relation {item.id} ({item.relation.endpoint})"
            return run_hook(remote, item.hook(HookKind.RELATION_CREATED), reason)
    return GO_ON


def relations(local: LocalState, remote: RemoteState) -> Verdict:
    """Run the next hook of the first relation, by id, that has a hook to run."""
    effects = subordinates_to_destroy(remote)
    if local.kind is not OperationKind.CONTINUE:
        return effects
    for item in _tracked(local, remote):
        if found := _next_hook(item, remote):
            hook, reason = found
            where = f"relation {item.id} ({item.relation.endpoint})"
            return run_hook(remote, hook, f"{where}: {reason}", *effects)
    return effects


def subordinates_to_destroy(remote: RemoteState) -> tuple[Effect, ...]:
    """Return the effect that destroys the subordinates of a dying principal, which then end by themselves."""
    if remote.life is Life.DYING and Life.ALIVE in remote.subordinates.values():
        return (Effect(kind=EffectKind.DESTROY_SUBORDINATES),)
    return ()


def _tracked(local: LocalState, remote: RemoteState) -> Iterator[_Tracked]:
    """Yield the relations that may have hooks: in both states and not implicit."""
    for relation_id in sorted(local.relations.keys() & remote.relations.keys()):
        relation = remote.relations[relation_id]
        if not relation.implicit:
            yield _Tracked(
                id=relation_id,
                record=local.relations[relation_id],
                relation=relation,
                broken=remote.life is Life.DYING or not relation.usable,
            )


def _next_hook(item: _Tracked, remote: RemoteState) -> tuple[HookInfo, str] | None:
    """Return the next hook of one relation and its reason, in a strict order.

    Mirrors: juju worker/uniter/relation/resolver.go nextHookForRelation (3.6)
    """
    record = item.record
    members = {} if item.broken else item.relation.members
    if unit := record.changed_pending:
        version = members.get(unit, 0)
        hook = item.hook(HookKind.RELATION_CHANGED, unit, version)
        return hook, f"{unit} joined and its settings were not reported yet"
    for unit in sorted(record.members):
        if unit not in members:
            departee = remote.unit if _leaving(remote) else unit
            version = record.members[unit]
            return item.hook(HookKind.RELATION_DEPARTED, unit, version, departee), f"{unit} left"
    if item.broken:
        return (
            None
            if item.relation.peer
            else (item.hook(HookKind.RELATION_BROKEN), "it has ended for this unit")
        )
    return _next_news(item)


def _next_news(item: _Tracked) -> tuple[HookInfo, str] | None:
    """Return the next hook of a relation from which no unit departed."""
    record, relation = item.record, item.relation
    for app in sorted(relation.app_members):
        version = relation.app_members[app]
        if version != record.application_members.get(app, 0):
            hook = HookInfo(
                kind=HookKind.RELATION_CHANGED,
                relation_id=item.id,
                remote_application=app,
                change_version=version,
            )
            return hook, f"the settings of application {app} changed"
    for unit in sorted(relation.members):
        if unit not in record.members:
            hook = item.hook(HookKind.RELATION_JOINED, unit, relation.members[unit])
            return hook, f"{unit} joined"
    for unit in sorted(relation.members):
        if relation.members[unit] != record.members[unit]:
            hook = item.hook(HookKind.RELATION_CHANGED, unit, relation.members[unit])
            return hook, f"the settings of {unit} changed"
    return None


def _leaving(remote: RemoteState) -> bool:
    """Return True when this unit or its application is being removed."""
    return remote.life is not Life.ALIVE or remote.application_life is not Life.ALIVE
