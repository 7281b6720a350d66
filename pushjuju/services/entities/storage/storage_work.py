"""Finds the next step of each volume and filesystem, and records the result of steps.

Each call computes the steps from the rows, so a step that was repeated or not recorded does no harm.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from enum import StrEnum

from pushjuju.core.clock import from_iso
from pushjuju.core.status import Life
from pushjuju.core.storage import Kind, StorageStatus, is_storage
from pushjuju.core.values import dataclass
from pushjuju.plugins.api.storage_types import StorageItem, StorageMade, StorageSeen
from pushjuju.portable.natural import natural_key
from pushjuju.services.entities.basis import statuses, wake
from pushjuju.services.entities.storage import storage_instances
from pushjuju.store.rows.records import Machine, Model
from pushjuju.store.rows.storage_records import Backing, BackingAttachment, StorageInstance
from pushjuju.store.tx import ModelTx

RETRY_FIRST_S = 30.0
RETRY_MOST_S = 1800.0


class Step(StrEnum):
    """A step in the life of a volume or filesystem."""

    CREATE = "create"
    ATTACH = "attach"
    DETACH = "detach"
    DESTROY = "destroy"


_DOING = {
    Step.CREATE: StorageStatus.PENDING,
    Step.ATTACH: StorageStatus.ATTACHING,
    Step.DETACH: StorageStatus.DETACHING,
    Step.DESTROY: StorageStatus.ERROR,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Todo:
    """A step that can be taken now, or at its due time."""

    step: Step
    backing: Backing
    # the attachment to the machine, or None for a step of the volume or filesystem itself
    host: BackingAttachment | None = None
    # the volume that a filesystem is on, with the volume's attachment to the machine, or None
    volume: tuple[Backing, BackingAttachment | None] | None = None

    @property
    def due(self) -> datetime | None:
        """Return when the step may be tried again, or None when it may be tried at once."""
        text = self.host.due if self.host is not None and self.step in _OF_HOST else self.backing.due
        return from_iso(text) if text else None


_OF_HOST = (Step.ATTACH, Step.DETACH)


def on_machine(tx: ModelTx, machine: Machine) -> list[Todo]:
    """Return the next step of each volume and filesystem on a machine that needs a step."""
    rows = tx.list(BackingAttachment, "backing_attachment_on_machine", machine=machine.id)
    hosts = {(row.kind, row.id): row for row in rows}
    found = {key: _backing(tx, *key) for key in hosts}
    for backing in tx.list(Backing, "backing_on_machine", machine=machine.id):
        found[(backing.kind, backing.id)] = backing
    todos = (_next(machine, found, hosts, key) for key in sorted(found, key=_order))
    return [todo for todo in todos if todo is not None]


def _order(key: tuple[str, str]) -> tuple[int, object]:
    """Return a sort key: volumes first, then by number."""
    return (int(key[0] == storage_instances.FILESYSTEM), natural_key(key[1]))


def _backing(tx: ModelTx, kind: str, number: str) -> Backing:
    return tx.get(Backing, "backing_get", f"{kind} {number} not found", kind=kind, id=number)


_Key = tuple[str, str]


def _next(
    machine: Machine, found: dict[_Key, Backing], hosts: dict[_Key, BackingAttachment], key: _Key
) -> Todo | None:
    backing, host = found[key], hosts.get(key)
    below = (storage_instances.VOLUME, backing.volume) if backing.volume else None
    volume = (found[below], hosts.get(below)) if below in found and below is not None else None
    if host is None:
        going = backing.life != Life.ALIVE and backing.machine == machine.id
        return Todo(step=Step.DESTROY, backing=backing, volume=volume) if going else None
    if host.life != Life.ALIVE:
        on_it = [
            other for other, item in found.items() if item.volume == backing.id and other in hosts
        ] if backing.kind == storage_instances.VOLUME else []  # fmt: skip
        return None if on_it else Todo(step=Step.DETACH, backing=backing, host=host, volume=volume)
    if below is not None and not (volume and _is_attached(machine, volume[1])):
        return None
    if not backing.provider_id:
        return Todo(step=Step.CREATE, backing=backing, host=host, volume=volume)
    if not _is_attached(machine, host):
        return Todo(step=Step.ATTACH, backing=backing, host=host, volume=volume)
    return None


def _is_attached(machine: Machine, host: BackingAttachment | None) -> bool:
    """Return True when a volume or filesystem was attached since the machine's last boot."""
    return host is not None and host.attached and host.boot_id == machine.boot_id


