"""The adapter of Google Compute Engine: instances of one region, firewalls, disks. Blocking.

The requests go through libcloud's connection, but not through its calls: those look up disks and zone of each
instance one by one, and wait for minutes.
Mirrors: juju provider/gce, its environ_firewall.go and google/network.go (3.6)
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import quote

from pushjuju.core.base import Base
from pushjuju.core.constraints import Constraints
from pushjuju.core.errors import NotValid, ProviderError
from pushjuju.core.firewall import IngressRule, MachineRules
from pushjuju.core.instance_types import InstanceType
from pushjuju.core.status import InstanceStatus
from pushjuju.core.values import regex
from pushjuju.plugins.providers.libcloud.calls import ErrorWords
from pushjuju.plugins.providers.libcloud.drivers.adapter import (
    MODEL_TAG,
    Adapter,
    Guarding,
    Identity,
    Order,
    Seen,
    addresses,
)
from pushjuju.plugins.providers.libcloud.drivers.google import gce_login
from pushjuju.plugins.providers.libcloud.drivers.google.gce_api import Api, labels_of, last
from pushjuju.plugins.providers.libcloud.drivers.google.gce_disks import GceDisks
from pushjuju.plugins.providers.libcloud.drivers.library import library

Json = dict[str, Any]

_USUAL = "us-central1"  # for regions that libcloud's table of prices does not have
_LEAST_DISK = 10  # GiB that the images need
_STATUS = {
    "PROVISIONING": InstanceStatus.ALLOCATING,
    "STAGING": InstanceStatus.ALLOCATING,
    "RUNNING": InstanceStatus.RUNNING,
    "TERMINATED": InstanceStatus.STOPPED,  # stopped; a deleted instance is not listed
}
_ARM = regex(r"(t2a|c4a|n4a)-")
_OLD = regex(r"(n1|f1|g1|m1)-")
_HYPERDISK = regex(r"(c4|c4a|c4d|n4|n4a|n4d|x4|m4|h4d)-")  # families that only accept hyperdisks
_IMAGES = {
    "ubuntu": ("ubuntu-os-cloud", ("ubuntu-{}-lts-{arch}", "ubuntu-{}-lts", "ubuntu-{}-{arch}")),
    "debian": ("debian-cloud", ("debian-{}-{arch}", "debian-{}")),
    "centos": ("centos-cloud", ("centos-stream-{}-{arch}", "centos-stream-{}")),
}


class Gce(GceDisks, Adapter, Guarding):
    """The instances of one project in one region, found by their labels."""

    unsupported: ClassVar[frozenset[str]] = frozenset({"tags", "virt-type", "cpu-power", "root-disk-source"})
    arches: ClassVar[tuple[str, ...]] = ("amd64", "arm64")
    most_user_data: ClassVar[int] = 262144
    errors: ClassVar[ErrorWords] = ErrorWords(
        quota=("quota '", "quotaexceeded", "quota_exceeded", "quota exceeded"),
        busy=("rate limit exceeded", "ratelimitexceeded"),
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._login: tuple[gce_login.Account, gce_login.Token] | None = None
        self._shared = False

    # --- the project --------------------------------------------------------------------------------------

    def connect(self) -> Any:
        with self.lock:
            if self._login is None:
                who = gce_login.account(self.site)
                self._login = (who, gce_login.Token(self.site, who, self.timeout_s))
        who, token = self._login
        return gce_login.connect(self.site, who, token, self.timeout_s)

    def _api(self, driver: Any) -> Api:
        return Api(driver, self.look_s)

    @property
    def _region(self) -> str:
        return self.site.cloud.region

    def check(self, driver: Any) -> str:
        """Look up the region with one request."""
        regions = [str(item["name"]) for item in self._api(driver).all("/regions")]
        if self._region not in regions:
            raise NotValid(f"region {self._region} is not one of {', '.join(sorted(regions))}")
        return str(driver.project)

    def zones(self, driver: Any) -> Sequence[tuple[str, bool]]:
        found = [item for item in self._api(driver).all("/zones") if last(item["region"]) == self._region]
        if not found:
            raise NotValid(f"region {self._region} does not exist: it has no zones")
        return [(str(item["name"]), item["status"] == "UP") for item in found]

    def types(self, driver: Any) -> Sequence[InstanceType]:
        """Return the machine types of all zones; a zone that lacks a type refuses it at the start."""
        prices = library("pricing").get_pricing(driver_type="compute", driver_name="gce_instances")
        found: dict[str, InstanceType] = {}
        for zone, usable in self.zones(driver):
            for item in self._api(driver).all(f"/zones/{zone}/machineTypes") if usable else ():
                found[str(item["name"])] = self._type(item, prices)
        return list(found.values())

    def _type(self, item: Mapping[str, Any], prices: Mapping[str, Any]) -> InstanceType:
        name, cores, mem = str(item["name"]), int(item["guestCpus"]), int(item["memoryMb"])
        arm = item.get("architecture") == "ARM64" or bool(_ARM.match(name))
        try:
            known = prices[name.partition("-")[0]]
            cpu, ram = (_price(known[part]["on_demand"], self._region) for part in ("cpu", "ram"))
            cost = cores * cpu + mem / 1024 * ram
        except KeyError:
            cost = float("inf")
        return InstanceType(
            name=name,
            cores=cores,
            mem=mem,
            arches=("arm64",) if arm else ("amd64",),
            cost=cost,
            deprecated=bool(_OLD.match(name) or item.get("accelerators") or item.get("deprecated")),
        )

    # --- instances ----------------------------------------------------------------------------------------

    def create(self, driver: Any, order: Order) -> Seen:
        """Request an instance and wait for the result; a repeated request makes no second instance."""
        zone = order.zone or next((name for name, usable in self.zones(driver) if usable), "")
        network = self._network(driver)
        self._ensure_firewalls(driver, str(network["network"]))
        body = self._body(driver, order, zone, network)
        seen = self._seen(self._api(driver).insert(f"/zones/{zone}/instances", body))
        if seen.identity != order.identity:
            raise ProviderError(f"the instance {seen.id} exists already and belongs to another model")
        return seen

    def _body(self, driver: Any, order: Order, zone: str, network: Json) -> Json:
        image = self._image(driver, order)
        model, machine = self.site.model.uuid, order.identity.machine
        size = max(_LEAST_DISK, -(-order.root_disk // 1024), int(image.get("diskSizeGb") or 0))
        kind = "hyperdisk-balanced" if _HYPERDISK.match(order.size.name) else "pd-balanced"
        disk = {
            "sourceImage": image["selfLink"],
            "diskSizeGb": str(size),
            "diskType": f"zones/{zone}/diskTypes/{kind}",
        }
        metadata = {
            "user-data": order.user_data,
            "ssh-keys": "\n".join(f"ubuntu:{key}" for key in order.keys),
        }
        items = [{"key": key, "value": value} for key, value in metadata.items() if value]
        public = order.constraints.get("allocate-public-ip") is not False
        access = [{"type": "ONE_TO_ONE_NAT", "name": "External NAT"}] if public else []
        return {
            "name": _name(order.name, order.identity),
            "machineType": f"zones/{zone}/machineTypes/{order.size.name}",
            "disks": [{"boot": True, "autoDelete": True, "initializeParams": disk}],
            "networkInterfaces": [{**network, "accessConfigs": access}],
            "metadata": {"items": items},
            "labels": labels_of(order.tags),
            "tags": {"items": [model_tag(model), machine_tag(model, machine)]},
        }

    def _network(self, driver: Any) -> Json:
        """Return the network and, unless it has subnetworks in every region, its subnetwork of the region."""
        name = str(self.site.config.get("vpc-id") or self.site.cloud.config.get("vpc-id") or "")
        network = {"network": f"global/networks/{name or 'default'}"}
        if not name:
            return network
        found = [
            str(item["name"])
            for item in self._api(driver).all(f"/regions/{self._region}/subnetworks")
            if last(item["network"]) == name
        ]
        if not found:
            raise NotValid(f"network {name} has no subnetwork in {self._region}")
        return {**network, "subnetwork": f"regions/{self._region}/subnetworks/{min(found)}"}

    def _image(self, driver: Any, order: Order) -> Json:
        """Return an image: the chosen image, or the newest image of the base's family."""
        problem = f"no image for base {order.base.display}: name one with the constraint image-id"
        paths = (
            [_image_path(order.image, driver.project)] if order.image else _families(order.base, order.arch)
        )
        for path in paths:
            try:
                found: Json = driver.connection.request(_elsewhere(driver, path)).object
            except Exception as error:
                if getattr(error, "http_code", 0) != 404:
                    raise
            else:
                return found
        raise NotValid(f"{problem} ({order.image} not found)" if order.image else problem)

    def machines(self, driver: Any, machine: str = "") -> Sequence[Seen]:
        """Return the instances with the model's label, without those that are being deleted."""
        wanted = f"labels.{MODEL_TAG}={self.site.model.uuid}"
        found = [
            self._seen(item)
            for part in self._api(driver).all("/aggregated/instances", filter=wanted)
            for item in part.get("instances") or ()
            if item["status"] != "STOPPING"
        ]
        return [item for item in found if not machine or item.identity.machine == machine]

    def _seen(self, data: Mapping[str, Any]) -> Seen:
        labels = {str(key): str(value) for key, value in (data.get("labels") or {}).items()}
        cards = data.get("networkInterfaces") or ()
        public = [str(one.get("natIP") or "") for card in cards for one in card.get("accessConfigs") or ()]
        return Seen(
            id=str(data["name"]),
            identity=Identity.from_tags(labels),
            status=_STATUS.get(str(data["status"]), InstanceStatus.UNKNOWN),
            word=str(data["status"]),
            addresses=addresses(public, [str(card.get("networkIP") or "") for card in cards]),
            zone=last(data["zone"]),
            size=last(data["machineType"]),
            name=re.sub(r"-[0-9a-f]{6}$", "", str(data["name"])),
            tags=labels,
            node=data,
        )

    def settle(self, driver: Any, seen: Seen, constraints: Constraints) -> Seen | None:  # noqa: ARG002
        """Wait for the public address, if the instance should have one."""
        cards = seen.node.get("networkInterfaces") or ()
        awaits_public = any(card.get("accessConfigs") for card in cards)
        public = any(item.scope == "public" for item in seen.addresses)
        return seen if seen.addresses and (public or not awaits_public) else None

    def end(self, driver: Any, seen: Seen) -> None:
        """Delete an instance and its own firewalls."""
        driver.connection.request(f"/zones/{seen.zone}/instances/{seen.id}", method="DELETE")
        own = machine_tag(self.site.model.uuid, seen.identity.machine)
        for item in self._firewalls(driver):
            if str(item["name"]).startswith(f"{own}-"):
                self._api(driver).delete(f"/global/firewalls/{item['name']}")

    def sweep(self, driver: Any) -> None:
        self._shared = False
        for item in self._firewalls(driver):
            self._api(driver).delete(f"/global/firewalls/{item['name']}")

    # --- firewalls ----------------------------------------------------------------------------------------

    def _firewalls(self, driver: Any) -> list[Json]:
        prefix = model_tag(self.site.model.uuid)
        found = self._api(driver).all("/global/firewalls", filter=f"name eq {prefix}.*")
        return [item for item in found if str(item["name"]).startswith(prefix)]

    def _ensure_firewalls(self, driver: Any, network: str) -> None:
        with self.lock:
            if not self._shared:
                self._set_firewalls(driver, shared(self.site.model.uuid, network), {})
                self._shared = True

    def _set_firewalls(self, driver: Any, wanted: Sequence[Json], now: Mapping[str, Json]) -> None:
        for body in wanted:
            known = now.get(body["name"])
            if known is None:
                self._api(driver).insert("/global/firewalls", body)
            elif not is_same(known, body):
                self._api(driver).run("PATCH", f"/global/firewalls/{body['name']}", body)

    def set_ingress(self, driver: Any, machine: str, rules: MachineRules) -> None:
        """Set the firewalls for a machine's tag to exactly these."""
        own = machine_tag(self.site.model.uuid, machine)
        network = str(self._network(driver)["network"])
        wanted = wanted_rules(self.site.model.uuid, machine, network, rules)
        listed = {str(item["name"]): item for item in self._firewalls(driver)}
        now = {name: item for name, item in listed.items() if name.startswith(f"{own}-")}
        self._set_firewalls(driver, wanted, now)
        for name in sorted(set(now) - {str(item["name"]) for item in wanted}):
            self._api(driver).delete(f"/global/firewalls/{name}")


