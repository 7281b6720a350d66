"""Accepts and resigns leadership, and runs leader-settings-changed. Pure.

Mirrors: juju worker/uniter/leadership/resolver.go (3.6)
"""

from __future__ import annotations

from pushjuju.core.status import Life
from pushjuju.uniter.decide.decision import GO_ON, OperationName, Verdict, new_operation, run, run_hook
from pushjuju.uniter.decide.remote import RemoteState
from pushjuju.uniter.decide.state import HookKind, LocalState, OperationKind


def leadership(local: LocalState, remote: RemoteState) -> Verdict:
    """Accept or resign leadership when the model has changed the leader."""
    if not local.installed:
        return GO_ON
    dying = remote.life is Life.DYING
    free = local.kind is OperationKind.CONTINUE and not dying
    if free and remote.leader and not local.leader:
        accept = new_operation(remote, OperationName.ACCEPT_LEADERSHIP)
        return run(accept, "the unit was made leader")
    if local.leader and (dying or not remote.leader):
        resign = new_operation(remote, OperationName.RESIGN_LEADERSHIP)
        return run(resign, "the unit is being removed" if dying else "the unit is no longer leader")
    if free and not local.leader and local.leader_settings_version != remote.leader_settings_version:
        return run_hook(remote, HookKind.LEADER_SETTINGS_CHANGED, "the settings of the leader are new")
    return GO_ON