def on_no_machine(tx: ModelTx) -> Iterator[Todo]:
    """Yield a step for each dying volume or filesystem that is on no machine: to destroy it."""
    for backing in tx.list(Backing, "backing_on_machine", machine=""):
        if backing.life != Life.ALIVE and not storage_instances.hosts(tx, backing):
            yield Todo(step=Step.DESTROY, backing=backing)


def lasting_on(tx: ModelTx, machine: Machine) -> list[BackingAttachment]:
    """Return the attachments to a machine of volumes and filesystems that outlive the machine."""
    rows = tx.list(BackingAttachment, "backing_attachment_on_machine", machine=machine.id)
    return [row for row in rows if not _backing(tx, row.kind, row.id).machine]


def made_for(tx: ModelTx, machine: Machine) -> tuple[str, ...]:
    """Return the provider ids of existing volumes that are to be attached to a machine."""
    if not machine.storage:
        return ()
    rows = [row for row in lasting_on(tx, machine) if row.kind == storage_instances.VOLUME]
    names = (_backing(tx, row.kind, row.id).provider_id for row in rows)
    return tuple(name for name in names if name)


def to_come_with(tx: ModelTx, machine: Machine, types: Collection[str]) -> tuple[StorageItem, ...]:
    """Return the volumes of some providers that can be created together with their machine."""
    if not machine.storage or not types:
        return ()
    return tuple(
        item_of(tx, todo.backing, todo.host)
        for todo in on_machine(tx, machine)
        if todo.step is Step.CREATE
        and todo.backing.kind == storage_instances.VOLUME
        and todo.backing.provider in types
    )


def waits_on(tx: ModelTx, machine: Machine, *, everything: bool) -> list[str]:
    """Return a line for each volume or filesystem that a removed machine waits for, with its status.

    Args:
        everything: True to include those that exist only on the machine.
    """
    left = [todo.backing for todo in on_machine(tx, machine)]
    return [
        f"{label(backing)} is {_why(tx, backing)}" for backing in left if everything or not backing.machine
    ]


def label(backing: Backing) -> str:
    """Return a text such as `volume 0/1 (data/0)`; disks have no storage name in parentheses."""
    whose = f" ({backing.storage})" if is_storage(backing.storage) else ""
    return f"{backing.kind} {backing.id}{whose}"


def item_of(tx: ModelTx, backing: Backing, host: BackingAttachment | None) -> StorageItem:
    """Return a volume or filesystem in the form that providers take."""
    model = tx.get(Model, "model_by_uuid", f"model {backing.model} not found", uuid=backing.model)
    machine = tx.find(Machine, "machine_get", id=host.machine) if host is not None else None
    return StorageItem(
        id=backing.id,
        kind=Kind.BLOCK if backing.kind == storage_instances.VOLUME else Kind.FILESYSTEM,
        size=backing.size,
        attributes=backing.attributes,
        tags={
            "juju-model-uuid": model.uuid,
            **({"juju-storage-instance": backing.storage} if is_storage(backing.storage) else {}),
        },
        provider_id=backing.provider_id,
        instance_id=machine.instance_id if machine is not None else "",
        path=host.location if host is not None else "",
        source=host.source if host is not None else "",
        read_only=host is not None and host.read_only,
        uuid=str(uuid.uuid5(uuid.UUID(model.uuid), f"{backing.kind}-{backing.id}")),
    )


# --- results ----------------------------------------------------------------------------------------------


def begin(tx: ModelTx, todo: Todo) -> bool:
    """Record that a step has begun; return False when the step is not needed any more."""
    backing, host = todo.backing, todo.host
    present = tx.find(Backing, "backing_get", kind=backing.kind, id=backing.id)
    if present is None or (host is not None and _present(tx, host) is None):
        return False
    tx.run("backing_set_begun", kind=backing.kind, id=backing.id)
    if todo.step is Step.ATTACH and host is not None and not host.attached:
        storage_instances.set_status(tx, backing, StorageStatus.ATTACHING)
    return True


