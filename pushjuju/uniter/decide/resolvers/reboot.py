"""The extra `start` after a reboot of the machine. Pure.

Mirrors: juju worker/uniter/reboot/resolver.go (3.6)
"""

from __future__ import annotations

from pushjuju.core.model.series import SeriesStatus
from pushjuju.uniter.decide.decision import GO_ON, Verdict, run_hook
from pushjuju.uniter.decide.remote import RemoteState
from pushjuju.uniter.decide.state import HookKind, LocalState, OperationKind


def rebooted(local: LocalState, remote: RemoteState) -> bool:
    """Return True when the machine was rebooted since the unit's `start` hook last ran."""
    return bool(local.boot_id) and bool(remote.boot_id) and local.boot_id != remote.boot_id


def reboot(local: LocalState, remote: RemoteState) -> Verdict:
    """Run `start` again after the machine was rebooted.

    Juju excludes running hooks only and forgets the reboot when the operation is made, which can overwrite an
    interrupted upgrade or action, and lose the hook in a crash. pushjuju waits until the unit is idle, and
    the commit of `start` stores the new boot. A unit whose stop hook ran does not start again.
    """
    if (
        not rebooted(local, remote)
        or remote.series is not SeriesStatus.NOT_STARTED
        or not local.started
        or local.stopped
        or local.kind is not OperationKind.CONTINUE
    ):
        return GO_ON
    return run_hook(remote, HookKind.START, "the machine was rebooted")
