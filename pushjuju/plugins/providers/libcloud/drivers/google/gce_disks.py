"""Persistent disks of Google Compute Engine as volumes; the id of a volume is `zone/name`. Blocking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pushjuju.core.values import regex
from pushjuju.plugins.api.storage_types import StorageItem, StorageSeen
from pushjuju.plugins.providers.libcloud.drivers.adapter import MODEL_TAG, Adapter, HasVolumes, Seen, Volume
from pushjuju.plugins.providers.libcloud.drivers.google.gce_api import Api, Json, labels_of, last

VOLUME_LABEL = "pushjuju-volume"
_LEAST_DISK = 10  # GiB
_ID = regex(r"[a-z0-9-]+/[a-z0-9-]+")


class GceDisks(Adapter, HasVolumes):
    """The part of the adapter that works with volumes."""

    def volumes(self, driver: Any) -> Sequence[Volume]:
        """Return the disks with the model's label that were made as volumes."""
        wanted = f"labels.{MODEL_TAG}={self.site.model.uuid}"
        parts = Api(driver, self.look_s).all("/aggregated/disks", filter=wanted)
        found = [_volume(item) for part in parts for item in part.get("disks") or ()]
        return [item for item in found if item.uuid]

    def volume(self, driver: Any, name: str) -> Volume | None:
        return _volume(Api(driver, self.look_s).get(_disk_path(name))) if _ID.fullmatch(name) else None

    def make_volume(self, driver: Any, item: StorageItem, holder: Seen | None) -> Volume:
        """Request a disk in the zone of the instance."""
        zone = holder.zone if holder else next(name for name, usable in self.zones(driver) if usable)
        wanted = {**item.tags, MODEL_TAG: self.site.model.uuid, VOLUME_LABEL: item.uuid}
        kind = str(item.attributes.get("disk-type") or "pd-standard")
        body: Json = {
            "name": f"juju-{item.uuid}",
            "sizeGb": str(max(-(-item.size // 1024), _LEAST_DISK)),
            "type": f"zones/{zone}/diskTypes/{kind}",
            "labels": labels_of(wanted),
        }
        return _volume(Api(driver, self.look_s).insert(f"/zones/{zone}/disks", body))

    def attach_volume(self, driver: Any, volume: Volume, instance: str) -> None:
        """Attach a disk; its name becomes the device name."""
        zone, _, name = volume.id.partition("/")
        body = {
            "source": f"projects/{driver.project}/zones/{zone}/disks/{name}",
            "deviceName": name,
            "mode": "READ_WRITE",
            "type": "PERSISTENT",
        }
        Api(driver, self.look_s).run("POST", f"/zones/{zone}/instances/{instance}/attachDisk", body)

    def detach_volume(self, driver: Any, volume: Volume, instance: str) -> None:
        zone, _, name = volume.id.partition("/")
        path = f"/zones/{zone}/instances/{instance}/detachDisk"
        Api(driver, self.look_s).run("POST", path, deviceName=name)

    def delete_volume(self, driver: Any, volume: Volume) -> None:
        Api(driver, self.look_s).delete(_disk_path(volume.id))

    def own_volume(self, driver: Any, volume: Volume, model: str) -> None:
        labels = {key: value for key, value in (volume.raw.get("labels") or {}).items() if key != MODEL_TAG}
        body = {
            "labels": {**labels, **({MODEL_TAG: model} if model else {})},
            "labelFingerprint": volume.raw["labelFingerprint"],
        }
        Api(driver, self.look_s).run("POST", f"{_disk_path(volume.id)}/setLabels", body)

    def see_volume(self, driver: Any, volume: Volume, instance: str) -> StorageSeen:  # noqa: ARG002
        """Return the links on the machine that contain the device name."""
        name = volume.id.partition("/")[2]
        links = tuple(f"/dev/disk/by-id/{word}{name}" for word in ("google-", "scsi-0Google_PersistentDisk_"))
        return StorageSeen(serial=name, paths=links)


def _disk_path(name: str) -> str:
    zone, _, disk = name.partition("/")
    return f"/zones/{zone}/disks/{disk}"


def _volume(data: Json) -> Volume:
    labels = data.get("labels") or {}
    return Volume(
        id=f"{last(data['zone'])}/{data['name']}",
        size=int(data["sizeGb"]) * 1024,
        uuid=str(labels.get(VOLUME_LABEL) or ""),
        model=str(labels.get(MODEL_TAG) or ""),
        holders=tuple(last(user) for user in data.get("users") or ()),
        ready=data.get("status") == "READY",
        zone=last(data["zone"]),
        failed="FAILED" if data.get("status") == "FAILED" else "",
        raw=data,
    )
