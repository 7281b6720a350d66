"""Storage instances, with their volumes and filesystems: added, attached, detached, removed.

This module only changes rows. The machine's worker (`workers.machine.storage_worker`) does the work, or a
loop of the model for storage that is on no machine. Data is destroyed only at a user's request, never
because a unit or an application is removed.

Mirrors: juju state/storage.go, state/volume.go, state/filesystem.go (3.6)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from pushjuju.charms.values.model import Charm, StorageMeta
from pushjuju.core.errors import Conflict, NotFound, NotValid
from pushjuju.core.problems import Subject
from pushjuju.core.status import Life, StatusInfo, StatusKind
from pushjuju.core.storage import (
    DEFAULT_SIZE,
    Directive,
    Kind,
    Scope,
    StorageStatus,
    check_count,
    check_nesting,
    decimal_size,
    is_storage,
    mount_point,
    store_of,
)
from pushjuju.portable.natural import natural_key
from pushjuju.services.entities.basis import statuses, wake
from pushjuju.services.entities.model import model_config
from pushjuju.store.rows.records import Unit
from pushjuju.store.rows.storage_records import (
    Backing,
    BackingAttachment,
    StorageAttachment,
    StorageDirective,
    StorageInstance,
    StoragePool,
)
from pushjuju.store.tx import ModelTx, Tx

if TYPE_CHECKING:
    from pushjuju.services.entities.storage.storage_pools import Pool, Pools

VOLUME, FILESYSTEM = "volume", "filesystem"
IMPORTED = "pushjuju-imported"  # attribute of a filesystem whose volume had data before it was imported
KINDS = {VOLUME: StatusKind.VOLUME, FILESYSTEM: StatusKind.FILESYSTEM}


# --- reading ----------------------------------------------------------------------------------------------


def get(tx: ModelTx, storage: str) -> StorageInstance:
    """Return a storage instance, or raise NotFound."""
    found = tx.find(StorageInstance, "storage_instance_get", id=storage)
    if found is None:
        raise NotFound(f'storage instance "{storage}" not found', subject=Subject("storage", storage))
    return found


def of_unit(tx: ModelTx, unit: str) -> list[StorageAttachment]:
    """Return the storage attachments of a unit, sorted by the storage's name and number."""
    found = tx.list(StorageAttachment, "storage_attachment_of_unit", unit=unit)
    return sorted(found, key=lambda item: natural_key(item.storage))


def attachments(tx: ModelTx, instance: StorageInstance) -> list[StorageAttachment]:
    """Return the attachments of a storage instance to units."""
    return tx.list(StorageAttachment, "storage_attachment_of_storage", storage=instance.id)


def backings(tx: ModelTx, instance: StorageInstance) -> list[Backing]:
    """Return the filesystem, then the volume, of a storage instance."""
    found = tx.list(Backing, "backing_of_storage", storage=instance.id)
    return sorted(found, key=lambda item: item.kind)


def hosts(tx: ModelTx, backing: Backing) -> list[BackingAttachment]:
    """Return the attachments of a volume or filesystem to machines."""
    return tx.list(
        BackingAttachment, "backing_attachment_of_backing",
        kind=backing.kind, id=backing.id
    )  # fmt: skip


def directives(tx: ModelTx, application: str) -> list[StorageDirective]:
    """Return the storage directives of an application, for its future units."""
    found = tx.list(StorageDirective, "storage_directive_list", application=application)
    return sorted(found, key=lambda item: item.name)


# --- directives -------------------------------------------------------------------------------------------


def plan(
    tx: ModelTx, pools: Pools, application: str, charm: Charm, asked: Mapping[str, Directive]
) -> list[StorageDirective]:
    """Return the directives for each unit of an application: those of `asked`, else the model's defaults.

    Mirrors: juju state/storage.go addDefaultStorageConstraints, validateStorageConstraints (3.6)
    """
    for name in asked:
        if name not in charm.meta.storage:
            raise NotValid(f'charm "{charm.name}" has no store called "{name}"')
    return [
        _planned(tx, pools, application, charm, store, asked.get(store.name, Directive()))
        for _, store in sorted(charm.meta.storage.items())
    ]


