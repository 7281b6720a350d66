"""Gets the charm onto the machine: install, upgrade, conflicts. Pure.

Mirrors: juju worker/uniter/resolver.go nextOpConflicted and charmModified,
worker/uniter/uniter.go runPendingUpgrade (3.6)
"""

from __future__ import annotations

from pushjuju.core.status import Life
from pushjuju.uniter.decide.decision import (
    GO_ON,
    Decision,
    Effect,
    EffectKind,
    OperationName,
    Variant,
    Verdict,
    dead,
    idle,
    new_operation,
    run,
    waiting,
)
from pushjuju.uniter.decide.remote import RemoteState
from pushjuju.uniter.decide.state import LocalState, OperationKind, ResolvedMode, Step

NO_PROFILE = "required charm profile not yet applied to machine"
_TELL_NO_PROFILE = Effect(kind=EffectKind.REPORT_WAITING, message=NO_PROFILE)


def charm_modified(local: LocalState, remote: RemoteState) -> bool:
    """Return True when the application has another charm, or newer resources, than the unit runs."""
    return bool(remote.charm_url) and (
        remote.charm_url != local.current_charm_url
        or remote.charm_modified_version != local.charm_modified_version
    )


def upgrade_to(remote: RemoteState, url: str, variant: Variant, reason: str, *effects: Effect) -> Decision:
    """Decide to upgrade the unit to a charm."""
    operation = new_operation(remote, OperationName.UPGRADE, charm_url=url, variant=variant)
    return run(operation, reason, *effects)


def take_charm(local: LocalState, remote: RemoteState, reason: str) -> Decision:
    """Decide to upgrade to the application's charm, or to wait for its profile."""
    if not remote.profile_ready:
        return idle(NO_PROFILE, _TELL_NO_PROFILE)
    return upgrade_to(remote, remote.charm_url or local.charm_url, Variant.PLAIN, reason)


def install_charm(local: LocalState, remote: RemoteState) -> Verdict:
    """Install the charm on the machine, or continue an interrupted installation."""
    if local.kind is not OperationKind.INSTALL:
        return GO_ON
    if remote.life is Life.DYING and not local.storage:
        return dead("the unit is removed before its charm was installed")
    if not remote.profile_ready:
        return idle(NO_PROFILE, _TELL_NO_PROFILE)
    # A charm that is unpacked already is used; otherwise installing the newest charm saves an upgrade.
    known = local.step is Step.DONE or not remote.charm_url
    url = local.charm_url if known else remote.charm_url
    return run(
        new_operation(remote, OperationName.INSTALL, charm_url=url), "the charm is not on the machine yet"
    )


def charm_vanished(local: LocalState, remote: RemoteState) -> Verdict:
    """Install the charm again when its directory is missing on the machine."""
    if remote.charm_present or local.kind not in (OperationKind.CONTINUE, OperationKind.RUN_HOOK):
        return GO_ON
    if not remote.charm_url:
        return GO_ON
    if not local.installed:
        install = new_operation(remote, OperationName.INSTALL, charm_url=remote.charm_url)
        return run(install, "the charm directory is gone from the machine")
    if local.started and not remote.profile_ready:
        return GO_ON
    return upgrade_to(remote, remote.charm_url, Variant.PLAIN, "the charm directory is gone from the machine")


def upgrade(local: LocalState, remote: RemoteState) -> Verdict:
    """Continue an upgrade, with the newest charm."""
    if local.kind is not OperationKind.UPGRADE:
        return GO_ON
    if local.conflicted:
        return _conflicted(local, remote)
    return take_charm(local, remote, "an upgrade of the charm is under way")


def _conflicted(local: LocalState, remote: RemoteState) -> Decision:
    """Wait until a user resolves the conflict or forces another charm."""
    report = Effect(kind=EffectKind.REPORT_ERROR, message="upgrade failed")
    if not remote.profile_ready:
        return idle(NO_PROFILE, report)
    if remote.resolved is not ResolvedMode.NONE:
        clear = Effect(kind=EffectKind.CLEAR_RESOLVED)
        reason = "the conflict of the upgrade was resolved"
        return upgrade_to(remote, local.charm_url, Variant.RESUMED, reason, clear)
    # Compared with the charm that conflicts: the same charm would conflict again, endlessly.
    if remote.force_charm and remote.charm_url and remote.charm_url != local.charm_url:
        return upgrade_to(remote, remote.charm_url, Variant.FORCED, "another charm was forced")
    return waiting("the new charm could not be unpacked: resolve the conflict", report)
