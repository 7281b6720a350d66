"""Makes the section about storage of `status` from the answer of FullStatus."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Wire = Mapping[str, Any]
Status = Callable[[Wire], dict[str, object]]
_KINDS = {1: "block", 2: "filesystem"}


def combined(full: Wire, status: Status) -> dict[str, object]:
    """Return {storage, filesystems, volumes}, without empty ones."""
    found = {
        "storage": {
            _name(item["storage-tag"]): _instance(item, status) for item in full.get("storage") or ()
        },
        "filesystems": {
            _place(item["filesystem-tag"]): _backing(item, "filesystem-id", status)
            for item in full.get("filesystems") or ()
        },
        "volumes": {
            _place(item["volume-tag"]): _backing(item, "volume-id", status)
            for item in full.get("volumes") or ()
        },
    }
    return {key: value for key, value in found.items() if value}


def _name(tag: str) -> str:
    """Return `data/0` of `storage-data-0`, and `web/0` of `unit-web-0`."""
    name, _, number = tag.partition("-")[2].rpartition("-")
    return f"{name}/{number}"


def _place(tag: str) -> str:
    """Return `0/lxd/1` of `machine-0-lxd-1`; the same for volumes and filesystems."""
    return tag.partition("-")[2].replace("-", "/")


def _filled(found: Wire) -> dict[str, Any]:
    return {key: value for key, value in found.items() if value}


def _instance(wire: Wire, status: Status) -> dict[str, object]:
    units = {
        _name(tag): _filled(
            {
                "machine": _place(item.get("machine-tag") or ""),
                "location": item.get("location"),
                "life": item.get("life"),
            }
        )
        for tag, item in (wire.get("attachments") or {}).items()
    }
    return {
        "kind": _KINDS.get(wire["kind"], ""),
        "life": wire["life"],
        "status": status(wire["status"]),
        "persistent": wire["persistent"],
        **_filled({"attachments": {"units": units} if units else {}}),
    }


def _backing(wire: Wire, key: str, status: Status) -> dict[str, object]:
    """Return a filesystem or a volume."""
    info, storage = wire["info"], wire.get("storage") or {}
    machines = {_place(tag): _host(item) for tag, item in (wire.get("machine-attachments") or {}).items()}
    units = {
        _name(tag): {"machine": _place(item.get("machine-tag") or ""), "life": item.get("life", "")}
        for tag, item in (storage.get("attachments") or {}).items()
    }
    rest = {
        "provider-id": info.get(key),
        "volume": _place(wire.get("volume-tag") or "") if key == "filesystem-id" else "",
        "storage": _name(storage["storage-tag"]) if storage else "",
        "attachments": _filled({"machines": machines, "units": units}) if machines else {},
        "pool": info.get("pool"),
        "hardware-id": info.get("hardware-id"),
        "wwn": info.get("wwn"),
    }
    found = {**_filled(rest), "size": info["size"]}
    if "persistent" in info:
        found["persistent"] = info["persistent"]
    return {**found, "life": wire["life"], "status": status(wire["status"])}


def _host(wire: Wire) -> dict[str, object]:
    return {"device" if key == "device-name" else key: value for key, value in wire.items()}
