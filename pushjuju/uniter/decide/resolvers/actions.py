"""Actions: run the next action, or settle an action that was interrupted; and commands of `juju-exec`. Pure.

Mirrors: juju worker/uniter/actions/resolver.go, runcommands/resolver.go (3.6)
"""

from __future__ import annotations

from pushjuju.uniter.decide.decision import (
    GO_ON,
    MACHINE_LOCK,
    Decision,
    Operation,
    OperationName,
    Seen,
    Verdict,
    new_operation,
    run,
)
from pushjuju.uniter.decide.remote import PendingAction, RemoteState
from pushjuju.uniter.decide.state import LocalState, OperationKind, Step


def actions(local: LocalState, remote: RemoteState) -> Verdict:
    """Run the oldest action when the unit is idle or its hook has failed."""
    if local.kind is OperationKind.RUN_ACTION:
        return _settle(local, remote)
    free = local.kind is OperationKind.CONTINUE
    in_error = local.kind is OperationKind.RUN_HOOK and local.step is Step.PENDING
    if not free and not in_error:
        return GO_ON
    for action in remote.actions:
        if action.id not in local.completed_actions:
            return run(_run_action(remote, action), f'action "{action.name}" was asked for')
    return GO_ON


def _settle(local: LocalState, remote: RemoteState) -> Decision:
    """Commit an action that has ended; fail an interrupted one, because no action runs twice.

    Juju takes the wrong step here: it commits a failed hook as if the hook were resolved, and fails the next
    action instead of the one that has ended.
    """
    if local.step is Step.DONE:
        return run(_about(remote, OperationName.RUN_ACTION, local.action_id), "the action has ended")
    return run(_about(remote, OperationName.FAIL_ACTION, local.action_id), "the action was interrupted")


def _about(remote: RemoteState, name: OperationName, action_id: str) -> Operation:
    return Operation(name=name, action_id=action_id, lock=MACHINE_LOCK, seen=Seen.of(remote))


def _run_action(remote: RemoteState, action: PendingAction) -> Operation:
    return Operation(
        name=OperationName.RUN_ACTION,
        action_id=action.id,
        action_name=action.name,
        lock=_lock(action),
        seen=Seen.of(remote),
    )


def _lock(action: PendingAction) -> str:
    if action.execution_group:
        return f"{MACHINE_LOCK}-{action.execution_group}"
    return "" if action.parallel else MACHINE_LOCK


def commands(local: LocalState, remote: RemoteState) -> Verdict:  # noqa: ARG001  # one signature for all
    """Run the oldest command that `juju-exec` requests on the machine, in any state of the unit."""
    for command in remote.commands:
        return run(
            new_operation(remote, OperationName.RUN_COMMANDS, command=command), "juju-exec requested commands"
        )
    return GO_ON
