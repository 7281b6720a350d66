"""The state transitions of operations: prepare, execute, commit. No I/O.

Each step returns the next local state, already validated, which the caller writes in one transaction:

    local = apply_effects(local, decision.effects)    # and perform the effects on the model
    if the operation is skip-hook: go to commit
    if skip_reason(local, operation, remote): log it, and go to commit
    local = prepare(local, operation, remote)         # write; then run it on the machine
    local = executed(local, operation, outcome)       # write; together with the commit where that follows
    local = committed(local, operation)               # write; with what the hook wrote, and `commit_effects`

A failed run is not committed: the state that `executed` returned stays, and the next decision handles the
failure. `is_success` returns True for the outcomes that are committed.

Mirrors: juju worker/uniter/operation/{deploy,runhook,runaction,leader}.go,
worker/uniter/op_callbacks.go (3.6)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final

from pushjuju.core.errors import NotValid
from pushjuju.core.model.series import SeriesStatus
from pushjuju.core.values import changed
from pushjuju.uniter.decide.decision import Operation, OperationName
from pushjuju.uniter.decide.remote import RemoteState
from pushjuju.uniter.decide.state import (
    HookInfo,
    HookKind,
    LocalState,
    OperationKind,
    Step,
    validate_hook,
    validate_local,
)
from pushjuju.uniter.state import hook_records
from pushjuju.uniter.state.effects import SERIES_AFTER


class Outcome(StrEnum):
    """How the run of an operation ended on the machine."""

    OK = "ok"
    MISSING = "missing"  # the charm has no such hook: a success
    FAILED = "failed"
    TERMINATED = "terminated"  # killed by SIGTERM or SIGKILL: run again at once
    INTERRUPTED = "interrupted"  # how it ended is unknown: counts as failed
    NOT_STARTED = "not-started"  # it never began: run it again
    REBOOT_AFTER = "reboot-after"  # a success; the commit waits for the reboot
    REBOOT_NOW = "reboot-now"  # killed for a reboot: run again after it
    CONFLICT = "conflict"  # the charm could not be unpacked over the old one


_SUCCESS = (Outcome.OK, Outcome.MISSING, Outcome.REBOOT_AFTER)
_AGAIN = (Outcome.TERMINATED, Outcome.REBOOT_NOW, Outcome.NOT_STARTED)
_DEPLOY = {OperationName.INSTALL: OperationKind.INSTALL, OperationName.UPGRADE: OperationKind.UPGRADE}
_ACTIONS = (OperationName.RUN_ACTION, OperationName.FAIL_ACTION)
# The leader manages secrets of the application; the unit may have lost the leadership since the decision.
_LEADERS_SECRETS = (HookKind.SECRET_ROTATE, HookKind.SECRET_EXPIRED, HookKind.SECRET_REMOVE)


def is_success(outcome: Outcome) -> bool:
    """Return True for the outcomes of operations that are committed (reboot-after: after the reboot)."""
    return outcome in _SUCCESS


def skip_reason(local: LocalState, operation: Operation, remote: RemoteState) -> str:
    """Return why an operation must be committed without prepare and run, or an empty text to run it.

    Args:
        remote: Read again before the run: leadership and relations may have changed since the decision.
    """
    match operation.name:
        case OperationName.INSTALL | OperationName.UPGRADE:
            return _already_deployed(local, operation)
        case OperationName.RUN_HOOK:
            return _hook_pointless(local, operation, remote)
        case OperationName.RUN_ACTION if local.kind is OperationKind.RUN_ACTION:
            return "the action has ended"
        case OperationName.RUN_ACTION if all(item.id != operation.action_id for item in remote.actions):
            return "the action is no longer pending"
        case OperationName.RUN_ACTION | OperationName.FAIL_ACTION | OperationName.RUN_COMMANDS:
            return ""
        case _:
            return "nothing to run"


def _already_deployed(local: LocalState, operation: Operation) -> str:
    done = local.kind is _DEPLOY[operation.name] and local.step is Step.DONE
    return "the charm is unpacked" if done and local.charm_url == operation.charm_url else ""


def _hook_pointless(local: LocalState, operation: Operation, remote: RemoteState) -> str:
    hook = operation.hook
    assert hook is not None
    if hook.kind.is_relation and hook.relation_id not in local.relations:
        return f"relation {hook.relation_id} is gone"
    if hook.kind.is_storage and hook.storage_id not in remote.storage:
        return f"storage {hook.storage_id} is gone"
    if remote.leader:
        return ""
    owned = remote.secrets_owned.get(hook.secret_uri)
    leaders = hook.kind in _LEADERS_SECRETS and owned is not None and owned.application
    if hook.kind is HookKind.LEADER_ELECTED or leaders:
        return "the unit is no longer leader"
    return ""


def prepare(local: LocalState, operation: Operation, remote: RemoteState) -> LocalState:
    """Return the state to write before an operation runs.

    Args:
        remote: The state for which `skip_reason` returned "".
    """
    match operation.name:
        case OperationName.INSTALL | OperationName.UPGRADE:
            return _valid(_deploying(local, operation))
        case OperationName.RUN_HOOK:
            return _valid(_about_to_run(local, operation))
        case OperationName.RUN_ACTION | OperationName.FAIL_ACTION:
            pending = {item.id for item in remote.actions}
            return _valid(
                changed(
                    local,
                    kind=OperationKind.RUN_ACTION,
                    step=Step.PENDING,
                    action_id=operation.action_id,
                    completed_actions=local.completed_actions & pending,
                )
            )
        case _:
            return local


def _deploying(local: LocalState, operation: Operation) -> LocalState:
    """Return the state of a deployment, with the interrupted hook to which the commit returns."""
    interrupted = None if local.kind is OperationKind.RUN_ACTION else local.hook
    progress = local.hook_progress if local.kind is OperationKind.RUN_HOOK else local.hook_step
    return changed(
        local,
        kind=_DEPLOY[operation.name],
        step=Step.PENDING,
        charm_url=operation.charm_url,
        action_id="",
        hook=interrupted,
        hook_step=progress if interrupted else None,
    )


def _about_to_run(local: LocalState, operation: Operation) -> LocalState:
    hook = operation.hook
    assert hook is not None
    validate_hook(hook)
    hook_records.check_hook(local, hook)
    running = _current_hook(local, hook, Step.PENDING)
    # The run answers the timer that ran out; the next failure starts the timer again.
    return changed(running, retry_hook_version=operation.seen.retry_hook_version, retry_timer_running=False)


def _current_hook(
    local: LocalState, hook: HookInfo, step: Step, *, with_progress: bool = False
) -> LocalState:
    return changed(
        local,
        kind=OperationKind.RUN_HOOK,
        step=step,
        hook=hook,
        hook_step=step if with_progress else None,
        action_id="",
        charm_url="",
    )


def executed(
    local: LocalState, operation: Operation, outcome: Outcome, *, status_set: bool = False
) -> LocalState:
    """Return the state to write after an operation ran on the machine.

    Args:
        status_set: True when this hook used status-set; kept even when the hook failed, as the status is.
    """
    local = changed(local, status_set=local.status_set or status_set)
    if operation.name in _DEPLOY:
        if outcome is Outcome.CONFLICT:
            return _valid(changed(local, conflicted=True))
        return _valid(changed(local, step=Step.DONE) if is_success(outcome) else local)
    if operation.name is OperationName.RUN_HOOK:
        return _valid(_hook_executed(local, operation, outcome))
    if operation.name in _ACTIONS:
        return _valid(_action_executed(local, outcome))
    return local


def _hook_executed(local: LocalState, operation: Operation, outcome: Outcome) -> LocalState:
    assert operation.hook is not None
    if is_success(outcome):
        return _current_hook(local, operation.hook, Step.DONE, with_progress=True)
    if outcome in _AGAIN:
        return _current_hook(local, operation.hook, Step.QUEUED, with_progress=True)
    return local


def _action_executed(local: LocalState, outcome: Outcome) -> LocalState:
    """Return the state after an action: ended, not started, or interrupted, in which case it fails next."""
    if outcome is Outcome.INTERRUPTED:
        return local
    if outcome is Outcome.NOT_STARTED:
        return _back_from_action(local)
    return changed(local, step=Step.DONE)


def committed(local: LocalState, operation: Operation) -> LocalState:
    """Return the state to write when an operation has ended: after a success, or after it was skipped."""
    return _valid(_COMMITS[operation.name](local, operation))


def _commit_deploy(local: LocalState, operation: Operation) -> LocalState:
    """Return to the interrupted hook, or queue the first hook of the new charm."""
    install = operation.name is OperationName.INSTALL
    local = changed(
        local,
        current_charm_url=operation.charm_url,
        charm_modified_version=operation.seen.charm_modified_version,
        conflicted=False,
    )
    if not install:
        # Non-leaders get leader-settings-changed again; the loop reads both states again.
        local = changed(local, restart=True, leader_settings_version=0)
    if local.hook is None:
        hook = HookInfo(kind=HookKind.INSTALL if install else HookKind.UPGRADE_CHARM)
        return _current_hook(local, hook, Step.QUEUED)
    progress = local.hook_step
    return changed(_current_hook(local, local.hook, progress or Step.PENDING), hook_step=progress)


def _commit_hook(local: LocalState, operation: Operation) -> LocalState:
    hook = operation.hook
    assert hook is not None
    local = changed(
        _flagged(hook_records.hook_committed(local, hook), hook.kind),
        update_status_version=operation.seen.update_status_version,
        retry_timer_running=False,
        retry_attempt=0,
    )
    return _after_hook(_taken_over(local, operation, hook.kind), hook.kind)


def _flagged(local: LocalState, kind: HookKind) -> LocalState:
    match kind:
        case HookKind.INSTALL:
            return changed(local, installed=True, removed=False)
        case HookKind.START:
            return changed(local, started=True, stopped=False)
        case HookKind.STOP:
            return changed(local, stopped=True)
        case HookKind.REMOVE:
            return changed(local, removed=True)
        case _:
            return local


def _taken_over(local: LocalState, operation: Operation, kind: HookKind) -> LocalState:
    """Store the versions at the time of the decision: later changes of the model cause another hook."""
    seen = operation.seen
    if kind is HookKind.START or not local.boot_id:
        local = changed(local, boot_id=seen.boot_id or local.boot_id)
    if kind is HookKind.CONFIG_CHANGED:
        return changed(
            local,
            config_hash=seen.config_hash,
            trust_hash=seen.trust_hash,
            addresses_hash=seen.addresses_hash,
        )
    if kind is HookKind.LEADER_SETTINGS_CHANGED:
        return changed(local, leader_settings_version=seen.leader_settings_version)
    return changed(local, series=SERIES_AFTER.get(kind, local.series))


def _after_hook(local: LocalState, kind: HookKind) -> LocalState:
    """Queue the hook that must follow at once, or return to idle."""
    if kind is HookKind.CONFIG_CHANGED and not local.started:
        return _current_hook(local, HookInfo(kind=HookKind.START), Step.QUEUED)
    if kind is HookKind.UPGRADE_CHARM:
        return _current_hook(local, HookInfo(kind=HookKind.CONFIG_CHANGED), Step.QUEUED)
    return _go_on(local)


def _go_on(local: LocalState) -> LocalState:
    return changed(
        local,
        kind=OperationKind.CONTINUE,
        step=Step.PENDING,
        hook=None,
        hook_step=None,
        action_id="",
        charm_url="",
    )


def _commit_action(local: LocalState, operation: Operation) -> LocalState:
    local = _back_from_action(local)
    return changed(local, completed_actions=local.completed_actions | {operation.action_id})


def _back_from_action(local: LocalState) -> LocalState:
    """Return to the failed hook, with its progress, or to idle."""
    if local.hook is None:
        return _go_on(local)
    return changed(_current_hook(local, local.hook, Step.PENDING), hook_step=local.hook_step)


def _accept_leadership(local: LocalState, operation: Operation) -> LocalState:  # noqa: ARG001
    """Accept leadership and queue leader-elected in one commit, so that no other hook runs in between."""
    if local.kind is not OperationKind.CONTINUE:
        raise NotValid(f"cannot accept leadership with kind {local.kind}")
    if local.leader:
        return local
    return changed(_current_hook(local, HookInfo(kind=HookKind.LEADER_ELECTED), Step.QUEUED), leader=True)


def _resign_leadership(local: LocalState, operation: Operation) -> LocalState:  # noqa: ARG001
    return changed(local, leader=False)


def _complete_series(local: LocalState, operation: Operation) -> LocalState:  # noqa: ARG001
    return changed(local, series=SeriesStatus.NOT_STARTED)


def _unchanged(local: LocalState, operation: Operation) -> LocalState:  # noqa: ARG001
    return local


def _secrets_removed(local: LocalState, operation: Operation) -> LocalState:
    return hook_records.secrets_removed(local, operation.secrets)


_COMMITS: Final[Mapping[OperationName, Callable[[LocalState, Operation], LocalState]]] = {
    OperationName.INSTALL: _commit_deploy,
    OperationName.UPGRADE: _commit_deploy,
    OperationName.RUN_HOOK: _commit_hook,
    OperationName.SKIP_HOOK: _commit_hook,
    OperationName.RUN_ACTION: _commit_action,
    OperationName.FAIL_ACTION: _commit_action,
    OperationName.RUN_COMMANDS: _unchanged,
    OperationName.ACCEPT_LEADERSHIP: _accept_leadership,
    OperationName.RESIGN_LEADERSHIP: _resign_leadership,
    OperationName.COMPLETE_SERIES: _complete_series,
    OperationName.SECRETS_REMOVED: _secrets_removed,
}


def _valid(local: LocalState) -> LocalState:
    validate_local(local)
    return local
