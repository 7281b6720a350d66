"""Disks of machines: volumes that belong to a machine and not to a unit.

A disk is a storage instance without a storage name, owned by its machine; charms and the storage commands
never show it. The disk is created when the machine starts, and destroyed when nothing else is left on the
machine.
Mirrors: juju apiserver/facades/client/machinemanager AddMachines, state/machine.go hostStorageOps (3.6)
"""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.core.errors import NotFound, NotValid
from pushjuju.core.status import Life
from pushjuju.core.storage import Directive, Kind, check_count
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.storage import storage_instances
from pushjuju.services.entities.storage.storage_pools import Pool, Pools, open_pools
from pushjuju.store.rows.records import Machine
from pushjuju.store.rows.storage_records import Backing, BackingAttachment, StorageInstance
from pushjuju.store.tx import ModelTx

_REFUSED = "cannot add a new machine: validating volume params: "


def check(tx: ModelTx, pools: Pools, asked: Sequence[Directive]) -> list[tuple[Directive, Pool]]:
    """Return the directives of disks with their pools, or raise NotValid or NotFound."""
    try:
        check_count(max(sum(item.count for item in asked), 1), 1, -1)
        return [(item, _pool(tx, pools, item)) for item in asked]
    except NotValid as error:
        raise NotValid(f"{_REFUSED}{error.message}", hint=error.hint) from None


def _pool(tx: ModelTx, pools: Pools, asked: Directive) -> Pool:
    name = asked.pool or storage_instances.default_pool(tx, Kind.BLOCK, asked, pools)
    try:
        found = pools.get(name)
    except NotFound as error:
        usable = (other for other in pools.names() if Kind.BLOCK in pools.get(other).type.kinds)
        text, hint = f"{_REFUSED}{error.message}", f"usable pools: {', '.join(usable)}"
        raise NotFound(text, hint=hint, subject=error.subject) from None
    found.require(Kind.BLOCK)
    if not asked.size:
        raise NotValid("invalid size 0", hint=f"pushjuju add-machine --disks {name},10G")
    return found


def equip(ctx: Context, tx: ModelTx, machine: Machine, wanted: Sequence[Directive]) -> None:
    """Record the disks of a new machine, in the model's pools."""
    add(tx, open_pools(ctx, tx), machine, wanted)


def add(tx: ModelTx, pools: Pools, machine: Machine, asked: Sequence[Directive]) -> None:
    """Record the disks of a new machine; the worker that starts the machine creates them."""
    for item, pool in check(tx, pools, asked):
        pools.keep(tx, pool)
        for _ in range(item.count):
            _add_one(tx, machine, pool, item.size)
    storage_instances.count_on(tx, "", machine.id)


def _add_one(tx: ModelTx, machine: Machine, pool: Pool, size: int) -> None:
    instance = StorageInstance(
        model=machine.model, id=f"disk-{tx.next(machine.model, 'disk')}", name="", kind=Kind.BLOCK,
        owner=machine.id, pool=pool.name, size=size, provider=pool.type.name, scope=pool.type.scope,
        life=Life.ALIVE, created=tx.now,
    )  # fmt: skip
    tx.insert("storage_instance", instance)
    for backing in storage_instances.back(tx, instance, machine.id):
        row = BackingAttachment(
            model=backing.model, kind=backing.kind, id=backing.id, machine=machine.id, life=Life.ALIVE
        )
        tx.insert("backing_attachment", row)


def of_machine(tx: ModelTx, machine: str) -> list[tuple[StorageInstance, Backing]]:
    """Return the disks of a machine, each with its volume."""
    rows = tx.list(BackingAttachment, "backing_attachment_on_machine", machine=machine)
    found = []
    for row in rows:
        backing = tx.find(Backing, "backing_get", kind=row.kind, id=row.id)
        if backing is not None and (instance := storage_instances.get(tx, backing.storage)).is_disk:
            found.append((instance, backing))
    return found


def end(tx: ModelTx, machine: str) -> None:
    """Begin to detach and destroy the disks of a machine; a repetition changes nothing."""
    for instance, backing in of_machine(tx, machine):
        storage_instances.doom(tx, instance, destroy=True)
        if any(row.life == Life.ALIVE for row in storage_instances.hosts(tx, backing)):
            storage_instances.unhost(tx, instance)
