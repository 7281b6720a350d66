"""Storage as tables, for `status --storage` and `storage`. Pure.

Mirrors: juju cmd/juju/storage/list.go, listformatters.go (3.6)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pushjuju.cli.terminal.paint import paint_status
from pushjuju.cli.terminal.table import TabWriter, heads, size_text
from pushjuju.core.values import dataclass
from pushjuju.portable.natural import natural_key


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageRow:
    """A storage instance and a unit that it is attached to; `unit` is empty for detached storage."""

    unit: str
    storage: str
    kind: str
    pool: str
    mountpoint: str
    size: str
    status: str
    message: str


def rows(combined: Mapping[str, Any]) -> list[StorageRow]:
    """Return the rows of a storage document, sorted by unit and id as text, detached storage first."""
    backing = _backing(combined)
    found = (
        row
        for name, instance in combined.get("storage", {}).items()
        for row in _rows_of(name, instance, backing.get(name, {}))
    )
    return sorted(found, key=lambda row: (row.unit, row.storage))


def _backing(combined: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return storage id -> its filesystem, or else its volume."""
    volumes, filesystems = combined.get("volumes", {}), combined.get("filesystems", {})
    entries = (*volumes.values(), *filesystems.values())
    return {entry["storage"]: entry for entry in entries if entry.get("storage")}


def _rows_of(name: str, instance: Mapping[str, Any], backing: Mapping[str, Any]) -> Iterator[StorageRow]:
    units = instance.get("attachments", {}).get("units") or {"": {}}
    for unit, attachment in units.items():
        yield StorageRow(
            unit=unit,
            storage=name,
            kind=instance["kind"],
            pool=backing.get("pool", ""),
            mountpoint=attachment.get("location", ""),
            size=size_text(backing.get("size", 0)),
            status=instance["status"].get("current", ""),
            message=instance["status"].get("message", ""),
        )


def status_section(combined: Mapping[str, Any], *, colour: bool) -> str:
    """Return the storage section of status; empty without storage."""
    return _table(rows(combined), unit_title="Storage Unit", mountpoint=True, colour=colour)


def tabular(combined: Mapping[str, Any], *, colour: bool = False) -> str:
    """Return the table of the `storage` command; empty without storage."""
    return _table(rows(combined), unit_title="Unit", mountpoint=False, colour=colour)


def _table(listed: list[StorageRow], *, unit_title: str, mountpoint: bool, colour: bool) -> str:
    if not listed:
        return ""
    pools = any(row.pool for row in listed)
    table = TabWriter(colour=colour)
    optional = (("Pool",) if pools else ()) + (("Mountpoint",) if mountpoint else ())
    table.row(*heads(unit_title, "Storage ID", "Type", *optional, "Size", "Status", "Message"))
    for row in listed:
        middle = ((row.pool,) if pools else ()) + ((row.mountpoint,) if mountpoint else ())
        table.row(row.unit, row.storage, row.kind, *middle, row.size, paint_status(row.status), row.message)
    return table.text()


def filesystems(combined: Mapping[str, Any], *, colour: bool = False) -> str:
    """Return the table of `storage --filesystem`."""
    table = TabWriter(colour=colour)
    table.row(
        *heads(
            "Machine", "Unit", "Storage ID", "ID", "Volume", "Provider ID", "Mountpoint", "Size", "State",
            "Message",
        )
    )  # fmt: skip
    for machine, unit, name, entry, place in _placed(combined.get("filesystems", {})):
        table.row(
            machine, unit, entry.get("storage", ""), name, entry.get("volume", ""),
            entry.get("provider-id", ""), place.get("mount-point", ""), *_tail(entry),
        )  # fmt: skip
    return table.text()


def volumes(combined: Mapping[str, Any], *, colour: bool = False) -> str:
    """Return the table of `storage --volume`."""
    table = TabWriter(colour=colour)
    table.row(
        *heads(
            "Machine", "Unit", "Storage ID", "Volume ID", "Provider ID", "Device", "Size", "State", "Message"
        )
    )
    for machine, unit, name, entry, place in _placed(combined.get("volumes", {})):
        table.row(
            machine, unit, entry.get("storage", ""), name, entry.get("provider-id", ""),
            place.get("device", ""), *_tail(entry),
        )  # fmt: skip
    return table.text()


def _tail(entry: Mapping[str, Any]) -> tuple[Any, ...]:
    status = entry.get("status", {})
    return (
        size_text(entry.get("size", 0)),
        paint_status(status.get("current", "")),
        status.get("message", ""),
    )


def _placed(
    entries: Mapping[str, Any],
) -> Iterator[tuple[str, str, str, Mapping[str, Any], Mapping[str, Any]]]:
    """Yield (machine, unit, id, entry, the machine's attachment), detached storage first."""
    found = []
    for name, entry in entries.items():
        attachments = entry.get("attachments", {})
        units = {place["machine"]: unit for unit, place in attachments.get("units", {}).items()}
        machines = attachments.get("machines") or {"": {}}
        found += [
            (machine, units.get(machine, ""), name, entry, place) for machine, place in machines.items()
        ]
    yield from sorted(found, key=lambda row: (row[0], row[1], natural_key(row[2])))


def pools(document: Mapping[str, Any]) -> str:
    """Return the table of `storage-pools`."""
    table = TabWriter("Name", "Provider", "Attributes")
    for name, pool in sorted(document.items()):
        attributes = " ".join(f"{key}={value}" for key, value in sorted(pool.get("attrs", {}).items()))
        table.row(name, pool["provider"], attributes)
    return table.text()


def directives(document: Mapping[str, Any]) -> str:
    """Return the table of `application-storage`."""
    table = TabWriter("Storage", "Pool", "Size", "Count")
    for name, item in sorted(document.items()):
        table.row(name, item["pool"], str(item["size"]), str(item["count"]))
    return table.text()
