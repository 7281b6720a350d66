"""Rows of storage as values; see `records`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class StoragePool:
    """A pool that a user made: a name for a provider with attributes."""

    model: str
    name: str
    provider: str
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageDirective:
    """What each future unit of an application gets for a store; `size` in MiB.

    `managed`: a filesystem on a volume of the pool, for pools that make volumes only.
    """

    model: str
    application: str
    name: str
    pool: str
    size: int
    count: int
    provider: str
    scope: str
    managed: bool = False
    releasable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageInstance:
    """A storage instance; `owner`: its unit, or empty when it is detached.

    Without a name it is a disk: it belongs to a machine, its owner, and to no charm's store.
    """

    model: str
    id: str
    name: str
    kind: str
    owner: str = ""
    application: str = ""
    pool: str
    size: int
    provider: str
    scope: str
    managed: bool = False
    releasable: bool = False
    life: str
    releasing: bool = False
    created: str

    @property
    def is_disk(self) -> bool:
        """Whether it belongs to a machine."""
        return not self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageAttachment:
    """A storage instance that a unit has."""

    model: str
    unit: str
    storage: str
    life: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Backing:
    """The volume or filesystem behind a storage instance.

    `machine`: where it lives, empty when it is the model's; `provider_id`: empty until it was made;
    `begun`: somebody began to make it; `due`: when it is tried again, empty for at once.
    """

    model: str
    kind: str
    id: str
    storage: str
    volume: str = ""
    machine: str = ""
    pool: str
    provider: str
    attributes: Mapping[str, Any] = field(default_factory=dict)
    size: int
    provider_id: str = ""
    hardware_id: str = ""
    wwn: str = ""
    life: str
    releasing: bool = False
    begun: bool = False
    attempts: int = 0
    due: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackingAttachment:
    """A volume or filesystem on a machine.

    `location`: mount point; `source`: where a provider shows it inside the machine; `boot_id`: the boot in
    which it was attached last.
    """

    model: str
    kind: str
    id: str
    machine: str
    life: str
    location: str = ""
    device: str = ""
    device_link: str = ""
    source: str = ""
    read_only: bool = False
    attached: bool = False
    begun: bool = False
    boot_id: str = ""
    attempts: int = 0
    due: str = ""