def judge(
    tx: ModelTx, pools: Pools, charm: Charm, store: StorageMeta, asked: Directive
) -> tuple[Pool, int, int]:
    """Return the pool, size in MiB and count of a charm's storage for a unit, or raise an error."""
    prefix = f'charm "{charm.name}" store "{store.name}"'
    if store.shared:
        raise NotValid(f"{prefix}: shared storage support not implemented")
    kind = Kind(store.type)
    pool = pools.get(asked.pool or default_pool(tx, kind, asked, pools))
    size = asked.size or store.minimum_size or DEFAULT_SIZE
    count = asked.count or store.count_min
    try:
        check_count(count, store.count_min, store.count_max)
        if size < store.minimum_size:
            least = decimal_size(store.minimum_size)
            raise NotValid(f"minimum storage size is {least}, {decimal_size(size)} specified")
    except NotValid as error:
        raise NotValid(f"{prefix}: {error.message}") from None
    pool.require(kind)
    if kind is Kind.FILESYSTEM:
        mount_point(store.location, store.count_max, f"{store.name}/0")
    return pool, size, count


def _planned(
    tx: ModelTx, pools: Pools, application: str, charm: Charm, store: StorageMeta, asked: Directive
) -> StorageDirective:
    kind, (pool, size, count) = Kind(store.type), judge(tx, pools, charm, store, asked)
    pools.keep(tx, pool)
    return StorageDirective(
        model=tx.model, application=application, name=store.name, pool=pool.name, size=size, count=count,
        provider=pool.type.name, scope=pool.type.scope, managed=kind not in pool.type.kinds,
        releasable=pool.type.releasable,
    )  # fmt: skip


_SOURCES = {Kind.BLOCK: "storage-default-block-source", Kind.FILESYSTEM: "storage-default-filesystem-source"}


def default_pool(tx: ModelTx, kind: Kind, asked: Directive, pools: Pools) -> str:
    """Return the pool for a directive without a pool: the model's, the cloud's, or `loop` or `rootfs`.

    An empty directive always gets `loop` or `rootfs`. A block pool may also serve for a filesystem.
    Mirrors: juju state/storage.go defaultStoragePool (3.6)
    """
    last = "loop" if kind is Kind.BLOCK else "rootfs"
    if asked == Directive():
        return last
    own = model_config.stored(tx)
    for wanted in dict.fromkeys((kind, Kind.BLOCK)):
        of_cloud = (item.name for item in pools.types.values() if item.default and wanted in item.kinds)
        found = str(own.get(_SOURCES[wanted]) or next(of_cloud, ""))
        if found:
            return found
    return last


def put_directives(tx: Tx, planned: Iterable[StorageDirective]) -> None:
    """Record the storage directives of an application, for its future units."""
    for item in planned:
        tx.run("storage_directive_delete", model=item.model, application=item.application, name=item.name)
        tx.insert("storage_directive", item)


# --- new instances ----------------------------------------------------------------------------------------


def equip(tx: ModelTx, unit: Unit, charm: Charm, attach: Sequence[str] = ()) -> None:
    """Attach storage to a new unit, and add instances until the unit's directives are fulfilled."""
    for storage in attach:
        attach_one(tx, unit, charm, storage)
    for item in directives(tx, unit.application):
        store = charm.meta.storage.get(item.name)
        brought = sum(store_of(storage) == item.name for storage in attach)
        if store is not None:
            add(tx, unit, store, item, max(item.count - brought, 0))


def equip_least(tx: ModelTx, unit: Unit, charm: Charm) -> None:
    """Add the instances that a unit lacks to reach the minimum counts of its new charm."""
    for item in directives(tx, unit.application):
        store = charm.meta.storage.get(item.name)
        if store is not None:
            add(tx, unit, store, item, max(store.count_min - _how_many(tx, unit, item.name), 0))


