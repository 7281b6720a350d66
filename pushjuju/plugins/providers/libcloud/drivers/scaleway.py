"""The adapter of Scaleway: instances of a region. Blocking.

libcloud's driver uses an older API without user data, so only its connection is used. A server is created in
the stopped state, gets its user data, and then the tag with its identity: without the tag, it is not taken
for a machine yet. `settle` starts a server that it finds stopped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import quote

from pushjuju.core.constraints import Constraints
from pushjuju.core.errors import NotValid
from pushjuju.core.instance_types import InstanceType
from pushjuju.core.status import InstanceStatus
from pushjuju.core.values import regex
from pushjuju.plugins.api.storage_types import StorageItem, StorageSeen
from pushjuju.plugins.providers.libcloud.calls import ErrorWords
from pushjuju.plugins.providers.libcloud.drivers.adapter import (
    MODEL_TAG,
    NONCE_TAG,
    Adapter,
    HasVolumes,
    Identity,
    Order,
    Seen,
    Volume,
    addresses,
    word,
)
from pushjuju.plugins.providers.libcloud.drivers.scaleway_api import (
    GB,
    MIB,
    connect,
    pages,
    project_of,
    zones_of,
)

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


_STATUS = {"starting": InstanceStatus.PENDING, "running": InstanceStatus.RUNNING}
_ARCHES = {"x86_64": "amd64", "arm64": "arm64"}
_LABELS = {
    "ubuntu@20.04": "ubuntu_focal",
    "ubuntu@22.04": "ubuntu_jammy",
    "ubuntu@24.04": "ubuntu_noble",
    "debian@12": "debian_bookworm",
    "debian@13": "debian_trixie",
    "centos@9": "centos_stream_9",
}
_UUID = regex(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_UNREADY = "pushjuju-unready"  # a tag with the request's identity, until the server is complete
_LEAST_DISK = 20  # GB of a root disk on block storage


class Scaleway(ScalewayDisks):
    """The servers of one project in one region, found by their tags."""

    arches: ClassVar[tuple[str, ...]] = ("amd64", "arm64")
    currency: ClassVar[str] = "EUR"
    most_user_data: ClassVar[int] = 127998
    errors: ClassVar[ErrorWords] = ErrorWords(
        quota=("quotas_exceeded", "quota exceeded"),
        credential=("denied_authentication", "authentication is denied"),
        busy=("transient_state",),
    )

    def connect(self) -> Any:
        """Return a driver whose connection uses the current API."""
        return connect(self.site, self.timeout_s)

    def check(self, driver: Any) -> str:
        """Check the credential by listing the project's servers."""
        url = f"/instance/v1/zones/{zones_of(self.site)[0]}/servers"
        driver.connection.request(url, params={"project": project_of(self.site), "per_page": 1})
        return f"project {project_of(self.site)}"

    def zones(self, driver: Any) -> Sequence[tuple[str, bool]]:  # noqa: ARG002 - the API does not list them
        return [(name, True) for name in zones_of(self.site)]

    def types(self, driver: Any) -> Sequence[InstanceType]:
        """Return the types of all zones; old types and those with graphics cards are only chosen by name."""
        found: dict[str, InstanceType] = {}
        for zone in zones_of(self.site):
            url = f"/instance/v1/zones/{zone}/products/servers"
            for name, item in pages(driver, url, "servers", {}):
                found.setdefault(name, _type(name, item))
        return list(found.values())

    # --- instances ----------------------------------------------------------------------------------------

    def create(self, driver: Any, order: Order) -> Seen:
        """Create a server with its user data; `settle` starts the server.

        When an earlier request made the server but not its user data, the server is completed.
        """
        zone = order.zone or zones_of(self.site)[0]
        url = f"/instance/v1/zones/{zone}/servers"
        server = self._unready(driver, url, order) or self._made(driver, url, zone, order)
        one = f"{url}/{quote(str(server['id']), safe='')}"
        if order.user_data:
            driver.connection.request(
                f"{one}/user_data/cloud-init",
                data=order.user_data.encode(),
                headers={"Content-Type": "text/plain"},
                method="PATCH",
            )
        body = json.dumps({"tags": _tags(order, order.tags)})
        return _seen(driver.connection.request(one, data=body, method="PATCH").object["server"])

    def _unready(self, driver: Any, url: str, order: Order) -> Any:
        if not order.identity.nonce:
            return None
        tags = [word(MODEL_TAG, order.identity.model), word(_UNREADY, order.identity.nonce)]
        wanted = {"project": project_of(self.site), "tags": ",".join(tags)}
        return next((item for item in pages(driver, url, "servers", wanted)), None)

    def _made(self, driver: Any, url: str, zone: str, order: Order) -> Any:
        tags = {key: value for key, value in order.tags.items() if key != NONCE_TAG}
        body: dict[str, object] = {
            "name": order.name,
            "project": project_of(self.site),
            "commercial_type": order.size.name,
            "image": self._image(driver, zone, order),
            "tags": _tags(order, {**tags, _UNREADY: order.identity.nonce}),
            "dynamic_ip_required": True,
        }
        if not order.size.root_disk:
            wanted = max(-(-order.root_disk * MIB // GB), _LEAST_DISK)
            disk = {"name": order.identity.name(), "volume_type": "sbs_volume", "size": wanted * GB}
            body["volumes"] = {"0": disk}
        return driver.connection.request(url, data=json.dumps(body), method="POST").object["server"]

    def _image(self, driver: Any, zone: str, order: Order) -> str:
        """Return the id of an image that suits the type: the chosen image, or the image of the base."""
        label = order.image or _LABELS.get(order.base.display, "")
        if _UUID.fullmatch(label):
            return label
        problem = f"no image for base {order.base.display}: name one with the constraint image-id"
        if not label:
            raise NotValid(problem)
        kind = "instance_local" if order.size.root_disk else "instance_sbs"
        wanted = {"image_label": label, "zone": zone, "type": kind}
        try:
            found = list(pages(driver, "/marketplace/v2/local-images", "local_images", wanted, "page_size"))
        except Exception as error:
            if getattr(error, "code", 0) != 404:
                raise
            found = []
        for item in found:
            if order.size.name in item["compatible_commercial_types"]:
                return str(item["id"])
        raise NotValid(f"{problem} ({label} not found for type {order.size.name} in zone {zone})")

    def machines(self, driver: Any, machine: str = "") -> Sequence[Seen]:
        """Return the servers with the model's tag in all zones, or only those of a machine."""
        wanted = {"project": project_of(self.site), "tags": word(MODEL_TAG, self.site.model.uuid)}
        seen = [
            _seen(item)
            for zone in zones_of(self.site)
            for item in pages(driver, f"/instance/v1/zones/{zone}/servers", "servers", wanted)
            if item["state"] != "stopping"
        ]
        return [item for item in seen if not machine or item.identity.machine == machine]

    def settle(self, driver: Any, seen: Seen, constraints: Constraints) -> Seen | None:  # noqa: ARG002
        """Start a stopped server, and wait for its public address."""
        if seen.word == "stopped":
            url = _url(seen)
            if driver.connection.request(url).object["server"]["state"] == "stopped":
                _act(driver, url, "poweron")
            return None
        return seen if any(item.scope == "public" for item in seen.addresses) else None

    def end(self, driver: Any, seen: Seen) -> None:
        """Delete a server; its disk on block storage is deleted once it is free, at the latest in `sweep`."""
        url = _url(seen)
        if driver.connection.request(url).object["server"]["state"] == "stopped":
            driver.connection.request(url, method="DELETE")
        else:
            _act(driver, url, "terminate")
        self._drop_disks(driver, seen.zone)

    def sweep(self, driver: Any) -> None:
        """Delete the remaining root disks.

        Raises:
            Exception: A server still uses a disk; the error is libcloud's.
        """
        for zone in zones_of(self.site):
            self._drop_disks(driver, zone, all_of_them=True)

    def _drop_disks(self, driver: Any, zone: str, *, all_of_them: bool = False) -> None:
        """Delete the model's root disks on block storage that no server uses any more."""
        url = f"/block/v1/zones/{zone}/volumes"
        wanted = {
            "project_id": project_of(self.site),
            "name": f"juju-{self.site.model.uuid.replace('-', '')}",
        }
        for item in list(pages(driver, url, "volumes", wanted, "page_size")):
            mine = Identity.from_name(str(item["name"])).model == self.site.model.uuid
            if mine and (all_of_them or item["status"] == "available"):
                driver.connection.request(f"{url}/{quote(str(item['id']), safe='')}", method="DELETE")


def _act(driver: Any, url: str, action: str) -> None:
    driver.connection.request(f"{url}/action", data=json.dumps({"action": action}), method="POST")


def _url(seen: Seen) -> str:
    return f"/instance/v1/zones/{seen.zone}/servers/{quote(seen.id, safe='')}"


def _tags(order: Order, tags: Mapping[str, str]) -> list[str]:
    """Return tags as single words; the images read SSH keys from tags, too."""
    keys = [f"AUTHORIZED_KEY={'_'.join(key.split()[:2])}" for key in order.keys]
    return [*(word(key, value) for key, value in sorted(tags.items())), *keys]


def _type(name: str, item: Any) -> InstanceType:
    most = int((item.get("volumes_constraint") or {}).get("max_size") or 0)
    return InstanceType(
        name=name,
        cores=int(item["ncpus"]),
        mem=int(item["ram"]) // MIB,
        arches=(_ARCHES.get(str(item["arch"]), str(item["arch"])),),
        cost=float(item["hourly_price"]),
        root_disk=most // MIB,
        deprecated=bool(item.get("gpu") or item.get("end_of_service") or item.get("baremetal")),
    )


def _seen(data: Any) -> Seen:
    words = [str(item) for item in data.get("tags") or ()]
    public = [str(item["address"]) for item in data.get("public_ips") or ()]
    old = str((data.get("public_ip") or {}).get("address") or "")
    return Seen(
        id=str(data["id"]),
        identity=Identity.from_words(words),
        status=_STATUS.get(str(data["state"]), InstanceStatus.UNKNOWN),
        word=str(data["state"]),
        addresses=addresses(
            sorted({*public, old} - {""}, key=lambda item: ":" in item), [str(data.get("private_ip") or "")]
        ),
        zone=str(data["zone"]),
        size=str(data["commercial_type"]),
        arch=_ARCHES.get(str(data.get("arch")), ""),
        name=str(data["name"]),
        tags=dict(item.split(":", 1) for item in words if ":" in item),
        node=data,
    )
