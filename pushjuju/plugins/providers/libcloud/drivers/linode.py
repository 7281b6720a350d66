"""The adapter of Linode (Akamai): instances and volumes. Blocking.

Tags have at most 50 characters, so the identity of an instance is in its label. Labels are unique in an
account, so a repeated request makes no second instance.
"""

from __future__ import annotations

import base64
import ipaddress
import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import quote

from pushjuju.core.errors import NotValid
from pushjuju.core.instance_types import InstanceType
from pushjuju.core.status import InstanceStatus
from pushjuju.plugins.api.storage_types import StorageItem, StorageSeen
from pushjuju.plugins.providers.libcloud.calls import ErrorWords
from pushjuju.plugins.providers.libcloud.drivers.adapter import (
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

_STATUS = {
    "provisioning": InstanceStatus.PENDING,
    "booting": InstanceStatus.PENDING,
    "running": InstanceStatus.RUNNING,
    "offline": InstanceStatus.STOPPED,
}
_ENDING = ("deleting", "shutting_down")
_TAG = 50  # characters
_LEAST = 10  # GiB of a volume
_NAME, _MODEL, _UUID = "juju-name", "juju-model", "juju-volume"


class Linode(Adapter, HasVolumes):
    """The instances of one region."""

    most_user_data: ClassVar[int] = 16384
    errors: ClassVar[ErrorWords] = ErrorWords(
        quota=("account limit reached", "limit reached", "exceed your account"),
        credential=("invalid token", "invalid oauth token", "expired token"),
        busy=("linode busy", "already being"),
        forbidden=True,
    )

    def connect(self) -> Any:
        """Return a driver for API v4 whose errors carry their status."""
        (token,) = secret(self.site, "token")
        linode, common = library("compute.drivers.linode"), library("common.linode")
        errors = library("common.exceptions")

        class Response(common.LinodeResponseV4):  # type: ignore[misc, name-defined]
            def parse_error(self) -> Any:
                said, known = vars(self), vars(self).get("body")
                raise errors.exception_from_message(
                    code=int(said["status"]), message=_reason(known), headers=dict(said["headers"] or {})
                )

        class Connection(common.LinodeConnectionV4):  # type: ignore[misc, name-defined]
            responseCls = Response  # noqa: N815 - libcloud's name

        class Driver(linode.LinodeNodeDriverV4):  # type: ignore[misc, name-defined]
            connectionCls = Connection  # noqa: N815

        driver = Driver(token)
        lead(driver.connection, self.site, self.timeout_s)
        return driver

    def check(self, driver: Any) -> str:
        """Return the account's name; check that the region exists and passes user data to instances."""
        account = driver.connection.request("/v4/profile").object
        regions = {str(item["id"]): item for item in driver._paginated_request("/v4/regions", "data")}
        mine = regions.get(self.site.cloud.region)
        if mine is None:
            raise NotValid(f"region {self.site.cloud.region} is not one of {', '.join(sorted(regions))}")
        if "Metadata" not in (mine.get("capabilities") or ()):
            raise NotValid(
                f"region {self.site.cloud.region} does not pass user data to machines: choose another region"
            )
        return str(account.get("email") or "")

    def types(self, driver: Any) -> Sequence[InstanceType]:
        """Return the types; those with graphics cards are only chosen by name."""
        return [
            InstanceType(
                name=str(item["id"]),
                cores=int(item["vcpus"]),
                mem=int(item["memory"]),
                cost=float(item["price"]["hourly"]),
                root_disk=int(item["disk"]),
                deprecated=item["class"] in ("gpu", "accelerated"),
            )
            for item in driver._paginated_request("/v4/linode/types", "data")
        ]

    # --- instances ----------------------------------------------------------------------------------------

    def create(self, driver: Any, order: Order) -> Seen:
        """Create an instance with a random password that is stored nowhere."""
        wanted = {_NAME: order.name, **order.tags}
        body: dict[str, object] = {
            "label": order.identity.name(),
            "region": self.site.cloud.region,
            "type": order.size.name,
            "image": self._image(driver, order),
            "root_pass": f"aA1{secrets.token_urlsafe(48)}",
            "authorized_keys": [" ".join(key.split()[:2]) for key in order.keys],
            "tags": _tags(wanted),
            "booted": True,
        }
        if order.user_data:
            body["metadata"] = {"user_data": base64.b64encode(order.user_data.encode()).decode()}
        answer = driver.connection.request("/v4/linode/instances", data=json.dumps(body), method="POST")
        return _seen(answer.object)

    def _image(self, driver: Any, order: Order) -> str:
        """Return the name of an image."""
        track = order.base.track if order.base.os == "ubuntu" else order.base.track.partition(".")[0]
        known = {"ubuntu": f"linode/ubuntu{track}", "debian": f"linode/debian{track}"}
        name = order.image or known.get(order.base.os, "")
        problem = f"no image for base {order.base.display}: name one with the constraint image-id"
        if not name:
            raise NotValid(problem)
        try:
            found = driver.connection.request(f"/v4/images/{quote(name, safe='')}").object
        except Exception as error:
            if getattr(error, "code", 0) != 404:
                raise
            raise NotValid(f"{problem} ({name} not found)") from None
        if "cloud-init" not in (found.get("capabilities") or ()):
            raise NotValid(f"{problem} ({name} takes no user data)")
        return name

    def machines(self, driver: Any, machine: str = "") -> Sequence[Seen]:
        """Return the instances whose label names the model, or only those of a machine."""
        listed = driver._paginated_request("/v4/linode/instances", "data")
        seen = [_seen(item) for item in listed if item["status"] not in _ENDING]
        mine = [item for item in seen if item.identity.model == self.site.model.uuid]
        return [item for item in mine if not machine or item.identity.machine == machine]

    def settle(self, driver: Any, seen: Seen, constraints: Any) -> Seen | None:  # noqa: ARG002
        return seen if any(item.scope == "public" for item in seen.addresses) else None

    def end(self, driver: Any, seen: Seen) -> None:
        driver.connection.request(f"/v4/linode/instances/{quote(seen.id, safe='')}", method="DELETE")

    # --- volumes ------------------------------------------------------------------------------------------

    def volumes(self, driver: Any) -> Sequence[Volume]:
        """Return the volumes with the model's tag."""
        found = [_volume(item) for item in driver._paginated_request("/v4/volumes", "data")]
        return [item for item in found if item.model == self.site.model.uuid]

    def volume(self, driver: Any, name: str) -> Volume | None:
        if not name.isdigit():
            return None
        return _volume(driver.connection.request(f"/v4/volumes/{name}").object)

    def make_volume(self, driver: Any, item: StorageItem, holder: Seen | None) -> Volume:  # noqa: ARG002
        """Request a volume; its label is the item's uuid, so a repeated request makes no second volume."""
        body = {
            "label": item.uuid.replace("-", "")[:32],
            "size": max(-(-item.size // 1024), _LEAST),
            "region": self.site.cloud.region,
            "tags": _tags({**item.tags, **_owned(self.site.model.uuid, item.uuid)}),
        }
        answer = driver.connection.request("/v4/volumes", data=json.dumps(body), method="POST")
        return _volume(answer.object)

    def attach_volume(self, driver: Any, volume: Volume, instance: str) -> None:
        body = {"linode_id": int(instance), "persist_across_boots": True}
        driver.connection.request(f"/v4/volumes/{volume.id}/attach", data=json.dumps(body), method="POST")

    def detach_volume(self, driver: Any, volume: Volume, instance: str) -> None:  # noqa: ARG002
        driver.connection.request(f"/v4/volumes/{volume.id}/detach", method="POST")

    def delete_volume(self, driver: Any, volume: Volume) -> None:
        driver.connection.request(f"/v4/volumes/{volume.id}", method="DELETE")

    def own_volume(self, driver: Any, volume: Volume, model: str) -> None:
        """Change the tag of the model."""
        others = [item for item in volume.raw["tags"] if not str(item).startswith(f"{_MODEL}:")]
        owned = [word(_MODEL, model.replace("-", ""))] if model else []
        body = json.dumps({"tags": [*others, *owned]})
        driver.connection.request(f"/v4/volumes/{volume.id}", data=body, method="PUT")

    def see_volume(self, driver: Any, volume: Volume, instance: str) -> StorageSeen:  # noqa: ARG002
        """Return the link that the cloud reports, and the serial number, which is the volume's label."""
        path = str(volume.raw["filesystem_path"])
        return StorageSeen(serial=str(volume.raw["label"]), paths=(path,))


def _reason(body: Any) -> str:
    """Return the text of an error, whose body may not come from the API at all."""
    try:
        found = json.loads(body)["errors"]
        return "; ".join(": ".join(filter(None, (item.get("field"), item["reason"]))) for item in found)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return "an answer without a reason"


def _owned(model: str, uuid: str) -> dict[str, str]:
    return {_MODEL: model.replace("-", ""), _UUID: uuid}


def _tags(tags: Mapping[str, str]) -> list[str]:
    """Return tags as single words, without tags that are too long: no adapter needs those."""
    words = [word(key, value) for key, value in sorted(tags.items())]
    return [item for item in words if len(item) <= _TAG]


def _seen(data: Any) -> Seen:
    tags = dict(str(item).split(":", 1) for item in data.get("tags") or () if ":" in str(item))
    ips = [str(item) for item in data.get("ipv4") or ()]
    return Seen(
        id=str(data["id"]),
        identity=Identity.from_name(str(data["label"])),
        status=_STATUS.get(str(data["status"]), InstanceStatus.UNKNOWN),
        word=str(data["status"]),
        addresses=addresses(
            [item for item in ips if not ipaddress.ip_address(item).is_private],
            [item for item in ips if ipaddress.ip_address(item).is_private],
        ),
        size=str(data["type"]),
        name=tags.get(_NAME, str(data["label"])),
        tags=tags,
        node=data,
    )


def _volume(data: Any) -> Volume:
    tags = dict(str(item).split(":", 1) for item in data.get("tags") or () if ":" in str(item))
    return Volume(
        id=str(data["id"]),
        size=int(data["size"]) * 1024,
        uuid=tags.get(_UUID, ""),
        model=_dashed(tags.get(_MODEL, "")),
        holders=(str(data["linode_id"]),) if data.get("linode_id") else (),
        ready=data["status"] == "active",
        raw=data,
    )


def _dashed(raw: str) -> str:
    """Return a UUID with its dashes, which the label of a volume leaves out."""
    if len(raw) != 32:
        return raw
    return "-".join((raw[:8], raw[8:12], raw[12:16], raw[16:20], raw[20:]))
