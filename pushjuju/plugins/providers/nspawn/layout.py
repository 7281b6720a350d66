"""The names, paths and records of the machines of one controller.

Each name outside the data directory (bridge, namespaces, cgroups, nft table) starts with a prefix that is a
digest of the data directory's path, so several controllers and test runs can share a host.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, field
from pathlib import Path

from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The record of one machine, stored as `machine.json` in the machine's folder."""

    id: str
    controller_uuid: str
    model_uuid: str
    machine_id: str
    hostname: str
    index: int  # the number of the machine's address in the subnet, which is also in the namespace's name
    address: str  # the IPv4 address
    gateway: str
    cidr: str  # the subnet of the address
    base: str  # the base that the machine has, as text
    root: str  # the base's root directory on this host
    arch: str
    created: str
    nonce: str = ""
    cores: int | None = None  # the limit of processors; None for all processors of the host
    mem: int | None = None  # the limit of memory in MiB; None for all memory of the host
    host_key: str = ""  # the public SSH host key
    boot_id: str = ""  # the id of the host's boot in which the machine was last started
    ready: bool = False  # True when the creation of the machine was completed
    tags: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_json(cls, text: str) -> Record:
        try:
            return cls(**json.loads(text))
        except (ValueError, TypeError) as error:
            raise NotValid("the record of a local machine is damaged", detail=str(error)) from error

    def to_json(self) -> str:
        data: dict[str, object] = asdict(self)
        return json.dumps(data, indent=1, sort_keys=True)


@dataclass(frozen=True, slots=True)
class Layout:
    """The paths of a controller's files."""

    state: Path  # the folder of this provider
    key: str  # the path from which the prefix is computed

    @classmethod
    def of(cls, data_dir: Path, machines_dir: str = "") -> Layout:
        """Return the layout for a controller's data directory.

        Args:
            machines_dir: Another folder for machines (the cloud's `machines-dir`), in which each controller
                gets a folder of its own; may be empty.
        """
        key = os.path.realpath(data_dir)
        if not machines_dir:
            return cls(Path(key) / "local", key)
        return cls(Path(machines_dir).expanduser() / _digest(key), key)

    @property
    def prefix(self) -> str:
        """The prefix of every name outside the data directory: 8 of the 15 characters of a device name."""
        return "pj" + _digest(self.key)

    @property
    def machines(self) -> Path:
        """The folder that has a folder for each machine."""
        return self.state / "machines"

    @property
    def volumes(self) -> Path:
        """The folder that has a folder for each volume."""
        return self.state / "volumes"

    @property
    def lock(self) -> Path:
        """The lock file for addresses and the bridge."""
        return self.state / ".lock"

    @property
    def bridge(self) -> str:
        """The name of the bridge for all machines of the controller, and of the nft table."""
        return self.prefix

    def machine(self, instance_id: str) -> Path:
        """Return the folder of a machine."""
        if not instance_id or "/" in instance_id or instance_id.startswith("."):
            raise NotValid(f'"{instance_id}" is not a valid instance id')
        return self.machines / instance_id

    def namespace(self, index: int) -> str:
        """Return the name of a machine's network namespace, and of the machine's device on the bridge."""
        return f"{self.prefix}-{index}"

    def cgroup(self, instance_id: str) -> str:
        """Return the path of a machine's cgroup in each hierarchy."""
        return f"{self.prefix}/{instance_id}"

    def read(self, instance_id: str) -> Record | None:
        """Return the record of a machine, or None when the machine has no record."""
        try:
            return Record.from_json((self.machine(instance_id) / "machine.json").read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def write(self, record: Record) -> None:
        """Write a record atomically."""
        folder = self.machine(record.id)
        new = folder / "machine.json.new"
        new.write_text(record.to_json(), encoding="utf-8")
        new.replace(folder / "machine.json")

    def records(self) -> list[Record]:
        """Return the records of all machines, in the order of their addresses."""
        try:
            names = sorted(path.name for path in self.machines.iterdir())
        except FileNotFoundError:
            return []
        found = (self.read(name) for name in names if not name.startswith("."))
        return sorted((record for record in found if record), key=lambda record: record.index)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:6]
