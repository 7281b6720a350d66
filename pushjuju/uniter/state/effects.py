"""Effects in the local state: which effects an operation causes, and how they change the local state.

No I/O: the caller performs the effects on the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from pushjuju.core.model.series import SeriesStatus
from pushjuju.core.values import changed
from pushjuju.uniter.decide.decision import Effect, EffectKind, Operation, OperationName
from pushjuju.uniter.decide.state import HookInfo, HookKind, LocalState
from pushjuju.uniter.state import hook_records

_HOOKS = (OperationName.RUN_HOOK, OperationName.SKIP_HOOK)
SERIES_DURING: Final[Mapping[HookKind, SeriesStatus]] = {
    HookKind.PRE_SERIES_UPGRADE: SeriesStatus.PREPARE_RUNNING,
    HookKind.POST_SERIES_UPGRADE: SeriesStatus.COMPLETE_RUNNING,
}
SERIES_AFTER: Final[Mapping[HookKind, SeriesStatus]] = {
    HookKind.PRE_SERIES_UPGRADE: SeriesStatus.PREPARE_COMPLETED,
    HookKind.POST_SERIES_UPGRADE: SeriesStatus.COMPLETED,
}


def begin_effects(operation: Operation) -> tuple[Effect, ...]:
    """Return the effects of the beginning of an operation, except statuses."""
    hook = operation.hook
    if operation.name is not OperationName.RUN_HOOK or hook is None or hook.kind not in SERIES_DURING:
        return ()
    text = f"{hook.kind} hook running"
    return (Effect(kind=EffectKind.SERIES_STATUS, message=SERIES_DURING[hook.kind], data={"message": text}),)


def commit_effects(
    operation: Operation, *, pointless: bool = False, missing: bool = False
) -> tuple[Effect, ...]:
    """Return the effects of the commit of an operation, except the writes of its hook.

    Args:
        pointless: True when the operation did not run because of `skip_reason`.
        missing: True when the charm has no such hook, or the hook was skipped.
    """
    hook = operation.hook
    if pointless or operation.name not in _HOOKS or hook is None:
        return ()
    match hook.kind:
        case HookKind.RELATION_BROKEN:
            return (Effect(kind=EffectKind.LEAVE_SCOPE, relation_id=hook.relation_id),)
        case HookKind.STORAGE_DETACHING:
            return (Effect(kind=EffectKind.REMOVE_STORAGE_ATTACHMENT, storage_id=hook.storage_id),)
        case HookKind.SECRET_ROTATE:
            return (_about_secret(EffectKind.SECRET_ROTATED, hook),)
        case HookKind.SECRET_EXPIRED:
            return (_about_secret(EffectKind.SECRET_EXPIRY_SEEN, hook),)
        case HookKind.PRE_SERIES_UPGRADE | HookKind.POST_SERIES_UPGRADE:
            return (_series_after(hook.kind, missing=missing),)
        case _:
            return ()


def _series_after(kind: HookKind, *, missing: bool) -> Effect:
    """Return the effect of a finished hook of `upgrade-machine`, with Juju's message."""
    text = f"{kind} hook not found, skipping" if missing else f"{kind} completed"
    return Effect(kind=EffectKind.SERIES_STATUS, message=SERIES_AFTER[kind], data={"message": text})


def _about_secret(kind: EffectKind, hook: HookInfo) -> Effect:
    return Effect(kind=kind, secret_uri=hook.secret_uri, revision=hook.secret_revision)


def apply_effects(local: LocalState, effects: Iterable[Effect]) -> LocalState:
    """Return the local state after the effects of a decision or a reconcile were performed on the model."""
    for effect in effects:
        match effect.kind:
            case EffectKind.ARM_RETRY_TIMER:
                local = changed(local, retry_timer_running=True, retry_attempt=effect.attempt)
            case EffectKind.DISARM_RETRY_TIMER:
                local = changed(local, retry_timer_running=False, retry_attempt=0)
            case EffectKind.ENTER_SCOPE if effect.relation_id is not None:
                local = hook_records.relation_entered(local, effect.relation_id)
            case EffectKind.LEAVE_SCOPE | EffectKind.FORGET_RELATION if effect.relation_id is not None:
                local = hook_records.relation_forgotten(local, effect.relation_id)
            case EffectKind.FORGET_STORAGE:
                local = changed(local, storage=local.storage - {effect.storage_id})
            case _:
                pass
    return local


def restarted(local: LocalState) -> LocalState:
    """Return the local state after the answer `restart`."""
    return changed(local, restart=False)
