"""Runs, retries or commits the hook in progress, and controls its retry timer. Pure.

Mirrors: juju worker/uniter/resolver.go nextOpHookError (3.6)
"""

from __future__ import annotations

from pushjuju.uniter.decide.decision import (
    GO_ON,
    Decision,
    Effect,
    EffectKind,
    Variant,
    Verdict,
    idle,
    run_hook,
    skip_hook,
)
from pushjuju.uniter.decide.naming import hook_error
from pushjuju.uniter.decide.remote import RemoteState
from pushjuju.uniter.decide.resolvers.upgrade import NO_PROFILE, charm_modified, upgrade_to
from pushjuju.uniter.decide.state import HookInfo, HookKind, LocalState, OperationKind, ResolvedMode, Step

_DISARM = Effect(kind=EffectKind.DISARM_RETRY_TIMER)
_CLEAR = Effect(kind=EffectKind.CLEAR_RESOLVED)


def retry_timer(local: LocalState, remote: RemoteState) -> Verdict:  # noqa: ARG001  # one signature for all
    """Stop the timer when no hook is in error."""
    in_error = local.kind is OperationKind.RUN_HOOK and local.step is Step.PENDING
    return (_DISARM,) if local.retry_timer_running and not in_error else GO_ON


def hooks(local: LocalState, remote: RemoteState) -> Verdict:
    """Continue the hook in progress: run it, decide after its failure, or commit it."""
    if local.kind is not OperationKind.RUN_HOOK or local.hook is None:
        return GO_ON
    hook = local.hook
    match local.hook_progress:
        case Step.PENDING:
            return _failed(local, remote, hook)
        case Step.DONE:
            return skip_hook(remote, hook, f"{hook.kind} ran and is not committed yet")
        case Step.QUEUED if hook.kind is not HookKind.INSTALL:
            return run_hook(remote, hook, f"{hook.kind} is queued")
        case _:
            return GO_ON


def _failed(local: LocalState, remote: RemoteState, hook: HookInfo) -> Decision:
    """Return the decision for a hook that failed, or whose result is unknown."""
    report = hook_error(hook, remote)
    if remote.force_charm and charm_modified(local, remote):
        if not remote.profile_ready:  # the new charm may need the profile at once
            return idle(NO_PROFILE, report)
        return upgrade_to(remote, remote.charm_url, Variant.PLAIN, "another charm was forced", report)
    if remote.resolved is ResolvedMode.RETRY_HOOKS:
        return run_hook(remote, hook, "a user resolved the hook with a retry", report, _DISARM, _CLEAR)
    if remote.resolved is ResolvedMode.NO_HOOKS:
        return skip_hook(remote, hook, "a user resolved the hook without a retry", report, _DISARM, _CLEAR)
    if remote.retry_hook_version > local.retry_hook_version:
        return run_hook(remote, hook, f"retry {local.retry_attempt} is due", report)
    return idle(f"{report.message}: {_hope(remote)}", report, *_timer(local, remote))


def _timer(local: LocalState, remote: RemoteState) -> tuple[Effect, ...]:
    """Start the timer of the next retry, unless the timer runs or retries are disabled."""
    if local.retry_timer_running:
        return GO_ON if remote.retry_hooks else (_DISARM,)
    if not remote.retry_hooks:
        return GO_ON
    return (Effect(kind=EffectKind.ARM_RETRY_TIMER, attempt=local.retry_attempt + 1),)


def _hope(remote: RemoteState) -> str:
    return "a retry will follow" if remote.retry_hooks else "retries are disabled; resolve the hook"
