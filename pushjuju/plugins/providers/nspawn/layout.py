"""Names, places and records of the machines of one controller.

Each name outside the data directory (bridge, namespaces, cgroups, nft table) starts with a prefix made from
the data directory's path, so several controllers and test runs share a host without meeting.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pushjuju.core.errors import NotValid


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What is known about one machine; kept as `machine.json` in the machine's folder.

    Attributes:
        index: Number of the machine's address inside the subnet; also names its network namespace.
        address: IPv4 address.
        cidr: The subnet of the address.
        base: The base the machine really has, as text.
        root: The base's root directory on this host.
        cores: Limit; all processors of the host when None.
        mem: Limit in MiB; all memory of the host when None.
        host_key: Public SSH host key.
        boot_id: The boot of this host in which the machine was started last.
        ready: Whether its creation got to the end.
    """

    id: str
    controller_uuid: str
    model_uuid: str
    machine_id: str
    hostname: str
    index: int
    address: str
    gateway: str
    cidr: str
    base: str
    root: str
    arch: str
    created: str
    nonce: str = ""
    cores: int | None = None
    mem: int | None = None
    host_key: str = ""
    boot_id: str = ""
    ready: bool = False
    tags: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_json(cls, text: str) -> Record:
        """Read a record."""
        try:
            return cls(**json.loads(text))
        except (ValueError, TypeError) as error:
            raise NotValid("the record of a local machine is damaged", detail=str(error)) from error

    def to_json(self) -> str:
        """Return the record as JSON text."""
        data: dict[str, object] = asdict(self)
        return json.dumps(data, indent=1, sort_keys=True)


@dataclass(frozen=True, slots=True)
class Layout:
    """The paths of a controller's files.

    Attributes:
        state: The folder of this provider.
        key: The path that the prefix is made from.
    """

    state: Path
    key: str

    @classmethod
    def of(cls, data_dir: Path, machines_dir: str = "") -> Layout:
        """Return the layout for a controller's data directory.

        Args:
            machines_dir: Where machines shall live instead (the cloud's `machines-dir`); each controller gets
                a folder of its own there.
        """
        key = os.path.realpath(data_dir)
        if not machines_dir:
            return cls(Path(key) / "local", key)
        return cls(Path(machines_dir).expanduser() / _digest(key), key)

    @property
    def prefix(self) -> str:
        """What every name outside the data directory starts with; 8 characters (a device name has 15)."""
        return "pj" + _digest(self.key)

    @property
    def machines(self) -> Path:
        """The folder with one folder per machine."""
        return self.state / "machines"

    @property
    def volumes(self) -> Path:
        """The folder with one folder per volume."""
        return self.state / "volumes"

    @property
    def lock(self) -> Path:
        """The file that guards addresses and the bridge."""
        return self.state / ".lock"

    @property
    def bridge(self) -> str:
        """The bridge all machines of the controller are on; the nft table has the same name."""
        return self.prefix

    def machine(self, instance_id: str) -> Path:
        """Return the folder of a machine."""
        if not instance_id or "/" in instance_id or instance_id.startswith("."):
            raise NotValid(f'"{instance_id}" is not a valid instance id')
        return self.machines / instance_id

    def namespace(self, index: int) -> str:
        """Return the name of a machine's network namespace and of its device on the bridge."""
        return f"{self.prefix}-{index}"

    def cgroup(self, instance_id: str) -> str:
        """Return a machine's cgroup below the top of each hierarchy."""
        return f"{self.prefix}/{instance_id}"

    def read(self, instance_id: str) -> Record | None:
        """Return the record of a machine, or None when the machine has no record."""
        try:
            return Record.from_json((self.machine(instance_id) / "machine.json").read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def write(self, record: Record) -> None:
        """Keep a record; readers see the old or the new one."""
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