def add(tx: ModelTx, unit: Unit, store: StorageMeta, item: StorageDirective, count: int) -> list[str]:
    """Add instances of a charm's storage to a unit; return their ids."""
    made = []
    for _ in range(count):
        number = tx.next(unit.model, "storage")
        instance = StorageInstance(
            model=unit.model, id=f"{store.name}/{number}", name=store.name, kind=store.type, owner=unit.name,
            application=unit.application, pool=item.pool, size=item.size, provider=item.provider,
            scope=item.scope, managed=item.managed, releasable=item.releasable, life=Life.ALIVE,
            created=tx.now,
        )  # fmt: skip
        tx.insert("storage_instance", instance)
        _join(tx, instance, unit, store)
        made.append(instance.id)
    return made


def _join(tx: ModelTx, instance: StorageInstance, unit: Unit, store: StorageMeta) -> None:
    """Attach an instance to a unit, and the volume or filesystem of the instance to the unit's machine."""
    row = StorageAttachment(model=unit.model, unit=unit.name, storage=instance.id, life=Life.ALIVE)
    tx.insert("storage_attachment", row)
    if unit.machine is None:
        raise NotValid(f"unit {unit.name} is on no machine", subject=Subject("unit", unit.name))
    behind = backings(tx, instance) or back(tx, instance, unit.machine)
    for backing in behind:
        _host(tx, backing, instance, unit.machine, store)
    count_on(tx, unit.name, unit.machine)
    wake.unit(tx, unit, f"storage {instance.id}")


def count_on(tx: ModelTx, unit: str, machine: str | None) -> None:
    """Update the numbers of storage attachments in the rows of a unit and a machine."""
    if unit:
        tx.run("unit_count_storage", name=unit)
    if machine is not None:
        tx.run("machine_count_storage", id=machine)


def back(tx: ModelTx, instance: StorageInstance, machine: str) -> list[Backing]:
    """Record the filesystem or volume of a new instance, or both when the filesystem is made on a volume."""
    home = machine if instance.scope == Scope.MACHINE else ""
    volume = ""
    made = []
    for kind in (VOLUME, FILESYSTEM):
        if kind == VOLUME and instance.kind == Kind.FILESYSTEM and not instance.managed:
            continue
        if kind == FILESYSTEM and instance.kind == Kind.BLOCK:
            continue
        number = tx.next(instance.model, kind)
        backing = Backing(
            model=instance.model, kind=kind, id=f"{home}/{number}" if home else str(number),
            storage=instance.id, volume=volume, machine=home, pool=instance.pool, provider=instance.provider,
            attributes=_attributes(tx, instance), size=instance.size, life=Life.ALIVE,
        )  # fmt: skip
        tx.insert("backing", backing)
        set_status(tx, backing, StorageStatus.PENDING)
        volume = backing.id
        made.append(backing)
    return made[::-1]


def _attributes(tx: ModelTx, instance: StorageInstance) -> Mapping[str, str]:
    found = tx.find(StoragePool, "storage_pool_get", name=instance.pool)
    return {} if found is None else found.attributes


def _host(tx: ModelTx, backing: Backing, instance: StorageInstance, machine: str, store: StorageMeta) -> None:
    """Attach a volume or filesystem to a machine."""
    location = ""
    if backing.kind == FILESYSTEM:
        location = mount_point(store.location, store.count_max, instance.id)
        rows = tx.rows("mount_points_on_machine", machine=machine)
        check_nesting(instance.name, location, ((row["name"], row["location"]) for row in rows))
    only = store.read_only and not (backing.kind == VOLUME and instance.managed)
    row = BackingAttachment(
        model=backing.model, kind=backing.kind, id=backing.id, machine=machine, life=Life.ALIVE,
        location=location, read_only=only,
    )  # fmt: skip
    tx.insert("backing_attachment", row)
    if backing.provider_id:
        set_status(tx, backing, StorageStatus.ATTACHING)


def set_status(tx: ModelTx, backing: Backing, status: StorageStatus, message: str = "") -> None:
    """Set the status of a volume or filesystem, unless the status is the same already."""
    told = StatusInfo(status=status, message=message)
    statuses.set_once(tx, KINDS[backing.kind], backing.id, told)


# --- attach -----------------------------------------------------------------------------------------------


