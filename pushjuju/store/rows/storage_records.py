"""Rows about storage; see `records`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any

from pushjuju.core.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StoragePool:
    """A pool that a user made: a name for a provider with attributes."""

    model: str
    name: str
    provider: str
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageDirective:
    """The storage that each future unit of an application gets; `size` in MiB.

    `managed`: 1 for a filesystem on a volume, from a pool that makes only volumes.
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
    """A storage instance; `owner`: its unit, or "" when it is detached.

    An instance without a name is a disk: its owner is a machine, and no charm declares it.
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
    created: datetime

    @property
    def is_disk(self) -> bool:
        """Return True when the instance belongs to a machine."""
        return not self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageAttachment:
    """The attachment of a storage instance to a unit."""

    model: str
    unit: str
    storage: str
    life: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Backing:
    """The volume or filesystem behind a storage instance.

    `machine`: the machine on which it exists, or "" when it exists in the cloud; `provider_id`: "" until it
    is made; `begun`: 1 once its creation has begun; `due`: when a step is tried again, or "" for at once.
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
    """The attachment of a volume or filesystem to a machine.

    `location`: mount point; `source`: path at which a provider shows it inside the machine; `boot_id`: the
    boot in which it was attached last.
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
