"""The interface of storage plugins, and the types of its requests and answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Protocol, runtime_checkable

from pushjuju.core.storage import Kind, Scope
from pushjuju.core.values import dataclass
from pushjuju.plugins.api.clouds import Attr


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageType:
    """A kind of storage that a plugin provides. A pool names a type, and has attributes for it.

    Attributes:
        kinds: The kinds of storage that the provider makes. For a type with `block` alone, filesystems are
            made on its volumes.
        scope: `machine` for storage that ends with its machine, `model` for storage that outlives machines.
        releasable: True when storage can be released without being destroyed, and imported again.
        default: True for the type of storage directives without a pool, unless the model names another type.
        with_machine: True when storage can only be made with a new machine (`StartRequest.volumes`).
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
    """One volume or filesystem, in the form in which its provider gets it.

    Attributes:
        id: The number in the model: `3`, or `0/3` on machine 0.
        size: The size in MiB.
        attributes: The attributes of the pool.
        provider_id: The provider's id of the item; empty before the item is made.
        instance_id: The instance to which the item will be attached; empty when there is none.
        path: The mount point of the filesystem on the machine; empty for volumes.
        source: The `source` that `attach` returned for the item.
        uuid: A text that is the same at each attempt and different for other items, so that the provider
            finds a half-made item.
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
    """Storage that was made or found: the provider's id, and the size in MiB."""

    provider_id: str
    size: int
    hardware_id: str = ""
    wwn: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageSeen:
    """How an attached volume or filesystem can be found on its machine.

    When the cloud does not know the device of a volume, it gives `serial` and `paths` instead, and the
    controller searches the machine for such a device.

    Attributes:
        device: Name of the block device below /dev.
        device_link: A second, stable path of the device.
        source: The directory with a filesystem's data on the machine; it is bind-mounted to the mount point.
        serial: The serial number that the device reports.
        paths: Possible paths below /dev, stable paths first.
    """

    device: str = ""
    device_link: str = ""
    source: str = ""
    serial: str = ""
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BootMount:
    """A line of fstab that mounts storage at boot.

    Attributes:
        what: A device, a file, or a name that the filesystem type defines.
        where: The mount point; empty for a volume, for which the line of its filesystem is used.
        options: Mount options in addition to `nofail`.
    """

    what: str
    where: str = ""
    type: str = "none"
    options: tuple[str, ...] = ()


@runtime_checkable
class MachineStorage(Protocol):
    """Storage on the machine itself: each method returns a POSIX shell script that runs there as root.

    A script may run again after an interruption at any point, or after its result got lost: then it must find
    what is done already, and do the rest. It prints its results, one on each line: `size=1024` (MiB),
    `device=loop0`, `source=/path`. Its files are below `/var/lib/juju/storage/.NAME`, with a NAME of its own;
    the controller rejects a `source` elsewhere. On failure it exits with another code than 0 and the reason
    on standard error.
    """

    def create(self, item: StorageItem) -> str:
        """Return a script that makes the storage and prints `size`."""
        ...

    def attach(self, item: StorageItem) -> str:
        """Return a script that attaches the storage; it prints `device` (volume) or `source` (filesystem)."""
        ...

    def detach(self, item: StorageItem) -> str:
        """Return a script that undoes `attach`; the data stays."""
        ...

    def destroy(self, item: StorageItem) -> str:
        """Return a script that deletes the storage with its data."""
        ...

    def at_boot(self, item: StorageItem) -> BootMount | None:
        """Return the fstab line that mounts the storage at boot, or None when its UUID in fstab is enough."""
        ...


@runtime_checkable
class StorageProvider(Protocol):
    """Storage of a cloud. Every method may be called again after it has succeeded, and then changes nothing.

    All methods raise ProviderError when the cloud fails.
    """

    async def create(self, item: StorageItem) -> StorageMade:
        """Make the storage, unless an earlier call with the item's `uuid` made it already."""
        ...

    async def attach(self, item: StorageItem) -> StorageSeen:
        """Attach the storage to the instance `instance_id`."""
        ...

    async def detach(self, item: StorageItem) -> None:
        """Detach the storage from its instance; a missing instance or storage is no error."""
        ...

    async def destroy(self, item: StorageItem) -> None:
        """Delete the storage with its data."""
        ...

    async def release(self, item: StorageItem) -> None:
        """Remove the model's marks from the storage, which stays in the cloud."""
        ...

    async def find(self, provider_id: str, kind: Kind) -> StorageMade:
        """Return existing storage that belongs to no model, for an import.

        Raises:
            NotFound: The storage does not exist.
            Conflict: The storage belongs to a model.
        """
        ...
