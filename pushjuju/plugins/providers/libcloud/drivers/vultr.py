"""The adapter of Vultr: cloud instances and block storage. Blocking.

libcloud can only send one tag, through an older API, so this module builds the requests for its connection.
Volumes have no tags: the model and the item of a volume are in its label.
"""

from __future__ import annotations

import base64
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

_STATUS = {"pending": InstanceStatus.PENDING, "active": InstanceStatus.RUNNING}
_HOURS = 672  # hours of a month in Vultr's prices
_LEAST = {"high_perf": 10, "storage_opt": 40}  # least size of a volume in GiB
_NAMES = {"ubuntu": "Ubuntu {} ", "debian": "Debian {} ", "centos": "CentOS {} Stream "}


class Vultr(Adapter, HasVolumes):
    """The instances of one region, found by their tags, which are single words."""

    errors: ClassVar[ErrorWords] = ErrorWords(
        quota=("maximum monthly fee", "maximum number of", "limit your account"),
        credential=("invalid api token", "unauthorized ip address"),
        busy=("server is currently locked",),
    )

    def connect(self) -> Any:
        (token,) = secret(self.site, "token")
        driver = library("compute.drivers.vultr").VultrNodeDriverV2(token)
        lead(driver.connection, self.site, self.timeout_s)
        return driver

    def check(self, driver: Any) -> str:
        account = driver.connection.request("/v2/account").object["account"]
        regions = {str(item["id"]) for item in driver._paginated_request("/v2/regions", "regions")}
        if self.site.cloud.region not in regions:
            raise NotValid(f"region {self.site.cloud.region} is not one of {', '.join(sorted(regions))}")
        return str(account.get("email") or "")

    def types(self, driver: Any) -> Sequence[InstanceType]:
        """Return the plans that the region offers now; those with graphics cards are only chosen by name."""
        return [
            InstanceType(
                name=str(plan["id"]),
                cores=int(plan["vcpu_count"]),
                mem=int(plan["ram"]),
                cost=float(plan["monthly_cost"]) / _HOURS,
                root_disk=int(plan["disk"]) * 1024,
                deprecated=plan["type"] == "vcg",
            )
            for plan in driver._paginated_request("/v2/plans", "plans")
            if self.site.cloud.region in plan["locations"] and plan["disk"]
        ]

    # --- instances ----------------------------------------------------------------------------------------

    def create(self, driver: Any, order: Order) -> Seen:
        body: dict[str, object] = {
            "region": self.site.cloud.region,
            "plan": order.size.name,
            "os_id": self._image(driver, order),
            "label": order.name,
            "hostname": order.name,
            "tags": [word(key, value) for key, value in sorted(order.tags.items())],
            "sshkey_id": [self._key(driver, key) for key in order.keys],
            "enable_ipv6": False,
            "activation_email": False,
            "backups": "disabled",
        }
        if order.user_data:
            body["user_data"] = base64.b64encode(order.user_data.encode()).decode()
        answer = driver.connection.request("/v2/instances", data=json.dumps(body), method="POST")
        return self._seen(answer.object["instance"])

    def _image(self, driver: Any, order: Order) -> int:
        """Return the number of an operating system: the chosen one, or that of the base."""
        form = _NAMES.get(order.base.os, "")
        start = form.format(order.base.track)
        for item in driver._paginated_request("/v2/os", "os"):
            named = order.image in (str(item["id"]), item["name"])
            fits = not order.image and start and f"{item['name']} ".startswith(start)
            if (named or fits) and item.get("arch", "x64") == "x64":
                return int(item["id"])
        raise NotValid(
            f"no image for base {order.base.display}: name one with the constraint image-id"
            + (f" ({order.image} not found)" if order.image else "")
        )

    def _key(self, driver: Any, line: str) -> str:
        """Return the id of a public key in the account; add the key when the account does not have it."""
        text = " ".join(line.split()[:2])
        with self.lock:
            for item in driver._paginated_request("/v2/ssh-keys", "ssh_keys"):
                if " ".join(str(item["ssh_key"]).split()[:2]) == text:
                    return str(item["id"])
            body = {"name": self._key_name, "ssh_key": text}
            made = driver.connection.request("/v2/ssh-keys", data=json.dumps(body), method="POST")
            return str(made.object["ssh_key"]["id"])

    @property
    def _key_name(self) -> str:
        return f"juju-{self.site.model.uuid}"

    def machines(self, driver: Any, machine: str = "") -> Sequence[Seen]:
        """Return the instances with the model's tag, or only those of a machine."""
        tag = word(MODEL_TAG, self.site.model.uuid)
        listed = driver._paginated_request("/v2/instances", "instances", {"tag": tag})
        seen = [self._seen(item) for item in listed]
        return [item for item in seen if not machine or item.identity.machine == machine]

    def _seen(self, data: Any) -> Seen:
        words = [str(item) for item in data.get("tags") or ()]
        main = str(data.get("main_ip") or "")
        return Seen(
            id=str(data["id"]),
            identity=Identity.from_words(words),
            status=_STATUS.get(str(data["status"]), InstanceStatus.UNKNOWN),
            word=str(data["status"]),
            addresses=addresses([main if main != "0.0.0.0" else ""], [str(data.get("internal_ip") or "")]),  # noqa: S104
            size=str(data["plan"]),
            name=str(data.get("label") or ""),
            tags=dict(item.split(":", 1) for item in words if ":" in item),
            node=data,
        )

    def end(self, driver: Any, seen: Seen) -> None:
        driver.connection.request(f"/v2/instances/{quote(seen.id, safe='')}", method="DELETE")

    def sweep(self, driver: Any) -> None:
        for item in driver._paginated_request("/v2/ssh-keys", "ssh_keys"):
            if item["name"] == self._key_name:
                driver.connection.request(f"/v2/ssh-keys/{item['id']}", method="DELETE")

    # --- volumes ------------------------------------------------------------------------------------------

    def volumes(self, driver: Any) -> Sequence[Volume]:
        """Return the volumes whose label names the model."""
        found = [_volume(item) for item in driver._paginated_request("/v2/blocks", "blocks")]
        return [item for item in found if item.model == self.site.model.uuid]

    def volume(self, driver: Any, name: str) -> Volume | None:
        return _volume(driver.connection.request(f"/v2/blocks/{quote(name, safe='')}").object["block"])

    def make_volume(self, driver: Any, item: StorageItem, holder: Seen | None) -> Volume:  # noqa: ARG002
        kind = str(item.attributes.get("block-type") or "high_perf")
        if kind not in _LEAST:
            raise NotValid(f'block-type: expected one of {", ".join(_LEAST)}, got "{kind}"')
        body = {
            "region": self.site.cloud.region,
            "size_gb": max(-(-item.size // 1024), _LEAST[kind]),
            "label": _label(self.site.model.uuid, item.uuid),
            "block_type": kind,
        }
        answer = driver.connection.request("/v2/blocks", data=json.dumps(body), method="POST")
        return _volume(answer.object["block"])

    def attach_volume(self, driver: Any, volume: Volume, instance: str) -> None:
        """Attach a volume to a running instance."""
        self._act(driver, volume, "attach", {"instance_id": instance, "live": True})

    def detach_volume(self, driver: Any, volume: Volume, instance: str) -> None:  # noqa: ARG002
        """Detach a volume from a running instance."""
        self._act(driver, volume, "detach", {"live": True})

    def _act(self, driver: Any, volume: Volume, action: str, body: Any) -> None:
        url = f"/v2/blocks/{quote(volume.id, safe='')}/{action}"
        driver.connection.request(url, data=json.dumps(body), method="POST")

    def delete_volume(self, driver: Any, volume: Volume) -> None:
        driver.connection.request(f"/v2/blocks/{quote(volume.id, safe='')}", method="DELETE")

    def own_volume(self, driver: Any, volume: Volume, model: str) -> None:
        """Change the model in the label."""
        body = {"label": _label(model, volume.uuid or "imported")}
        url = f"/v2/blocks/{quote(volume.id, safe='')}"
        driver.connection.request(url, data=json.dumps(body), method="PATCH")

    def see_volume(self, driver: Any, volume: Volume, instance: str) -> StorageSeen:  # noqa: ARG002
        """Return the serial number on the machine, which is the beginning of the mount id."""
        serial = str(volume.raw["mount_id"])[:20]
        return StorageSeen(serial=serial, paths=(f"/dev/disk/by-id/virtio-{serial}",))


def _label(model: str, uuid: str) -> str:
    return f"juju {model or '-'} {uuid}"


def _volume(data: Any) -> Volume:
    head, model, uuid = (*str(data.get("label") or "").split(" "), "", "")[:3]
    ours = head == "juju"
    holder = str(data.get("attached_to_instance") or "")
    return Volume(
        id=str(data["id"]),
        size=int(data["size_gb"]) * 1024,
        uuid=uuid if ours else "",
        model=model if ours and model != "-" else "",
        holders=(holder,) if holder else (),
        ready=data["status"] == "active",
        raw=data,
    )