def _name(hostname: str, identity: Identity) -> str:
    """Return the name of an instance, which is its id. It differs for each request.

    An ended instance keeps its name for a while, so the name cannot be used again at once.
    """
    return f"{hostname[:56]}-{identity.nonce[:6] or uuid.uuid4().hex[:6]}"


def _price(known: Mapping[str, Any], region: str) -> float:
    """Return the price in a region; for an unknown region, the price of most regions."""
    return float((known.get(region) or known[_USUAL])["price"])


def _families(base: Base, arch: str) -> list[str]:
    """Return the paths of image families that may have a base, the most likely first."""
    project, forms = _IMAGES.get(base.os, ("", ()))
    track = base.track.replace(".", "") if base.os == "ubuntu" else base.track
    usable = [form for form in forms if arch == "amd64" or "{arch}" in form]
    return [f"{project}/global/images/family/{form.format(track, arch=arch)}" for form in usable]


def _image_path(chosen: str, project: str) -> str:
    """Return the path below `projects/` of an image, which may be written in any of Google's forms."""
    text = re.sub(r"^https://[^/]+/(compute/v1/)?", "", chosen).removeprefix("projects/")
    if "/global/images/" in text:
        return text
    parts = text.split("/")
    if len(parts) == 2:
        return f"{parts[0]}/global/images/{parts[1]}"
    return f"{project}/global/images/{quote(text, safe='')}"


