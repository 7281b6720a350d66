"""Data disks of CloudStack as volumes. Blocking.

The identity of a volume is in its name, which exists from the start. The model that took over or released a
volume is in a tag, because older versions cannot rename volumes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pushjuju.core.errors import NotValid
from pushjuju.core.values import regex
from pushjuju.plugins.api.storage_types import StorageItem, StorageSeen
from pushjuju.plugins.providers.libcloud.drivers.adapter import Adapter, HasVolumes, Seen, Volume
from pushjuju.plugins.providers.libcloud.drivers.cloudstack_api import ask, every, tag, wait, zone_of
from pushjuju.plugins.providers.libcloud.drivers.identity import MODEL_TAG

_NAME = regex(r"juju-([0-9a-f-]{36})-(.+)")
_NOBODY = "nobody"
_READY = ("Allocated", "Ready")  # not yet placed on a storage pool, and placed
_GONE = ("Destroy", "Destroyed", "Expunging", "Expunged")
_SERIAL = 20  # characters of the id that KVM passes to the machine


class CloudStackDisks(Adapter, HasVolumes):
    """The part of the adapter that works with volumes."""

    def volumes(self, driver: Any) -> Sequence[Volume]:
        """Return the model's data disks in the zone."""
        zone = zone_of(driver, self.site)
        listed = every(driver, "listVolumes", "volume", zoneid=zone, type="DATADISK")
        found = [_volume(item) for item in listed if item["state"] not in _GONE]
        return [item for item in found if item.model == self.site.model.uuid]

    def volume(self, driver: Any, name: str) -> Volume | None:
        listed = every(driver, "listVolumes", "volume", id=name, type="DATADISK")
        return next((_volume(item) for item in listed if item["state"] not in _GONE), None)

    def make_volume(self, driver: Any, item: StorageItem, holder: Seen | None) -> Volume:  # noqa: ARG002
        """Make a data disk, then set its tags."""
        zone, gib = zone_of(driver, self.site), -(-item.size // 1024)
        offering = _offering(driver, zone, str(item.attributes.get("disk-offering") or ""), gib)
        wanted = {
            "name": f"juju-{self.site.model.uuid}-{item.uuid}",
            "zoneid": zone,
            "diskofferingid": str(offering["id"]),
        }
        if offering.get("iscustomized"):
            wanted["size"] = str(gib)
        made = ask(driver, "createVolume", **wanted)
        wait(driver, made)
        tag(driver, "Volume", str(made["id"]), {**item.tags, MODEL_TAG: self.site.model.uuid})
        (shown,) = every(driver, "listVolumes", "volume", id=str(made["id"]), type="DATADISK")
        return _volume(shown)

    def attach_volume(self, driver: Any, volume: Volume, instance: str) -> None:
        """Attach a data disk to a running machine."""
        wait(driver, ask(driver, "attachVolume", id=volume.id, virtualmachineid=instance))

    def detach_volume(self, driver: Any, volume: Volume, instance: str) -> None:  # noqa: ARG002
        """Detach a data disk from a running machine."""
        wait(driver, ask(driver, "detachVolume", id=volume.id))

    def delete_volume(self, driver: Any, volume: Volume) -> None:
        ask(driver, "deleteVolume", id=volume.id)

    def own_volume(self, driver: Any, volume: Volume, model: str) -> None:
        """Set the tag of the model, which overrides the model in the name."""
        if MODEL_TAG in _tags(volume.raw):
            old = {"resourceids": volume.id, "resourcetype": "Volume", "tags[0].key": MODEL_TAG}
            wait(driver, ask(driver, "deleteTags", **old))
        wait(driver, tag(driver, "Volume", volume.id, {MODEL_TAG: model or _NOBODY}))

    def see_volume(self, driver: Any, volume: Volume, instance: str) -> StorageSeen:  # noqa: ARG002
        """Return the serial number with KVM (the start of the id), or the device name with Xen."""
        serial = volume.id.replace("-", "")[:_SERIAL]
        heads = ("virtio-", "scsi-0QEMU_QEMU_HARDDISK_")
        paths = tuple(f"/dev/disk/by-id/{head}{serial}" for head in heads)
        if str(volume.raw.get("hypervisor")).startswith("Xen"):
            paths = (f"/dev/xvd{chr(ord('a') + int(volume.raw['deviceid']))}",)
        return StorageSeen(serial=serial, paths=paths)


def _offering(driver: Any, zone: str, wanted: str, gib: int) -> Any:
    """Return a disk offering: the chosen one, one of any size, or else the smallest large enough."""
    listed = every(driver, "listDiskOfferings", "diskoffering", zoneid=zone)
    found = [item for item in listed if not wanted or wanted in (item["id"], item["name"])]
    if wanted and not found:
        there = ", ".join(sorted(str(item["name"]) for item in listed)) or "none"
        raise NotValid(f"there is no disk offering {wanted}; there are: {there}")
    free = [item for item in found if item.get("iscustomized") and not item.get("iscustomizediops")]
    fixed = [item for item in found if not item.get("iscustomized") and int(item["disksize"]) >= gib]
    if not free and not fixed:
        raise NotValid(f"no disk offering has {gib} GiB: name another one with the pool's disk-offering")
    return free[0] if free else min(fixed, key=lambda item: int(item["disksize"]))


def _tags(data: Any) -> dict[str, str]:
    return {str(item["key"]): str(item["value"]) for item in data.get("tags") or ()}


def _volume(data: Any) -> Volume:
    named = _NAME.fullmatch(str(data["name"]))
    model = _tags(data).get(MODEL_TAG) or (named[1] if named else "")
    holder, state = str(data.get("virtualmachineid") or ""), str(data["state"])
    return Volume(
        id=str(data["id"]),
        size=int(data["size"]) >> 20,
        uuid=named[2] if named else "",
        model="" if model == _NOBODY else model,
        holders=(holder,) if holder else (),
        ready=state in _READY,
        failed=state if state.endswith("Error") else "",
        raw=data,
    )
