"""Changes what a unit remembers of relations, storage and secrets when a hook is committed. Pure.

Mirrors: juju worker/uniter/relation/state.go UpdateStateForHook, Validate, worker/uniter/storage/state.go,
worker/uniter/secrets/state.go (3.6)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from pushjuju.core.errors import NotValid
from pushjuju.core.values import changed
from pushjuju.uniter.decide.state import HookInfo, HookKind, LocalState, RelationRecord

K = TypeVar("K", int, str)
V = TypeVar("V")


def check_hook(local: LocalState, hook: HookInfo) -> None:
    """Check that a hook fits what the unit remembers."""
    if hook.relation_id is not None and hook.relation_id in local.relations:
        if broken := _relation_rule(local.relations[hook.relation_id], hook):
            raise NotValid(f'inappropriate "{hook.kind}" for relation {hook.relation_id}: {broken}')
    elif hook.kind is HookKind.STORAGE_ATTACHED and hook.storage_id in local.storage:
        raise NotValid(f'inappropriate "{hook.kind}" hook for storage {hook.storage_id}: already attached')
    elif hook.kind is HookKind.STORAGE_DETACHING and hook.storage_id not in local.storage:
        raise NotValid(f'inappropriate "{hook.kind}" hook for storage {hook.storage_id}: not attached')


def _relation_rule(record: RelationRecord, hook: HookInfo) -> str:
    """Return the rule of a relation that a hook breaks, or ""."""
    kind, unit = hook.kind, hook.remote_unit
    if kind is HookKind.RELATION_CREATED:
        return ""
    if pending := record.changed_pending:
        if unit != pending or kind is not HookKind.RELATION_CHANGED:
            return f'expected "relation-changed" for "{pending}"'
        return ""
    if kind is HookKind.RELATION_BROKEN:
        return "cannot run while units still present" if record.members else ""
    if not unit:
        return ""
    if kind is HookKind.RELATION_JOINED:
        return "unit already joined" if unit in record.members else ""
    return "" if unit in record.members else "unit has not joined"


def hook_committed(local: LocalState, hook: HookInfo) -> LocalState:
    """Return the local state after a hook ran or was skipped."""
    if hook.kind.is_relation:
        return _relation_hook(local, hook)
    match hook.kind:
        case HookKind.STORAGE_ATTACHED:
            return changed(local, storage=local.storage | {hook.storage_id})
        case HookKind.STORAGE_DETACHING:
            return changed(local, storage=local.storage - {hook.storage_id})
        case HookKind.SECRET_CHANGED:
            revisions = _with(local.secret_revisions, hook.secret_uri, hook.secret_revision)
            return changed(local, secret_revisions=revisions)
        case HookKind.SECRET_REMOVE:
            known = local.secret_obsolete_revisions.get(hook.secret_uri, ())
            seen = tuple(sorted({*known, hook.secret_revision}))
            obsolete = _with(local.secret_obsolete_revisions, hook.secret_uri, seen)
            return changed(local, secret_obsolete_revisions=obsolete)
        case _:
            return local


def _relation_hook(local: LocalState, hook: HookInfo) -> LocalState:
    relation_id = hook.relation_id
    if relation_id is None or relation_id not in local.relations:
        return local  # the record was deleted while the hook ran
    if hook.kind is HookKind.RELATION_BROKEN:
        return relation_forgotten(local, relation_id)
    record = _noted(local.relations[relation_id], hook)
    return changed(local, relations=_with(local.relations, relation_id, record))


def _noted(record: RelationRecord, hook: HookInfo) -> RelationRecord:
    unit, app, version = hook.remote_unit, hook.remote_application, hook.change_version
    match hook.kind:
        case HookKind.RELATION_CREATED:
            apps = _with(record.application_members, app, 0) if app else record.application_members
            return changed(record, created=True, application_members=apps)
        case HookKind.RELATION_JOINED:
            return changed(record, members=_with(record.members, unit, version), changed_pending=unit)
        case HookKind.RELATION_DEPARTED:
            return changed(record, members=_without(record.members, (unit,)))
        case HookKind.RELATION_CHANGED if unit:
            pending = "" if unit == record.changed_pending else record.changed_pending
            return changed(record, members=_with(record.members, unit, version), changed_pending=pending)
        case _:
            apps = _with(record.application_members, app, version)
            return changed(record, application_members=apps)


def relation_entered(local: LocalState, relation_id: int) -> LocalState:
    """Return the local state with a record for a relation, whose scope the unit has entered."""
    if relation_id in local.relations:
        return local
    return changed(local, relations=_with(local.relations, relation_id, RelationRecord()))


def relation_forgotten(local: LocalState, relation_id: int) -> LocalState:
    """Return the local state without the record of a relation."""
    return changed(local, relations=_without(local.relations, (relation_id,)))


def secrets_removed(local: LocalState, uris: Iterable[str]) -> LocalState:
    """Return the local state without the records of deleted secrets."""
    gone = tuple(uris)
    return changed(
        local,
        secret_revisions=_without(local.secret_revisions, gone),
        secret_obsolete_revisions=_without(local.secret_obsolete_revisions, gone),
    )


def _with(mapping: Mapping[K, V], key: K, value: V) -> dict[K, V]:
    return {**mapping, key: value}


def _without(mapping: Mapping[K, V], keys: Iterable[K]) -> dict[K, V]:
    gone = set(keys)
    return {key: value for key, value in mapping.items() if key not in gone}
