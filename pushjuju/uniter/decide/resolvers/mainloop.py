"""The first and the last sub-resolvers: the end of a dead unit, and what follows when nothing is in progress.

Pure.

Mirrors: juju worker/uniter/resolver.go NextOp, nextOp (3.6)
"""

from __future__ import annotations

from pushjuju.core.status import Life
from pushjuju.uniter.decide.decision import (
    GO_ON,
    Answer,
    Decision,
    Effect,
    Verdict,
    dead,
    idle,
    run_hook,
    waiting,
)
from pushjuju.uniter.decide.remote import RemoteState
from pushjuju.uniter.decide.resolvers.relations import relations, subordinates_to_destroy
from pushjuju.uniter.decide.resolvers.upgrade import charm_modified, take_charm
from pushjuju.uniter.decide.state import HookKind, LocalState


def unit_dead(local: LocalState, remote: RemoteState) -> Verdict:
    """End a unit that is dead in the model or has run its last hook."""
    if remote.life is Life.DEAD:
        return dead("the unit is dead")
    if local.removed:
        return _finished(remote, "the unit ran its last hook", subordinates_to_destroy(remote))
    return GO_ON


def restart(local: LocalState, remote: RemoteState) -> Verdict:  # noqa: ARG001  # one signature for all
    """Read both states again after an upgrade."""
    if local.restart:
        return Decision(answer=Answer.RESTART, reason="the charm was upgraded")
    return GO_ON


def core(local: LocalState, remote: RemoteState) -> Decision:
    """Decide what follows when nothing is in progress."""
    if remote.life is Life.DYING:
        return _teardown(local, remote)
    if not local.installed and not local.started:
        return run_hook(remote, HookKind.INSTALL, "the charm is on the machine")
    if charm_modified(local, remote):
        return take_charm(local, remote, "the application has another charm or resource")
    if changed := _changed(local, remote):
        return run_hook(remote, HookKind.CONFIG_CHANGED, changed)
    verdict = relations(local, remote)
    if isinstance(verdict, Decision):
        return verdict
    if local.update_status_version != remote.update_status_version:
        return run_hook(remote, HookKind.UPDATE_STATUS, "update-status is due", *verdict)
    return idle("nothing to do", *verdict)


def _teardown(local: LocalState, remote: RemoteState) -> Decision:
    """End a dying unit: run the hooks of relations, then stop, then remove; then the unit is dead."""
    verdict = relations(local, remote)
    if isinstance(verdict, Decision):
        return verdict
    if local.started and not local.stopped:
        return run_hook(remote, HookKind.STOP, "the unit is being removed", *verdict)
    if local.installed and not local.removed:
        return run_hook(remote, HookKind.REMOVE, "the unit is being removed", *verdict)
    return _finished(remote, "the unit has nothing left to do", verdict)


def _finished(remote: RemoteState, reason: str, effects: tuple[Effect, ...]) -> Decision:
    """Decide that a unit is dead, or waits for the removal of its subordinates first."""
    if remote.subordinates:
        return waiting(
            f"{reason}; its subordinates remain: {', '.join(sorted(remote.subordinates))}", *effects
        )
    return dead(reason)


def _changed(local: LocalState, remote: RemoteState) -> str:
    """Return what has changed since config-changed last ran, as text, or ""."""
    pairs = (
        ("the configuration", local.config_hash, remote.config_hash),
        ("trust", local.trust_hash, remote.trust_hash),
        ("the addresses", local.addresses_hash, remote.addresses_hash),
    )
    news = [name for name, seen, now in pairs if seen != now]
    return f"new since config-changed last ran: {', '.join(news)}" if news else ""