def _present(tx: ModelTx, host: BackingAttachment) -> BackingAttachment | None:
    return tx.find(
        BackingAttachment, "backing_attachment_get",
        kind=host.kind, id=host.id, machine=host.machine
    )  # fmt: skip


def created(tx: ModelTx, backing: Backing, made: StorageMade) -> None:
    """Record a volume or filesystem that its provider has created."""
    tx.run(
        "backing_set_made", kind=backing.kind, id=backing.id,
        provider_id=made.provider_id, size=made.size, hardware_id=made.hardware_id, wwn=made.wwn
    )  # fmt: skip
    storage_instances.set_status(tx, backing, StorageStatus.ATTACHING)


def seen(tx: ModelTx, host: BackingAttachment, where: StorageSeen) -> None:
    """Record the device under which a machine sees a volume."""
    tx.run(
        "backing_attachment_set_source", kind=host.kind, id=host.id, machine=host.machine,
        device=where.device, device_link=where.device_link, source=where.source
    )  # fmt: skip


def attached(tx: ModelTx, backing: Backing, host: BackingAttachment, boot_id: str) -> None:
    """Record that a volume or filesystem is attached to a machine in its present boot."""
    tx.run(
        "backing_attachment_set_attached", kind=host.kind, id=host.id,
        machine=host.machine, boot_id=boot_id
    )  # fmt: skip
    present = _present(tx, host)
    if present is not None and present.life == Life.ALIVE:
        storage_instances.set_status(tx, backing, StorageStatus.ATTACHED)


def detached(tx: ModelTx, backing: Backing, host: BackingAttachment) -> None:
    """Delete the attachment of a volume or filesystem that was detached."""
    storage_instances.forget_host(tx, backing, host)


def destroyed(tx: ModelTx, backing: Backing) -> None:
    """Delete a volume or filesystem that was destroyed or released."""
    storage_instances.forget_backing(tx, backing)


def failed(tx: ModelTx, todo: Todo, why: str) -> datetime:
    """Record why a step has failed; return the time of the next try.

    Mirrors: juju worker/storageprovisioner/schedule.go (3.6)
    """
    backing, host = todo.backing, todo.host
    of_host = host is not None and todo.step in _OF_HOST
    attempts = host.attempts if of_host and host is not None else backing.attempts
    again = tx.now + timedelta(seconds=min(RETRY_FIRST_S * 2 ** min(attempts, 10), RETRY_MOST_S))
    key = {"model": backing.model, "kind": backing.kind, "id": backing.id}
    if of_host and host is not None:
        tx.run(
            "backing_attachment_set_due", **key, machine=host.machine, attempts=attempts + 1,
            due=again,
        )  # fmt: skip
    else:
        tx.run("backing_set_due", **key, attempts=attempts + 1, due=again)
    if tx.find(Backing, "backing_get", **key) is not None:
        storage_instances.set_status(tx, backing, _DOING[todo.step], why)
    return again


def try_again(tx: ModelTx, reason: str) -> None:
    """Make all failed storage steps of a model due; a machine tries its steps at its next wake."""
    tx.run("backing_retry_all")
    tx.run("backing_attachment_retry_all")
    wake.storage(tx, reason)


def waits(tx: ModelTx) -> list[str]:
    """Return a line for each storage that a dying model waits for."""
    found = []
    for instance in tx.list(StorageInstance, "storage_instance_list"):
        behind = storage_instances.backings(tx, instance)
        why = next((_why(tx, backing) for backing in behind), "")
        what = f"disk of machine {instance.owner}" if instance.is_disk else f"storage {instance.id}"
        found.append(f"{what} is {instance.life}{f': {why}' if why else ''}")
    return found


def _why(tx: ModelTx, backing: Backing) -> str:
    info = statuses.get_status(tx, storage_instances.KINDS[backing.kind], backing.id)
    if info is None:
        return ""
    return f"{info.status}, {info.message}" if info.message else str(info.status)