def _elsewhere(driver: Any, path: str) -> str:
    """Return the URL of a resource in another project; libcloud would only keep its path."""
    above = str(driver.connection.request_path).rpartition("/")[0]
    return f"https://google{above}/{path}"


def model_tag(model: str) -> str:
    """Return the network tag of a model's machines."""
    return f"juju-{model}"


def machine_tag(model: str, machine: str) -> str:
    """Return the network tag of one machine."""
    return f"juju-{model}-{machine.replace('/', '-')}"


def shared(model: str, network: str) -> list[Json]:
    """Return the firewalls of a model: its machines reach each other, and SSH is open to all addresses."""
    tag = model_tag(model)
    common = {"network": network, "direction": "INGRESS", "targetTags": [tag]}
    mates = [{"IPProtocol": protocol} for protocol in ("tcp", "udp", "icmp")]
    return [
        {"name": tag, "sourceTags": [tag], "allowed": mates, **common},
        {
            "name": f"{tag}-ssh",
            "sourceRanges": ["0.0.0.0/0"],
            "allowed": [{"IPProtocol": "tcp", "ports": ["22"]}],
            **common,
        },
    ]


def wanted_rules(model: str, machine: str, network: str, rules: MachineRules) -> list[Json]:
    """Return the firewalls of a machine, one for each set of sources; IPv6 sources are left out."""
    tag = machine_tag(model, machine)
    groups: dict[tuple[str, ...], list[IngressRule]] = {}
    for item in rules.ingress:
        sources = tuple(sorted(cidr for cidr in item.sources if ":" not in cidr))
        if sources:
            groups.setdefault(sources, []).append(item)
    return [
        {
            "name": f"{tag}-{hashlib.sha256(' '.join(sources).encode()).hexdigest()[:8]}",
            "network": network,
            "direction": "INGRESS",
            "targetTags": [tag],
            "sourceRanges": list(sources),
            "allowed": _allowed(items),
        }
        for sources, items in sorted(groups.items())
    ]


def _allowed(items: Sequence[IngressRule]) -> list[Json]:
    ports: dict[str, list[str]] = {}
    for item in sorted(items):
        known = ports.setdefault(item.range.protocol, [])
        if item.range.protocol != "icmp":
            first, last = item.range.from_port, item.range.to_port
            known.append(str(first) if first == last else f"{first}-{last}")
    return [
        {"IPProtocol": protocol, **({"ports": listed} if listed else {})}
        for protocol, listed in sorted(ports.items())
    ]


def is_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return True when two firewalls allow the same traffic."""

    def what(item: Mapping[str, Any]) -> Any:
        allowed = [
            (rule["IPProtocol"], sorted(rule.get("ports") or ())) for rule in item.get("allowed") or ()
        ]
        return sorted(allowed), sorted(item.get("sourceRanges") or ()), sorted(item.get("sourceTags") or ())

    return bool(what(one) == what(other))
