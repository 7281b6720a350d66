"""Block Storage of Scaleway as volumes; the id of a volume is `zone/uuid`. Blocking."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pushjuju.core.errors import NotValid
from pushjuju.core.values import regex
from pushjuju.plugins.api.storage_types import StorageItem, StorageSeen
from pushjuju.plugins.providers.libcloud.drivers.adapter import Adapter, HasVolumes, Seen, Volume
from pushjuju.plugins.providers.libcloud.drivers.identity import MODEL_TAG, word
from pushjuju.plugins.providers.libcloud.drivers.scaleway_api import GB, MIB, pages, project_of, zones_of

_VOLUME = "pushjuju-volume"
_ID = regex(r"[a-z]{2}-[a-z]{3}-\d/[0-9a-f-]{36}")
_IOPS = ("5000", "15000")
_MOVING = ("attaching", "detaching", "creating")


class ScalewayDisks(Adapter, HasVolumes):
    """The part of the adapter that works with volumes."""

    def volumes(self, driver: Any) -> Sequence[Volume]:
        """Return the volumes with the model's tag in all zones."""
        wanted = {"project_id": project_of(self.site), "tags": word(MODEL_TAG, self.site.model.uuid)}
        found = [
            _volume(item)
            for zone in zones_of(self.site)
            for item in pages(driver, f"/block/v1/zones/{zone}/volumes", "volumes", wanted, "page_size")
        ]
        return [item for item in found if item.uuid and item.model == self.site.model.uuid]

    def volume(self, driver: Any, name: str) -> Volume | None:
        if not _ID.fullmatch(name):
            return None
        return _volume(driver.connection.request(_path(name)).object)

    def make_volume(self, driver: Any, item: StorageItem, holder: Seen | None) -> Volume:
        """Request a volume in the zone of the server."""
        iops = str(item.attributes.get("iops") or _IOPS[0])
        if iops not in _IOPS:
            raise NotValid(f'iops: expected one of {", ".join(_IOPS)}, got "{iops}"')
        zone = holder.zone if holder else zones_of(self.site)[0]
        tags = {**item.tags, MODEL_TAG: self.site.model.uuid, _VOLUME: item.uuid}
        body = {
            "name": f"juju-{item.uuid}",
            "project_id": project_of(self.site),
            "perf_iops": int(iops),
            "from_empty": {"size": -(-item.size * MIB // GB) * GB},
            "tags": [word(key, value) for key, value in sorted(tags.items())],
        }
        url = f"/block/v1/zones/{zone}/volumes"
        return _volume(driver.connection.request(url, data=json.dumps(body), method="POST").object)

    def attach_volume(self, driver: Any, volume: Volume, instance: str) -> None:
        """Attach a volume to a running server."""
        body = {"volume_id": _bare(volume), "volume_type": "sbs_volume", "boot": False}
        self._act(driver, volume, instance, "attach-volume", body)

    def detach_volume(self, driver: Any, volume: Volume, instance: str) -> None:
        """Detach a volume from a running server."""
        self._act(driver, volume, instance, "detach-volume", {"volume_id": _bare(volume)})

    def _act(self, driver: Any, volume: Volume, instance: str, action: str, body: Any) -> None:
        url = f"/instance/v1/zones/{volume.zone}/servers/{instance}/{action}"
        driver.connection.request(url, data=json.dumps(body), method="POST")

    def delete_volume(self, driver: Any, volume: Volume) -> None:
        driver.connection.request(_path(volume.id), method="DELETE")

    def own_volume(self, driver: Any, volume: Volume, model: str) -> None:
        """Change the tag of the model."""
        others = [item for item in volume.raw["tags"] if not str(item).startswith(f"{MODEL_TAG}:")]
        body = json.dumps({"tags": [*others, *([word(MODEL_TAG, model)] if model else [])]})
        driver.connection.request(_path(volume.id), data=body, method="PATCH")

    def see_volume(self, driver: Any, volume: Volume, instance: str) -> StorageSeen:  # noqa: ARG002
        """Return the link and the serial number, which contain the volume's id."""
        bare = _bare(volume)
        return StorageSeen(serial=f"volume-{bare}", paths=(f"/dev/disk/by-id/scsi-0SCW_sbs_volume-{bare}",))


def _path(name: str) -> str:
    zone, _, bare = name.partition("/")
    return f"/block/v1/zones/{zone}/volumes/{bare}"


def _bare(volume: Volume) -> str:
    return volume.id.partition("/")[2]


def _volume(data: Any) -> Volume:
    tags = dict(str(item).split(":", 1) for item in data.get("tags") or () if ":" in str(item))
    held = [item for item in data.get("references") or () if item["status"] != "detached"]
    moving = any(item["status"] in _MOVING for item in held)
    return Volume(
        id=f"{data['zone']}/{data['id']}",
        size=int(data["size"]) // MIB,
        uuid=tags.get(_VOLUME, ""),
        model=tags.get(MODEL_TAG, ""),
        holders=tuple(
            str(item["product_resource_id"])
            for item in held
            if item["product_resource_type"] == "instance_server"
        ),
        ready=data["status"] in ("available", "in_use") and not moving,
        failed="error" if data["status"] == "error" else "",
        zone=str(data["zone"]),
        raw=data,
    )