def attach_one(tx: ModelTx, unit: Unit, charm: Charm, storage: str) -> None:
    """Attach an instance without an owner to a unit, which becomes the owner."""
    if not is_storage(storage):
        raise NotValid(f'storage ID "{storage}" not valid')
    instance = get(tx, storage)
    if instance.owner == unit.name:
        return
    store = _takes(tx, unit, charm, instance)
    for backing in backings(tx, instance):
        _reachable(tx, unit, instance, backing)
    check_more(tx, unit, store, 1)
    tx.run(
        "storage_instance_set_owner", id=storage, owner=unit.name,
        application=unit.application
    )  # fmt: skip
    _join(tx, instance, unit, store)


def _takes(tx: ModelTx, unit: Unit, charm: Charm, instance: StorageInstance) -> StorageMeta:
    """Return the charm's storage that an instance fits, or raise an error when it cannot be attached."""
    store = charm.meta.storage.get(instance.name)
    if unit.life != Life.ALIVE:
        raise NotValid("unit not alive")
    if instance.life != Life.ALIVE:
        raise Conflict("storage not alive")
    if owner := instance.owner or next((row.unit for row in attachments(tx, instance)), ""):
        kind = "unit" if "/" in owner else "application"
        raise Conflict(f"cannot attach storage owned by {kind} {owner} to unit {unit.name}")
    if store is None:
        raise NotValid(f"charm {charm.name} has no storage called {instance.name}")
    if store.type != instance.kind:
        raise NotValid(f"storage is {instance.kind}, not {store.type}")
    return store


def _reachable(tx: ModelTx, unit: Unit, instance: StorageInstance, backing: Backing) -> None:
    """Raise Conflict when the volume or filesystem of an instance cannot be attached to a unit's machine."""
    if backing.machine and backing.machine != unit.machine:
        raise Conflict(
            f"{instance.provider} storage stays on machine {backing.machine}",
            hint=f"pushjuju add-unit {unit.application} --attach-storage {instance.id}",
        )
    for row in hosts(tx, backing):
        raise Conflict(
            f"{backing.kind} {backing.id} is attached to machine {row.machine}",
            hint="it is being detached: pushjuju storage shows what it waits for",
        )


def _how_many(tx: ModelTx, unit: Unit, name: str) -> int:
    """Return the number of instances of a storage name that a unit keeps."""
    mine = of_unit(tx, unit.name)
    return sum(store_of(row.storage) == name and row.life == Life.ALIVE for row in mine)


def _total(verb: str, change: int, total: int, store: StorageMeta) -> str:
    """Return Juju's message that refuses a number of instances."""
    if store.count_min == store.count_max == 1:
        return f"cannot {verb}, storage is singular"
    bound = (
        f"exceeding the maximum of {store.count_max}"
        if verb == "attach"
        else f"which is less than the minimum of {store.count_min}"
    )
    plural = "s" if change > 1 else ""
    return f"{verb}ing {change} storage instance{plural} brings the total to {total}, {bound}"


def check_more(tx: ModelTx, unit: Unit, store: StorageMeta, count: int) -> None:
    """Raise NotValid when a unit may not have `count` more instances of a storage name."""
    total = _how_many(tx, unit, store.name) + count
    if 0 <= store.count_max < total:
        raise NotValid(_total("attach", count, total, store))
    check_count(max(total, store.count_min), store.count_min, store.count_max)


def home_of(tx: ModelTx, ids: Iterable[str]) -> str | None:
    """Return the machine to which storage is bound, or None; a unit that gets the storage must run there."""
    homes = {backing.machine for storage in ids for backing in backings(tx, get(tx, storage))} - {""}
    if len(homes) > 1:
        raise Conflict(f"storage of machines {', '.join(sorted(homes))} cannot be attached to one unit")
    return next(iter(homes), None)


# --- detach -----------------------------------------------------------------------------------------------


