"""Upgrade of the machine to another base: the hooks pre- and post-series-upgrade. Pure.

Mirrors: juju worker/uniter/upgradeseries/resolver.go (3.6)
"""

from __future__ import annotations

from pushjuju.core.model.series import SeriesStatus
from pushjuju.uniter.decide.decision import GO_ON, OperationName, Verdict, idle, new_operation, run, run_hook
from pushjuju.uniter.decide.remote import RemoteState
from pushjuju.uniter.decide.state import HookInfo, HookKind, LocalState, OperationKind

_BEFORE_COMPLETE = (SeriesStatus.NOT_STARTED, SeriesStatus.PREPARE_COMPLETED)
_NO_MORE_OR_ANEW = (SeriesStatus.NOT_STARTED, SeriesStatus.PREPARE_STARTED)


def series_upgrade(local: LocalState, remote: RemoteState) -> Verdict:
    """Run no hooks while the machine is upgraded, except the hooks before and after the upgrade."""
    if remote.series.frozen:
        return idle(f"the machine is being upgraded to another base ({remote.series})")
    if local.kind is not OperationKind.CONTINUE:
        return GO_ON
    if local.series is SeriesStatus.NOT_STARTED and remote.series is SeriesStatus.PREPARE_STARTED:
        hook = HookInfo(kind=HookKind.PRE_SERIES_UPGRADE, series_upgrade_target=remote.series_target)
        return run_hook(remote, hook, f"the machine is about to be upgraded to {remote.series_target}")
    if local.series in _BEFORE_COMPLETE and remote.series is SeriesStatus.COMPLETE_STARTED:
        return run_hook(remote, HookKind.POST_SERIES_UPGRADE, "the machine has been upgraded to another base")
    # Juju's agent forgets the upgrade at a restart. Here the unit also settles an upgrade that was given up,
    # or after which the next one began before the unit saw its end.
    if local.series is not SeriesStatus.NOT_STARTED and remote.series in _NO_MORE_OR_ANEW:
        return run(
            new_operation(remote, OperationName.COMPLETE_SERIES), "the upgrade of the machine has ended"
        )
    return GO_ON
