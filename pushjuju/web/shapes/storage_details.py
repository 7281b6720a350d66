"""Shapes of storage: params of the facade Storage, and details made of the document that `storage` shows.

Mirrors: juju rpc/params/storage.go (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pushjuju.core.storage import Kind
from pushjuju.services.entities.storage.storage_instances import FILESYSTEM, VOLUME
from pushjuju.web import tags
from pushjuju.web.decoding import Count
from pushjuju.web.shapes.placement import StorageParams

_KINDS = {Kind.BLOCK: 1, Kind.FILESYSTEM: 2}
FILESYSTEM_NUMBER = _KINDS[Kind.FILESYSTEM]
Details = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineFilter:
    """Machines that the filesystems or volumes are attached to; empty lists stand for all."""

    machines: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoragePoolFilter:
    """Pools by their names and types; empty lists stand for all."""

    names: list[str] = field(default_factory=list)
    providers: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoragePool:
    name: str = ""
    provider: str = ""
    attrs: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoragePoolDeleteArg:
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoragePoolDeleteArgs:
    pools: list[StoragePoolDeleteArg] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageAddParams:
    """Storage to add to a unit."""

    unit: str = ""
    name: str = ""
    storage: StorageParams = field(default_factory=StorageParams)


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageAttachmentId:
    storage_tag: str = ""
    unit_tag: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageAttachmentIds:
    ids: list[StorageAttachmentId] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageDetachment:
    """Storage to detach from units."""

    ids: StorageAttachmentIds = field(default_factory=StorageAttachmentIds)
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveStorageInstance:
    tag: str = ""
    destroy_attachments: bool = False
    destroy_storage: bool = False
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportStorageParams:
    """Storage of the cloud to import into the model."""

    kind: Count = 0
    pool: str = ""
    provider_id: str = ""
    storage_name: str = ""


def every(document: Mapping[str, Any]) -> dict[str, list[Details]]:
    """Return all storage of a model under the keys of FullStatus."""
    return {
        "storage": instances(document),
        "filesystems": filesystems(document),
        "volumes": volumes(document),
    }


def instances(document: Mapping[str, Any]) -> list[Details]:
    """Return the storage of units."""
    return [instance(name, item) for name, item in document.get("storage", {}).items()]


def instance(name: str, item: Mapping[str, Any]) -> Details:
    units = item.get("attachments", {}).get("units", {})
    return {
        "storage-tag": tags.of_storage(name),
        "owner-tag": next((tags.of_unit(unit) for unit in units), ""),
        "kind": _KINDS[item["kind"]],
        "status": _status(item),
        "life": item["life"],
        "persistent": item["persistent"],
        "attachments": {tags.of_unit(unit): _attachment(name, unit, entry) for unit, entry in units.items()},
    }


def _attachment(name: str, unit: str, entry: Mapping[str, Any]) -> Details:
    return {
        "storage-tag": tags.of_storage(name),
        "unit-tag": tags.of_unit(unit),
        "machine-tag": tags.of_machine(entry["machine"]) if entry.get("machine") else "",
        "location": entry.get("location", ""),
        "life": entry.get("life", ""),
    }


def filesystems(document: Mapping[str, Any]) -> list[Details]:
    found = document.get("filesystems", {})
    return [_filesystem(document, name, item) for name, item in found.items()]


def _filesystem(document: Mapping[str, Any], name: str, item: Mapping[str, Any]) -> Details:
    info = {"filesystem-id": item.get("provider-id", ""), "pool": item.get("pool", ""), "size": item["size"]}
    found = {"filesystem-tag": _tag(FILESYSTEM, name), "info": info, **_behind(document, item)}
    return {**found, "volume-tag": _tag(VOLUME, item["volume"])} if item.get("volume") else found


def volumes(document: Mapping[str, Any]) -> list[Details]:
    return [_volume(document, name, item) for name, item in document.get("volumes", {}).items()]


def _volume(document: Mapping[str, Any], name: str, item: Mapping[str, Any]) -> Details:
    info = {
        "volume-id": item.get("provider-id", ""),
        "hardware-id": item.get("hardware-id", ""),
        "wwn": item.get("wwn", ""),
        "pool": item.get("pool", ""),
        "size": item["size"],
        "persistent": item["persistent"],
    }
    return {"volume-tag": _tag(VOLUME, name), "info": info, **_behind(document, item)}


def _behind(document: Mapping[str, Any], item: Mapping[str, Any]) -> Details:
    """Return the fields that filesystems and volumes share."""
    machines = item.get("attachments", {}).get("machines", {})
    found: Details = {
        "life": item["life"],
        "status": _status(item),
        "machine-attachments": {tags.of_machine(name): _host(host) for name, host in machines.items()},
    }
    if name := item.get("storage"):
        found["storage"] = instance(name, document["storage"][name])
    return found


def _tag(kind: str, name: str) -> str:
    return f"{kind}-{name.replace('/', '-')}"


_DEVICE = {"device": "device-name"}


def _host(host: Mapping[str, Any]) -> Details:
    return {_DEVICE.get(key, key): value for key, value in host.items()}


def _status(item: Mapping[str, Any]) -> Details:
    shown = item["status"]
    return {
        "status": shown["current"],
        "info": shown.get("message", ""),
        "data": {},
        "since": shown.get("since"),
    }