def detach(tx: ModelTx, charm_of: Mapping[str, Charm], instance: StorageInstance) -> None:
    """Begin to detach an instance from its unit; storage-detaching of the application's charm runs first."""
    rows = attachments(tx, instance)
    if not rows:
        raise NotFound(f"storage {instance.id} is not attached to a unit")
    for row in rows:
        unit = tx.find(Unit, "unit_get", name=row.unit)
        if unit is None or row.life != Life.ALIVE:
            continue
        store = charm_of[unit.application].meta.storage.get(instance.name)
        left = _how_many(tx, unit, instance.name) - 1
        if unit.life == Life.ALIVE and store is not None and left < store.count_min:
            raise NotValid(_total("detach", 1, left, store))
        begin_detach(tx, unit, instance.id)


def begin_detach(tx: ModelTx, unit: Unit, storage: str) -> None:
    """Mark the attachment of an instance to a unit as dying."""
    tx.run("storage_attachment_set_life", unit=unit.name, storage=storage, life=Life.DYING)
    wake.unit(tx, unit, f"storage {storage} is detached")


def begin_detach_all(tx: ModelTx, unit: Unit) -> None:
    """Mark all storage attachments of a removed unit as dying."""
    for row in of_unit(tx, unit.name):
        if row.life == Life.ALIVE:
            begin_detach(tx, unit, row.storage)


def leave(tx: ModelTx, unit: Unit, storage: str) -> None:
    """Delete the attachment of an instance to a unit; a repetition changes nothing.

    The instance stays without an owner, unless it is being removed or its volume was never created.
    """
    if not tx.run("storage_attachment_delete", unit=unit.name, storage=storage):
        return
    instance = tx.find(StorageInstance, "storage_instance_get", id=storage)
    if instance is not None:
        if instance.life == Life.ALIVE and not any(item.begun for item in backings(tx, instance)):
            tx.run("storage_instance_set_life", id=storage, life=Life.DYING, releasing=False)
            instance = get(tx, storage)
        tx.run("storage_instance_set_owner", id=storage, owner="", application="")
        unhost(tx, instance)
        advance(tx, instance.id)
    count_on(tx, unit.name, unit.machine)


def unhost(tx: ModelTx, instance: StorageInstance) -> None:
    """Begin to detach the volume and filesystem of an instance from their machines."""
    for backing in backings(tx, instance):
        for row in hosts(tx, backing):
            tx.run(
                "backing_attachment_set_life", kind=row.kind, id=row.id, machine=row.machine,
                life=Life.DYING
            )  # fmt: skip
            set_status(tx, backing, StorageStatus.DETACHING)
            wake.machine(tx, row.machine, f"storage {instance.id} is detached")


# --- remove -----------------------------------------------------------------------------------------------


def remove(tx: ModelTx, instance: StorageInstance, *, force: bool = False, destroy: bool = True) -> None:
    """Begin to remove an instance; its data is destroyed, or with `destroy` False released."""
    verb = "destroy" if destroy else "release"
    if not destroy and not instance.releasable:
        text = f'storage provider "{instance.provider}" does not support releasing storage'
        raise NotValid(f'cannot {verb} storage "{instance.id}": {text}')
    rows = attachments(tx, instance)
    if rows and not force:
        raise Conflict(f'cannot {verb} storage "{instance.id}": storage is attached')
    doom(tx, instance, destroy=destroy)
    for row in rows:
        unit = tx.find(Unit, "unit_get", name=row.unit)
        if unit is not None:
            begin_detach(tx, unit, instance.id)
    advance(tx, instance.id)


def doom(tx: ModelTx, instance: StorageInstance, *, destroy: bool) -> None:
    """Mark an instance as dying; the first call decides whether its data is destroyed or released."""
    if instance.life == Life.ALIVE:
        tx.run(
            "storage_instance_set_life", id=instance.id, life=Life.DYING,
            releasing=not destroy
        )  # fmt: skip


