"""What plugins for storage and the host exchange."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from pushjuju.core.storage import Kind, Scope
from pushjuju.plugins.api.clouds import Attr


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageType:
    """A kind of storage that a plugin provides; a pool names one, with attributes.

    Attributes:
        kinds: The kinds of storage that the provider makes itself; a filesystem of a `block` type is made on
            a volume of that type.
        scope: `machine`: the storage belongs to one machine and ends with it; `model`: it outlives machines.
        releasable: The storage can be released without being destroyed, and imported again.
        default: The type for storage directives without a pool, where the model names no other.
        with_machine: The storage is made only with a new machine, in its request (`StartRequest.volumes`).
        pools: Pools that exist without being created: name -> attributes.
        attributes: The attributes that a pool may have.
    """

    name: str
    summary: str
    kinds: frozenset[Kind]
    scope: Scope
    releasable: bool = False
    default: bool = False
    with_machine: bool = False
    pools: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    attributes: tuple[Attr, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageItem:
    """One volume or filesystem, as its provider gets it.

    Attributes:
        id: The number in the model: `3`, or `0/3` on machine 0.
        size: MiB.
        attributes: The attributes of the pool.
        provider_id: The provider's own name of the item; empty before the item is made.
        instance_id: The machine that the item is about to be attached to; empty when there is no such
            machine.
        path: The mount point of the filesystem on the machine; empty for volumes.
        source: The value that `attach` returned for the item.
        uuid: The same at each attempt, and for no other item: a half-made item is found again by its UUID.
    """

    id: str
    kind: Kind
    size: int
    attributes: Mapping[str, Any] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    provider_id: str = ""
    instance_id: str = ""
    path: str = ""
    source: str = ""
    read_only: bool = False
    uuid: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageMade:
    """What was made, or found: the provider's own name for it, and its size in MiB."""

    provider_id: str
    size: int
    hardware_id: str = ""
    wwn: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageSeen:
    """Where a machine sees what was attached to it.

    A cloud often cannot say which device a volume becomes; then it says how the machine can tell, by `serial`
    and `paths`, and the controller asks the machine.

    Attributes:
        device: Name of the block device below /dev.
        device_link: Another path of it, that stays the same.
        source: The directory of a filesystem inside the machine; it is bound to the mount point.
        serial: The serial number that the device reports.
        paths: Paths below /dev that it may have, those that stay the same first.
    """

    device: str = ""
    device_link: str = ""
    source: str = ""
    serial: str = ""
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BootMount:
    """A line of fstab.

    Attributes:
        what: A device, a file, or a word for the type.
        where: The mount point; empty for a volume, which its filesystem's line names.
        options: More of them than `nofail`.
    """

    what: str
    where: str = ""
    type: str = "none"
    options: tuple[str, ...] = ()


@runtime_checkable
class MachineStorage(Protocol):
    """Storage that lives on a machine: each step is a POSIX shell script that runs there as root.

    A script may run again after it was cut off anywhere, or after it ended without anybody hearing of it:
    then it finds what is done, and does the rest. It prints what it found out, a line each: `size=1024`
    (MiB), `device=loop0`, `source=/path`. What it makes lies below `/var/lib/juju/storage/.NAME`, where NAME
    is its own; another `source` is not believed. It ends with another code than 0 and says why on standard
    error, when it cannot.
    """

    def create(self, item: StorageItem) -> str:
        """Return a script that makes the storage and prints `size`."""
        ...

    def attach(self, item: StorageItem) -> str:
        """Make it visible: prints `device` of a volume, `source` of a filesystem."""
        ...

    def detach(self, item: StorageItem) -> str:
        """Undo `attach`; the data stays."""
        ...

    def destroy(self, item: StorageItem) -> str:
        """Delete it with its data."""
        ...

    def at_boot(self, item: StorageItem) -> BootMount | None:
        """Return what mounts the storage when the machine boots, or None when its UUID in fstab is enough."""
        ...


@runtime_checkable
class StorageProvider(Protocol):
    """Storage of a cloud. Every method may be called again for what is done already, and finds it so.

    All raise ProviderError when the cloud fails.
    """

    async def create(self, item: StorageItem) -> StorageMade:
        """Make it; by the item's `uuid`, what an earlier call made is found."""
        ...

    async def attach(self, item: StorageItem) -> StorageSeen:
        """Attach it to the machine `instance_id`."""
        ...

    async def detach(self, item: StorageItem) -> None:
        """Take it from the machine; a machine or storage that is gone is no error."""
        ...

    async def destroy(self, item: StorageItem) -> None:
        """Delete it with its data."""
        ...

    async def release(self, item: StorageItem) -> None:
        """Let go of it, and leave it in the cloud."""
        ...

    async def find(self, provider_id: str, kind: Kind) -> StorageMade:
        """Take in storage that exists already and belongs to no model.

        Raises:
            NotFound: It is not there.
            Conflict: It belongs to a model.
        """
        ...
