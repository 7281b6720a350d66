"""What must be updated in the model before a decision: scopes, storage, the unit's own life.

The caller performs the effects in this order, which is Juju's, reads both states again and decides.
Performing an effect twice does no harm.

Mirrors: juju worker/uniter/relation/statetracker.go SynchronizeScopes,
worker/uniter/storage/attachments.go (3.6)
"""

from __future__ import annotations

from collections.abc import Iterator

from pushjuju.core.model.series import SeriesStatus
from pushjuju.core.names import application_of
from pushjuju.core.status import Life
from pushjuju.uniter.decide.decision import Effect, EffectKind
from pushjuju.uniter.decide.remote import RemoteRelation, RemoteState
from pushjuju.uniter.decide.resolvers.storage import attachment_life, storage_order
from pushjuju.uniter.decide.state import LocalState, OperationKind


def reconcile_effects(local: LocalState, remote: RemoteState) -> tuple[Effect, ...]:
    """Return the changes that the model needs before the next decision.

    - forget-relation: the relation was deleted (for example by force): delete the record, run no hooks.
    - leave-scope: leave an implicit relation, or a relation that ended before its relation-created ran, so
    that no hook has reported it; delete the record, too.
    - enter-scope: write an empty record, enter, create the subordinate unit if the scope is container, let
    the leader set the relation's status to joined. When the scope cannot be entered yet, the next turn tries
    again.
    - destroy-unit: a subordinate whose last relation to its principal's application has ended.
    - destroy-storage-attachments, remove-storage-attachment: storage of a dying unit, or never attached.
    - forget-storage: the attachment was deleted (by force): delete the record, run no hook.

    A unit whose machine is being upgraded to another base changes nothing.
    """
    if remote.life is Life.DEAD or local.removed or remote.series.frozen:
        return ()
    return (
        *_forget(local, remote),
        *_scopes(local, remote),
        *_own_life(local, remote),
        *_storage(local, remote),
    )


def _forget(local: LocalState, remote: RemoteState) -> Iterator[Effect]:
    for relation_id in sorted(local.relations.keys() - remote.relations.keys()):
        yield Effect(kind=EffectKind.FORGET_RELATION, relation_id=relation_id)


def _settled(local: LocalState, remote: RemoteState) -> bool:
    """Return True when the unit may enter scopes: the unit is installed, idle and alive."""
    return local.installed and remote.life is Life.ALIVE and local.kind is OperationKind.CONTINUE


def _scopes(local: LocalState, remote: RemoteState) -> Iterator[Effect]:
    for relation_id, relation in sorted(remote.relations.items()):
        if relation_id in local.relations:
            if _leaves_silently(local, remote, relation_id):
                yield Effect(kind=EffectKind.LEAVE_SCOPE, relation_id=relation_id)
        elif relation.implemented and _enters(local, remote, relation):
            yield Effect(kind=EffectKind.ENTER_SCOPE, relation_id=relation_id)


def _enters(local: LocalState, remote: RemoteState, relation: RemoteRelation) -> bool:
    """Return True when the unit enters a scope now; a machine under upgrade gets no new subordinates."""
    upgrading = remote.series is not SeriesStatus.NOT_STARTED
    return relation.usable and _settled(local, remote) and not (relation.container and upgrading)


def _leaves_silently(local: LocalState, remote: RemoteState, relation_id: int) -> bool:
    relation = remote.relations[relation_id]
    if relation.implicit:
        return _over(remote, relation)
    told = local.relations[relation_id].created or relation.peer
    in_hook = local.hook is not None and local.hook.relation_id == relation_id
    return not (told or in_hook) and (remote.life is Life.DYING or not relation.usable)


def _over(remote: RemoteState, relation: RemoteRelation) -> bool:
    return not relation.usable or (remote.life is Life.DYING and relation.container)


def _own_life(local: LocalState, remote: RemoteState) -> Iterator[Effect]:
    """Destroy a subordinate without usable relation to its principal; relations to others do not count."""
    if not remote.principal or not _settled(local, remote):
        return
    principal = application_of(remote.principal)
    ties = (
        relation.container and relation.usable and relation.remote_application == principal
        for relation in remote.relations.values()
    )
    if not any(ties):
        yield Effect(kind=EffectKind.DESTROY_UNIT)


def _storage(local: LocalState, remote: RemoteState) -> Iterator[Effect]:
    """Remove storage that needs no hook, except storage whose hook is in progress."""
    current = local.hook.storage_id if local.hook else ""
    for item in sorted(local.storage - remote.storage.keys() - {current}, key=storage_order):
        yield Effect(kind=EffectKind.FORGET_STORAGE, storage_id=item)
    ids = sorted(remote.storage, key=storage_order)
    if remote.life is Life.DYING and any(remote.storage[item].life is Life.ALIVE for item in ids):
        yield Effect(kind=EffectKind.DESTROY_STORAGE_ATTACHMENTS)
    for item in ids:
        known = item in local.storage or item == current
        if attachment_life(remote, item) is not Life.ALIVE and not known:
            yield Effect(kind=EffectKind.REMOVE_STORAGE_ATTACHMENT, storage_id=item)
