"""The adapter of DigitalOcean: droplets and volumes. Blocking."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar
from urllib.parse import quote

from pushjuju.core.errors import NotValid
from pushjuju.core.instance_types import InstanceType
from pushjuju.core.status import InstanceStatus
from pushjuju.plugins.api.storage_types import StorageItem, StorageSeen
from pushjuju.plugins.providers.libcloud.calls import ErrorWords
from pushjuju.plugins.providers.libcloud.drivers.adapter import (
    MODEL_TAG,
    Adapter,
    HasVolumes,
    Identity,
    Order,
    Seen,
    Volume,
    addresses,
    word,
)
from pushjuju.plugins.providers.libcloud.drivers.library import lead, library, secret

_STATUS = {"new": InstanceStatus.PENDING, "active": InstanceStatus.RUNNING, "off": InstanceStatus.STOPPED}
_SLUGS = {"ubuntu": "ubuntu-{}-x64", "debian": "debian-{}-x64", "centos": "centos-stream-{}-x64"}
_VOLUME = "pushjuju-volume"


class DigitalOcean(Adapter, HasVolumes):
    """The droplets of one region, found by their tags, which are single words."""

    errors: ClassVar[ErrorWords] = ErrorWords(
        quota=("exceed your droplet limit", "droplet limit", "volume limit", "storage limit"),
        busy=("droplet already has a pending event",),
    )

    def connect(self) -> Any:
        (token,) = secret(self.site, "token")
        driver = library("compute.drivers.digitalocean").DigitalOceanNodeDriver(token, api_version="v2")
        lead(driver.connection, self.site, self.timeout_s)
        return driver

    def check(self, driver: Any) -> str:
        account = driver.ex_account_info()
        regions = {str(item.id) for item in driver.list_locations()}
        if self.site.cloud.region not in regions:
            raise NotValid(f"region {self.site.cloud.region} is not one of {', '.join(sorted(regions))}")
        return str(account.get("email") or "")

    def types(self, driver: Any) -> Sequence[InstanceType]:
        """Return the sizes that the region offers now."""
        return [
            InstanceType(
                name=str(size.id),
                cores=int(size.extra["vcpus"]),
                mem=int(size.ram),
                cost=float(size.price),
                root_disk=int(size.disk) * 1024,
            )
            for size in driver.list_sizes()
            if self.site.cloud.region in size.extra["regions"]
        ]

    # --- droplets -----------------------------------------------------------------------------------------

    def create(self, driver: Any, order: Order) -> Seen:
        """Request a droplet, with an SSH key, because the cloud mails a password for droplets without one."""
        base = library("compute.base")
        region = self.site.cloud.region
        image = base.NodeImage("", "", driver)
        image.id = self._image(driver, order)  # libcloud would turn a number into text, so it is set here
        node = driver.create_node(
            name=order.name,
            size=base.NodeSize(order.size.name, order.size.name, 0, 0, 0, 0, driver),
            image=image,
            location=base.NodeLocation(region, region, "", driver),
            ex_user_data=order.user_data,
            ex_create_attr={
                "tags": [word(key, value) for key, value in sorted(order.tags.items())],
                "ssh_keys": [self._key(driver, key) for key in order.keys],
            },
        )
        return self._seen(node)

    def _image(self, driver: Any, order: Order) -> Any:
        """Return the slug or the number of an image."""
        form = _SLUGS.get(order.base.os)
        slug = order.image or (form.format(order.base.track.replace(".", "-")) if form else "")
        problem = f"no image for base {order.base.display}: name one with the constraint image-id"
        if not slug:
            raise NotValid(problem)
        try:
            driver.connection.request(f"/v2/images/{quote(slug, safe='')}")
        except Exception as error:
            if getattr(error, "code", 0) != 404:
                raise
            raise NotValid(f"{problem} ({slug} not found)") from None
        return int(slug) if slug.isdigit() else slug

    def _key(self, driver: Any, line: str) -> int:
        """Return the number of a public key in the account; add the key when the account does not have it."""
        text = " ".join(line.split()[:2])
        with self.lock:
            for pair in driver.list_key_pairs():
                if " ".join(str(pair.public_key).split()[:2]) == text:
                    return int(pair.extra["id"])
            made = driver.create_key_pair(self._key_name, text)
            return int(made.extra["id"])

    @property
    def _key_name(self) -> str:
        return f"juju-{self.site.model.uuid}"

    def machines(self, driver: Any, machine: str = "") -> Sequence[Seen]:
        """Return the droplets with the tag of the model, or only those of a machine."""
        tag = word(MODEL_TAG, self.site.model.uuid)
        found = driver._paginated_request(f"/v2/droplets?tag_name={quote(tag)}", "droplets")
        seen = [self._seen(driver._to_node(item)) for item in found]
        return [item for item in seen if not machine or item.identity.machine == machine]

    def _seen(self, node: Any) -> Seen:
        words = [str(item) for item in node.extra.get("tags") or ()]
        state = {"pending": "new", "running": "active", "stopped": "off", "terminated": "archive"}
        status = state.get(str(node.state), str(node.state))
        return Seen(
            id=str(node.id),
            identity=Identity.from_words(words),
            status=_STATUS.get(status, InstanceStatus.UNKNOWN),
            word=status,
            addresses=addresses(node.public_ips, node.private_ips),
            size=str(node.extra.get("size_slug") or ""),
            name=str(node.name),
            tags=dict(item.split(":", 1) for item in words if ":" in item),
            node=node,
        )

    def settle(self, driver: Any, seen: Seen, constraints: Any) -> Seen | None:  # noqa: ARG002
        """Wait for the public address; the private address comes first but cannot be reached."""
        return seen if any(item.scope == "public" for item in seen.addresses) else None

    def end(self, driver: Any, seen: Seen) -> None:
        driver.destroy_node(seen.node)

    def sweep(self, driver: Any) -> None:
        """Delete the SSH key from the account, and the tags that nothing uses any more."""
        for pair in driver.list_key_pairs():
            if pair.name == self._key_name:
                driver.delete_key_pair(pair)
        tag = quote(word(MODEL_TAG, self.site.model.uuid))
        try:
            driver.connection.request(f"/v2/tags/{tag}", method="DELETE")
        except Exception as error:
            if getattr(error, "code", 0) != 404:
                raise

    # --- volumes ------------------------------------------------------------------------------------------

    def volumes(self, driver: Any) -> Sequence[Volume]:
        """Return the volumes of the region with the model's tag."""
        url = f"/v2/volumes?region={quote(self.site.cloud.region)}"
        listed = driver._paginated_request(url, "volumes")
        found = [self._volume(item) for item in listed]
        return [item for item in found if item.model == self.site.model.uuid]

    def volume(self, driver: Any, name: str) -> Volume | None:
        answer = driver.connection.request(f"/v2/volumes/{quote(name, safe='')}")
        return self._volume(answer.object["volume"])

    def _volume(self, data: Any) -> Volume:
        tags = dict(item.split(":", 1) for item in data.get("tags") or () if ":" in item)
        return Volume(
            id=str(data["id"]),
            size=int(data["size_gigabytes"]) * 1024,
            uuid=tags.get(_VOLUME, ""),
            model=tags.get(MODEL_TAG, ""),
            holders=tuple(str(item) for item in data.get("droplet_ids") or ()),
            raw=data,
        )

    def make_volume(self, driver: Any, item: StorageItem, holder: Seen | None) -> Volume:  # noqa: ARG002
        """Request a volume. libcloud's own call cannot set tags."""
        wanted = {**item.tags, MODEL_TAG: self.site.model.uuid, _VOLUME: item.uuid}
        body = {
            "name": f"juju-{item.uuid}",
            "size_gigabytes": -(-item.size // 1024),
            "region": self.site.cloud.region,
            "tags": [word(key, value) for key, value in sorted(wanted.items())],
        }
        answer = driver.connection.request("/v2/volumes", data=json.dumps(body), method="POST")
        return self._volume(answer.object["volume"])

    def attach_volume(self, driver: Any, volume: Volume, instance: str) -> None:
        """Attach a volume; the attachment is complete when the volume lists the droplet."""
        self._act(driver, volume, "attach", instance)

    def detach_volume(self, driver: Any, volume: Volume, instance: str) -> None:
        self._act(driver, volume, "detach", instance)

    def _act(self, driver: Any, volume: Volume, action: str, instance: str) -> None:
        body = {"type": action, "droplet_id": int(instance), "region": self.site.cloud.region}
        url = f"/v2/volumes/{quote(volume.id, safe='')}/actions"
        driver.connection.request(url, data=json.dumps(body), method="POST")

    def delete_volume(self, driver: Any, volume: Volume) -> None:
        driver.connection.request(f"/v2/volumes/{quote(volume.id, safe='')}", method="DELETE")

    def own_volume(self, driver: Any, volume: Volume, model: str) -> None:
        """Change the tag of the model."""
        resources = {"resources": [{"resource_id": volume.id, "resource_type": "volume"}]}
        if volume.model and volume.model != model:
            url = f"/v2/tags/{quote(word(MODEL_TAG, volume.model))}/resources"
            driver.connection.request(url, data=json.dumps(resources), method="DELETE")
        if model and volume.model != model:
            tag = word(MODEL_TAG, model)
            driver.connection.request("/v2/tags", data=json.dumps({"name": tag}), method="POST")
            url = f"/v2/tags/{quote(tag)}/resources"
            driver.connection.request(url, data=json.dumps(resources), method="POST")

    def see_volume(self, driver: Any, volume: Volume, instance: str) -> StorageSeen:  # noqa: ARG002
        """Return the link and the serial number of a volume; both are its name."""
        name = str(volume.raw["name"])
        return StorageSeen(serial=name, paths=(f"/dev/disk/by-id/scsi-0DO_Volume_{name}",))
