"""Disks of MAAS machines as volumes: requests them at allocation, and identifies them afterwards. Pure.

Mirrors: juju provider/maas/volumes.go (3.6)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pushjuju.core.errors import NotValid
from pushjuju.plugins.api.storage_types import StorageItem, StorageSeen

VOLUME_KEY = "pushjuju-volume-"
"""The beginning of the annotation that records the disk of a volume; the volume's uuid follows."""

_ROOT = "root"
_BY_ID = "/dev/disk/by-id/"


def gigabytes(mebibytes: int) -> int:
    """Return a size in the unit of MAAS's requests: whole GiB, rounded up. Mirrors: juju mibToGb."""
    return -(-mebibytes // 1024)


def tags_of(attributes: Mapping[str, Any]) -> list[str]:
    """Return the tags that the attributes of a pool ask for."""
    found = [word.strip() for word in str(attributes.get("tags") or "").split(",") if word.strip()]
    for word in found:
        if word.split() != [word]:
            raise NotValid(f'tags may not contain whitespace: "{word}"')
        if set(word) & set("(),:"):
            raise NotValid(f'tag "{word}" not valid')
    return found


def wanted(root_disk: int, volumes: Sequence[StorageItem]) -> str:
    """Return the disks that a machine must have, in MAAS's notation, root disk first; empty for any disks.

    Args:
        root_disk: The size in MiB; 0 for any size.
        volumes: The volumes that need a disk of the machine.
    """
    if not root_disk and not volumes:
        return ""
    words = [f"{_ROOT}:{gigabytes(root_disk)}"]
    for item in _demanding_first(volumes):
        tags = ",".join(tags_of(item.attributes))
        words.append(f"{_label(item)}:{gigabytes(item.size)}{f'({tags})' if tags else ''}")
    return ",".join(words)


def _demanding_first(volumes: Sequence[StorageItem]) -> list[StorageItem]:
    """Return volumes, the most demanding first, so that no less demanding volume takes their disks."""
    return sorted(volumes, key=lambda one: (-len(tags_of(one.attributes)), -one.size))


def _label(item: StorageItem) -> str:
    return f"volume{item.id.replace('/', 'x')}"


def chosen(document: Mapping[str, Any], volumes: Sequence[StorageItem]) -> dict[str, str]:
    """Return the annotations that record the disk of each volume.

    MAAS names the disks in its answer to the allocation. A process that finds the machine later does not have
    that answer, and chooses the disks by itself.
    """
    told = document.get("constraints_by_type")
    by_label = told.get("storage") if isinstance(told, Mapping) else None
    found: dict[str, str] = {}
    for item in volumes:
        ids = by_label.get(_label(item)) if isinstance(by_label, Mapping) else None
        if isinstance(ids, list) and ids:
            found[VOLUME_KEY + item.uuid] = str(ids[0])
    if len(found) == len(volumes):
        return found
    taken: set[str] = set()
    found = {}
    for item in _demanding_first(volumes):
        fitting = [disk for disk in _spare(document) if str(disk["id"]) not in taken and _fits(disk, item)]
        if fitting:
            best = min(fitting, key=lambda disk: (disk["size"], disk["id"]))
            taken.add(str(best["id"]))
            found[VOLUME_KEY + item.uuid] = str(best["id"])
    return found


def _fits(disk: Mapping[str, Any], item: StorageItem) -> bool:
    large = disk["size"] >= gigabytes(item.size) * 10**9
    return large and set(tags_of(item.attributes)) <= set(disk.get("tags") or ())


def listed(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the block devices of a machine, without invalid entries."""
    found: Iterable[Any] = document.get("blockdevice_set") or ()
    return [
        disk
        for disk in found
        if isinstance(disk, Mapping) and isinstance(disk.get("id"), int) and isinstance(disk.get("size"), int)
    ]


def _spare(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the disks of a machine except the system disk."""
    boot = document.get("boot_disk")
    root = boot.get("id") if isinstance(boot, Mapping) else None
    disks = listed(document)
    if root is None and disks:
        root = disks[0]["id"]
    return [disk for disk in disks if disk["id"] != root]


def of_volume(document: Mapping[str, Any], uuid: str) -> Mapping[str, Any] | None:
    """Return the disk of a volume, or None when the machine has no disk for the volume."""
    noted = document.get("owner_data")
    name = str(noted.get(VOLUME_KEY + uuid) or "") if isinstance(noted, Mapping) else ""
    return next((disk for disk in listed(document) if str(disk["id"]) == name), None)


def hardware_ids(disk: Mapping[str, Any]) -> tuple[str, str]:
    """Return (hardware id, WWN) of a disk; a part that MAAS does not know is empty."""
    path = str(disk.get("id_path") or "")
    word = path.removeprefix(_BY_ID) if path.startswith(_BY_ID) else ""
    return ("", word.removeprefix("wwn-")) if word.startswith("wwn-") else (word, "")


def seen(disk: Mapping[str, Any]) -> StorageSeen:
    """Return how the machine finds a disk: by its stable path, or else by its serial number."""
    paths = [str(disk[key]) for key in ("id_path", "path") if str(disk.get(key) or "").startswith("/dev/")]
    return StorageSeen(paths=tuple(paths), serial=str(disk.get("serial") or ""))