def advance(tx: ModelTx, storage: str) -> None:
    """Continue the removal of a dying instance: its filesystem, then its volume, then the instance.

    Each function that deletes a row which such an instance waits for calls this function.
    """
    instance = tx.find(StorageInstance, "storage_instance_get", id=storage)
    if instance is None or instance.life == Life.ALIVE or attachments(tx, instance):
        return
    behind = backings(tx, instance)
    if not behind:
        tx.run("storage_instance_delete", id=storage)
        wake.cleaner(tx, tx.now, f"storage {storage} is gone")
        return
    if any(hosts(tx, backing) for backing in behind):
        return
    # The filesystem comes before the volume that it is on.
    backing = behind[0]
    if backing.life == Life.ALIVE:
        tx.run(
            "backing_set_life", kind=backing.kind, id=backing.id, life=Life.DYING,
            releasing=instance.releasing
        )  # fmt: skip
        set_status(tx, backing, StorageStatus.DESTROYING)
    if backing.machine:
        wake.machine(tx, backing.machine, f"storage {storage} is destroyed")
    else:
        wake.storage(tx, f"storage {storage} is destroyed")


def forget_backing(tx: ModelTx, backing: Backing) -> None:
    """Delete the row of a volume or filesystem that has gone; continue the removal of its instance."""
    for row in hosts(tx, backing):
        forget_host(tx, backing, row)
    statuses.forget(tx, backing.id, [KINDS[backing.kind]])
    tx.run("backing_delete", kind=backing.kind, id=backing.id)
    if backing.machine:
        count_on(tx, "", backing.machine)
    advance(tx, backing.storage)


def forget_host(tx: ModelTx, backing: Backing, row: BackingAttachment) -> None:
    """Delete the row of an attachment to a machine; continue the removal of the instance."""
    tx.run("backing_attachment_delete", kind=row.kind, id=row.id, machine=row.machine)
    set_status(tx, backing, StorageStatus.DETACHED)
    count_on(tx, "", row.machine)
    advance(tx, backing.storage)


def forget(tx: ModelTx, storage: str) -> None:
    """Delete a dying instance with its volume and filesystem, even when they still exist in the cloud."""
    instance = tx.find(StorageInstance, "storage_instance_get", id=storage)
    if instance is None or instance.life == Life.ALIVE:
        return
    for row in attachments(tx, instance):
        tx.run("storage_attachment_delete", unit=row.unit, storage=storage)
        count_on(tx, row.unit, None)
    for backing in backings(tx, instance):
        forget_backing(tx, backing)
    advance(tx, storage)


# --- units and machines that are removed ------------------------------------------------------------------


def doom_of_unit(tx: ModelTx, unit: Unit) -> None:
    """Mark the storage of a unit to be destroyed with the unit, at the user's request."""
    for row in of_unit(tx, unit.name):
        doom(tx, get(tx, row.storage), destroy=True)


def unit_gone(tx: ModelTx, unit: Unit) -> None:
    """Delete the storage attachments of a unit that never ran or is removed by force."""
    for row in of_unit(tx, unit.name):
        leave(tx, unit, row.storage)


def kept_on(tx: ModelTx, machine: str) -> list[str]:
    """Return the storage on a machine, without disks, that no user has asked to destroy."""
    behind = tx.list(Backing, "backing_on_machine", machine=machine)
    ids = sorted({backing.storage for backing in behind}, key=natural_key)
    found = (get(tx, storage) for storage in ids)
    return [item.id for item in found if item.life == Life.ALIVE and not item.is_disk]


def doom_on(tx: ModelTx, machine: str) -> None:
    """Mark the storage on a machine to be destroyed with the machine, at the user's request."""
    for name in kept_on(tx, machine):
        doom(tx, get(tx, name), destroy=True)
        advance(tx, name)


def machine_gone(tx: ModelTx, machine: str) -> None:
    """Delete the attachments to a removed machine, and the storage that was only on that machine."""
    rows = tx.list(BackingAttachment, "backing_attachment_on_machine", machine=machine)
    for row in rows:
        backing = tx.find(Backing, "backing_get", kind=row.kind, id=row.id)
        if backing is not None:
            if (instance := get(tx, backing.storage)).is_disk:
                doom(tx, instance, destroy=True)
            forget_host(tx, backing, row)
    for backing in tx.list(Backing, "backing_on_machine", machine=machine):
        instance = get(tx, backing.storage)
        doom(tx, instance, destroy=True)
        forget_backing(tx, backing)
