"""The adapter of VMware vSphere: virtual machines from OVF items of content libraries. Blocking.

In the REST API, user data only reach a machine as a property of its OVF item, and libcloud's `create_node`
sets no properties. So this module builds the requests for libcloud's connection. The API cannot set tags when
it makes a machine, so the identity of a machine is in its name, which is unique in its folder.
"""

from __future__ import annotations

import base64
import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import quote

from pushjuju.core import instance_types
from pushjuju.core.base import SERIES
from pushjuju.core.constraints import Constraints
from pushjuju.core.errors import NotValid, ProviderError, QuotaExceeded
from pushjuju.core.instance_types import InstanceType
from pushjuju.core.status import InstanceStatus
from pushjuju.plugins.providers.libcloud.calls import ErrorWords
from pushjuju.plugins.providers.libcloud.drivers.adapter import Adapter, Identity, Order, Seen, addresses
from pushjuju.plugins.providers.libcloud.drivers.vsphere_api import Vcenter, connect, messages
from pushjuju.plugins.providers.libcloud.drivers.vsphere_disks import VmDisks

_ON = "POWERED_ON"
_STATUS = {_ON: InstanceStatus.RUNNING, "POWERED_OFF": InstanceStatus.STOPPED}
_NETWORK = "VM Network"  # vSphere's and Juju's default
_OVF = "/rest/com/vmware/vcenter/ovf/library-item/id:"
_LIBRARY = "/rest/com/vmware/content/library"
_CORES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
_GIB = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
_DONE = "already_in_desired_state"
_PROVISIONING = {"thin": "thin", "thick": "thick", "thickEagerZero": "eagerZeroedThick"}
_PROPERTIES = {"@class": "com.vmware.vcenter.ovf.property_params", "type": "PropertyParams"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """The ids of a datacenter and of the folder for its machines."""

    datacenter: str
    folder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Zone:
    """A cluster, or a host that belongs to no cluster."""

    name: str
    id: str
    kind: str  # `clusters` or `hosts`, as in the API's filters
    usable: bool
    alone: bool = True  # True when a machine can be placed there without naming a host


class Vsphere(Adapter):
    """The machines of one datacenter."""

    unsupported: ClassVar[frozenset[str]] = frozenset(
        {"tags", "virt-type", "cpu-power", "allocate-public-ip"}
    )
    most_user_data: ClassVar[int] = 49149  # a property has 65535 characters of base64
    currency: ClassVar[str] = ""
    errors: ClassVar[ErrorWords] = ErrorWords(
        quota=("not enough licenses",),
        busy=("resource_busy", "concurrent_change", "another task is already in progress"),
        forbidden=True,
    )
    address_s: float = 600.0
    deploy_s: float = 1800.0  # seconds for making a machine, which includes the copy of its disk

    def __init__(self, site: Any) -> None:
        super().__init__(site)
        self._vcenter = Vcenter(site)
        self.disks = VmDisks(self._vcenter, self.deploy_s)
        self._found: _Place | None = None

    def connect(self) -> Any:
        return connect(self.site, self.timeout_s)

    def check(self, driver: Any) -> str:
        """Check that the datacenter and the folder exist."""
        self._found = None
        self._place(driver)
        return self.site.credential.attributes.get("user", "")

    def _place(self, driver: Any) -> _Place:
        """Return the datacenter and the folder for machines."""
        if self._found is None:
            region = self.site.cloud.region.lstrip("/")  # Juju also accepts an inventory path
            listed = self._get(driver, "/rest/vcenter/datacenter")
            ids = {str(item["name"]): str(item["datacenter"]) for item in listed}
            if region not in ids:
                raise NotValid(f"region {region} is not one of {', '.join(sorted(ids))}")
            shown = self._get(driver, f"/rest/vcenter/datacenter/{quote(ids[region], safe='')}")
            folder = self._folder(driver, str(shown["vm_folder"]))
            self._found = _Place(datacenter=ids[region], folder=folder)
        return self._found

    def _folder(self, driver: Any, folder: str) -> str:
        path = self.site.credential.attributes.get("vmfolder", "")
        for name in filter(None, path.split("/")):
            found = self._named(driver, "folder", name, {"type": "VIRTUAL_MACHINE", "parent_folders": folder})
            if not found:
                raise NotValid(f'vmfolder "{path}" is not in datacenter {self.site.cloud.region}')
            folder = found
        return folder

    def _get(self, driver: Any, path: str, **filters: str) -> Any:
        params = {f"filter.{key}": value for key, value in filters.items() if value}
        return self._vcenter.ask(driver, "GET", path, params)

    def _named(self, driver: Any, kind: str, name: str, filters: Mapping[str, str]) -> str:
        """Return the id of an object with a name; empty when there is no such object."""
        found = self._get(driver, f"/rest/vcenter/{kind}", names=name, **filters)
        return str(found[0][kind.replace("-", "_")]) if found else ""

    # --- types and zones ----------------------------------------------------------------------------------

    def types(self, driver: Any) -> Sequence[InstanceType]:  # noqa: ARG002 - machines have any size
        """Return types with rising cores and memory; vSphere has no types, and machines can have any size."""
        return _TYPES

    def refuse(self, driver: Any, constraints: Constraints) -> None:
        """Refuse the constraint `root-disk` when vCenter is too old to resize disks."""
        if constraints.get("root-disk"):
            self.disks.require(driver, "the constraint root-disk")

    def zones(self, driver: Any) -> Sequence[tuple[str, bool]]:
        """Return the clusters, and the hosts that belong to no cluster."""
        return [(item.name, item.usable) for item in self._zones(driver)]

    def _zones(self, driver: Any) -> list[_Zone]:
        where = self._place(driver).datacenter
        clusters = self._get(driver, "/rest/vcenter/cluster", datacenters=where)
        hosts = self._get(driver, "/rest/vcenter/host", datacenters=where, standalone="true")
        return [
            _Zone(
                name=str(item["name"]), id=str(item["cluster"]), kind="clusters", usable=True,
                alone=bool(item["drs_enabled"]),
            )
            for item in clusters
        ] + [
            _Zone(name=str(item["name"]), id=str(item["host"]), kind="hosts", usable=_up(item))
            for item in hosts
        ]  # fmt: skip

    # --- machines -----------------------------------------------------------------------------------------

    def create(self, driver: Any, order: Order) -> Seen:
        """Make a machine from an item; `settle` sets its size and starts it."""
        self.refuse(driver, order.constraints)
        item, zone = self._image(driver, order), self._zone(driver, order)
        target = self._target(driver, zone, order)
        offer = self._vcenter.ask(driver, "POST", f"{_OVF}{item}?~action=filter", body={"target": target})
        spec = self._spec(driver, order, offer)
        answer = self._vcenter.ask_long(
            driver,
            (self.deploy_s, self.timeout_s),
            f"{_OVF}{item}?~action=deploy",
            {"target": target, "deployment_spec": spec},
        )
        if not answer["succeeded"]:
            _refuse(order, answer.get("error") or {}, self.errors)
        made = {
            "vm": answer["resource_id"]["id"],
            "name": order.identity.name(),
            "power_state": "POWERED_OFF",
        }
        return _seen(made, zone.name, ())

    def _zone(self, driver: Any, order: Order) -> _Zone:
        usable = [item for item in self._zones(driver) if item.usable]
        for item in usable:
            if order.zone in ("", item.name):
                return item
        raise ProviderError(f"no host of datacenter {self.site.cloud.region} takes machines now")

    def _image(self, driver: Any, order: Order) -> str:
        """Return the id of the item of a content library with a fitting name."""
        names = [order.image] if order.image else _names(order)
        for name in names:
            found = self._vcenter.ask(
                driver, "POST", f"{_LIBRARY}/item?~action=find", body={"spec": {"name": name, "type": "ovf"}}
            )
            if found:
                return quote(str(found[0]), safe="")
        raise NotValid(
            f"no image for base {order.base.display}: name one with the constraint image-id"
            f" (no content library has an OVF item {' or '.join(names)})"
        )

    def _target(self, driver: Any, zone: _Zone, order: Order) -> dict[str, str]:
        pool = self._named(driver, "resource-pool", "Resources", {zone.kind: zone.id})
        target = {"resource_pool_id": pool, "folder_id": self._place(driver).folder}
        if zone.kind == "hosts":
            target["host_id"] = zone.id
        elif not zone.alone:  # a cluster without load balancing needs a host
            hosts = [item for item in self._get(driver, "/rest/vcenter/host", clusters=zone.id) if _up(item)]
            if not hosts:
                raise ProviderError(f"no host of cluster {zone.name} takes machines now")
            chosen = int(order.identity.nonce or "0", 16) % len(hosts)
            target["host_id"] = str(hosts[chosen]["host"])
        return target

    def _spec(self, driver: Any, order: Order, offer: Mapping[str, Any]) -> dict[str, object]:
        spec: dict[str, object] = {
            "name": order.identity.name(),
            "annotation": "\n".join(f"{key}={value}" for key, value in sorted(order.tags.items())),
            "accept_all_EULA": True,
            "additional_parameters": [_properties(order, offer)],
        }
        if offer.get("networks"):
            network = self._setting(driver, "network", "primary-network", _NETWORK)
            spec["network_mappings"] = [{"key": name, "value": network} for name in offer["networks"]]
        wanted = str(order.constraints.get("root-disk-source") or self.site.config.get("datastore") or "")
        if wanted:
            spec["default_datastore_id"] = self._setting(driver, "datastore", "datastore", wanted)
        if kind := str(self.site.config.get("disk-provisioning-type") or ""):
            if kind not in _PROVISIONING:
                known = ", ".join(_PROVISIONING)
                raise NotValid(f'disk-provisioning-type: expected one of {known}, got "{kind}"')
            spec["storage_provisioning"] = _PROVISIONING[kind]
        return spec

    def _setting(self, driver: Any, kind: str, key: str, default: str) -> str:
        """Return the id of a network or datastore."""
        name = default if kind == "datastore" else str(self.site.config.get(key) or default)
        found = self._named(driver, kind, name, {"datacenters": self._place(driver).datacenter})
        if not found:
            raise NotValid(
                f'datacenter {self.site.cloud.region} has no {kind} "{name}"',
                hint=f"pushjuju model-config {key}=NAME",
            )
        return found

    def machines(self, driver: Any, machine: str = "") -> Sequence[Seen]:
        """Return the folder's machines whose names have the model's identity, or only those of a machine."""
        folder = self._place(driver).folder
        listed = self._get(driver, "/rest/vcenter/vm", folders=folder)
        mine = [item for item in listed if self._is_mine(str(item["name"]), machine)]
        zones: dict[str, str] = {}
        for zone in self._zones(driver) if mine else ():
            there = self._get(driver, "/rest/vcenter/vm", folders=folder, **{zone.kind: zone.id})
            zones.update({str(item["vm"]): zone.name for item in there})
        return [_seen(item, zones.get(str(item["vm"]), ""), self._ips(driver, item)) for item in mine]

    def _is_mine(self, name: str, machine: str) -> bool:
        found = Identity.from_name(name)
        return found.model == self.site.model.uuid and (not machine or found.machine == machine)

    def _ips(self, driver: Any, item: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the addresses that VMware Tools report; empty while the tools do not run."""
        if item["power_state"] != _ON:
            return ()
        path = f"/rest/vcenter/vm/{quote(str(item['vm']), safe='')}/guest/identity"
        try:
            found = self._get(driver, path) or {}
        except Exception as error:
            if getattr(error, "code", 0) in (404, 503):  # the machine has ended, or its tools do not run
                return ()
            raise
        text = str(found.get("ip_address") or "")
        return (text,) if text and not ipaddress.ip_address(text).is_link_local else ()

    def settle(self, driver: Any, seen: Seen, constraints: Constraints) -> Seen | None:
        """Set size and disk of a new machine and start it, then wait for its address."""
        if seen.node["power_state"] != "POWERED_OFF":
            return seen if seen.addresses else None
        path = f"/rest/vcenter/vm/{quote(seen.id, safe='')}"
        if self._get(driver, f"{path}/power")["state"] == "POWERED_OFF":  # else an earlier start worked
            size = instance_types.pick(_TYPES, constraints, region=self.site.cloud.region)
            cores = {"count": size.cores, "cores_per_socket": 1}
            self._vcenter.ask(driver, "PATCH", f"{path}/hardware/cpu", body={"spec": cores})
            memory = {"size_MiB": size.mem}
            self._vcenter.ask(driver, "PATCH", f"{path}/hardware/memory", body={"spec": memory})
            self.disks.prepare(driver, seen.id, int(constraints.get("root-disk") or 0))
            self._power(driver, seen.id, "start")
        return None

    def _power(self, driver: Any, name: str, action: str) -> None:
        try:
            self._vcenter.ask(driver, "POST", f"/rest/vcenter/vm/{quote(name, safe='')}/power/{action}")
        except Exception as error:
            if _DONE not in str(getattr(error, "message", "")):
                raise

    def end(self, driver: Any, seen: Seen) -> None:
        """Stop a machine, and delete it with its disks."""
        self._power(driver, seen.id, "stop")
        self._vcenter.ask(driver, "DELETE", f"/rest/vcenter/vm/{quote(seen.id, safe='')}")


_TYPES = tuple(
    InstanceType(name=f"cpu{cores}-mem{gib}g", cores=cores, mem=gib * 1024, cost=cores + gib / 4)
    for cores in _CORES
    for gib in _GIB
)


def _up(host: Mapping[str, Any]) -> bool:
    return host.get("connection_state") == "CONNECTED" and host.get("power_state") == _ON


def _names(order: Order) -> list[str]:
    """Return the possible names of an item for a base: the base, or the name of Canonical's file."""
    os, track = order.base.os, order.base.track
    names = [order.base.display, f"{os}-{track}"]
    if os == "ubuntu":
        series = [name for name, known in SERIES.items() if known == (os, track)]
        names += [f"{word}-server-cloudimg-amd64" for word in (f"{os}-{track}", *series)]
    return names


def _properties(order: Order, offer: Mapping[str, Any]) -> dict[str, object]:
    """Return the item's properties, with pushjuju's values."""
    told = {
        "instance-id": order.identity.name(),
        "hostname": order.name,
        "public-keys": "\n".join(order.keys),
        "user-data": base64.b64encode(order.user_data.encode()).decode(),
    }
    listed = [
        item
        for part in offer.get("additional_params") or ()
        if part.get("type") == "PropertyParams"
        for item in part.get("properties") or ()
    ]
    if "user-data" not in {item["id"] for item in listed}:
        raise NotValid(
            f"no image for base {order.base.display}: name one with the constraint image-id"
            f" ({order.image or offer.get('name') or 'the OVF item'} has no property user-data)"
        )
    filled = [{**item, "value": told[item["id"]]} for item in listed if told.get(item["id"])]
    return {**_PROPERTIES, "properties": filled}


def _refuse(order: Order, error: Mapping[str, Any], words: ErrorWords) -> None:
    """Raise the error with which a deployment failed."""
    found = []
    for item in error.get("errors") or ():
        inner = (item.get("error") or {}).get("messages") or ()
        found.append(messages([*([item["message"]] if item.get("message") else ()), *inner]))
    text = "; ".join(filter(None, found)) or "without a reason"
    if any(word in text.lower() for word in words.quota):
        raise QuotaExceeded(detail=text)
    raise ProviderError(f"vCenter could not make machine {order.identity.machine}", detail=text)


def _seen(data: Mapping[str, Any], zone: str, ips: Sequence[str]) -> Seen:
    identity = Identity.from_name(str(data["name"]))
    local = [item for item in ips if ipaddress.ip_address(item).is_private]
    gib = int(data.get("memory_size_MiB") or 0) // 1024
    return Seen(
        id=str(data["vm"]),
        identity=identity,
        status=_STATUS.get(str(data["power_state"]), InstanceStatus.UNKNOWN),
        word=str(data["power_state"]),
        addresses=addresses([item for item in ips if item not in local], local),
        zone=zone,
        size=f"cpu{data.get('cpu_count', 0)}-mem{gib}g",
        arch="amd64",
        name=f"juju-{identity.model[-6:]}-{identity.machine.replace('/', '-')}",
        node=data,
    )
