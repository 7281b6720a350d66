"""Hooks of storage; they also delay `install` until all storage is attached. Pure.

`pushjuju.uniter.decide.reconcile` marks attachments as dying, and removes attachments never attached.

Mirrors: juju worker/uniter/storage/resolver.go (3.6)
"""

from __future__ import annotations

from pushjuju.core.status import Life
from pushjuju.uniter.decide.decision import GO_ON, Verdict, run_hook, waiting
from pushjuju.uniter.decide.remote import RemoteState
from pushjuju.uniter.decide.state import HookInfo, HookKind, LocalState, OperationKind, Step


def storage(local: LocalState, remote: RemoteState) -> Verdict:
    """Attach and detach storage in ascending id; before install, wait until all storage is attached."""
    queued = local.kind is OperationKind.RUN_HOOK and local.hook_progress is Step.QUEUED
    if local.kind is not OperationKind.CONTINUE and not (queued and not local.installed):
        return GO_ON
    pending = []
    for storage_id in sorted(remote.storage, key=storage_order):
        known = storage_id in local.storage
        life = attachment_life(remote, storage_id)
        if life is Life.ALIVE and not known:
            if not remote.storage[storage_id].implemented:
                continue  # the new charm gets the hook, after the upgrade
            if remote.storage[storage_id].attached:
                hook = HookInfo(kind=HookKind.STORAGE_ATTACHED, storage_id=storage_id)
                return run_hook(remote, hook, f"storage {storage_id} was attached")
            pending.append(storage_id)
        elif life is Life.DYING and known:
            hook = HookInfo(kind=HookKind.STORAGE_DETACHING, storage_id=storage_id)
            return run_hook(remote, hook, f"storage {storage_id} must be detached")
    if pending and not local.installed:
        return waiting(f"storage is not attached yet: {', '.join(pending)}")
    return GO_ON


def attachment_life(remote: RemoteState, storage_id: str) -> Life:
    """Return the life of an attachment; it is dying when the unit is dying."""
    life = remote.storage[storage_id].life
    return Life.DYING if life is Life.ALIVE and remote.life is Life.DYING else life


def storage_order(storage_id: str) -> tuple[int, str]:
    """Return a sort key: the number of the storage, which is unique in a model."""
    name, _, number = storage_id.rpartition("/")
    return (int(number) if number.isdecimal() else 0, name)
