"""Statuses that Juju itself sets while a unit's operations run. Pure.

Tools parse these texts, so they equal Juju's exactly.

Mirrors: juju worker/uniter/op_callbacks.go, worker/uniter/operation/runhook.go (3.6)
"""

from __future__ import annotations

from pushjuju.core.status import CLEANING_UP, INSTALLING_CHARM, STOPPING_CHARM, StatusInfo, Workload
from pushjuju.uniter.decide.decision import Operation, OperationName
from pushjuju.uniter.decide.naming import hook_name
from pushjuju.uniter.decide.state import HookInfo, HookKind, LocalState

_WITH_REVISION = (HookKind.SECRET_EXPIRED, HookKind.SECRET_REMOVE)


def executing_message(operation: Operation) -> str | None:
    """Return the message of agent status executing, or None when the status does not change."""
    match operation.name:
        case OperationName.RUN_HOOK if operation.hook is not None:
            return _hook_message(operation.hook, operation.endpoint)
        case OperationName.RUN_ACTION:
            return f"running action {operation.action_name}"
        case OperationName.RUN_COMMANDS:
            return "running commands"
        case _:
            return None


def _hook_message(hook: HookInfo, endpoint: str) -> str | None:
    if hook.kind is HookKind.UPDATE_STATUS:
        return None
    message = f"running {hook_name(hook, endpoint)} hook"
    if hook.kind.is_relation and hook.remote_unit:
        return f"{message} for {hook.remote_unit}"
    if hook.kind in _WITH_REVISION:
        return f"{message} for {hook.secret_uri}/{hook.secret_revision}"
    if hook.kind.is_secret:
        return f"{message} for {hook.secret_uri}"
    return message


def workload_before(local: LocalState, operation: Operation) -> StatusInfo | None:
    """Return the workload status to set before an operation runs, or None."""
    if operation.name is not OperationName.RUN_HOOK or operation.hook is None:
        return None
    match operation.hook.kind:
        case HookKind.INSTALL if not local.status_set:
            return StatusInfo(status=Workload.MAINTENANCE, message=INSTALLING_CHARM)
        case HookKind.STOP:
            return StatusInfo(status=Workload.MAINTENANCE, message=STOPPING_CHARM)
        case HookKind.REMOVE:
            return StatusInfo(status=Workload.MAINTENANCE, message=CLEANING_UP)
        case _:
            return None


def workload_after(
    local: LocalState, operation: Operation, *, success: bool, status_set: bool = False
) -> StatusInfo | None:
    """Return the workload status to set after an operation ran, or None.

    Args:
        local: The state before or after `executed`.
        success: True when the hook succeeded or is missing; see `pushjuju.uniter.state.operation.is_success`.
        status_set: True when this hook used status-set.
    """
    if not success or operation.name is not OperationName.RUN_HOOK or operation.hook is None:
        return None
    match operation.hook.kind:
        case HookKind.START if not (local.status_set or status_set):
            return StatusInfo(status=Workload.UNKNOWN)
        case HookKind.STOP:
            return StatusInfo(status=Workload.MAINTENANCE)
        case HookKind.REMOVE:
            return StatusInfo(status=Workload.TERMINATED)
        case _:
            return None
