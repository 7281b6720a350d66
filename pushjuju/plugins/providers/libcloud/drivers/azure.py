"""The adapter of Azure: virtual machines in a resource group for each model. Blocking.

libcloud's `create_node` cannot send user data, zones, or the list of resources to delete with a machine. So
this module builds requests of its own for libcloud's connection. Each is a PUT to a name made from the
request's nonce, so a repeated request makes nothing twice. Mirrors: juju provider/azure (3.6)
"""

from __future__ import annotations

import base64
import re
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import quote

from pushjuju.core.errors import NotValid, ProviderError
from pushjuju.core.firewall import MachineRules
from pushjuju.core.instance_types import InstanceType
from pushjuju.core.status import InstanceStatus
from pushjuju.core.values import regex
from pushjuju.plugins.providers.libcloud.calls import ErrorWords
from pushjuju.plugins.providers.libcloud.drivers import azure_api
from pushjuju.plugins.providers.libcloud.drivers.adapter import (
    Adapter,
    Guarding,
    Identity,
    Order,
    Seen,
    Site,
    addresses,
)
from pushjuju.plugins.providers.libcloud.drivers.azure_api import Arm
from pushjuju.plugins.providers.libcloud.drivers.azure_disks import AzureDisks

VNET, SUBNET = "juju-internal-network", "juju-internal-subnet"
_STATUS = {
    "Creating": InstanceStatus.PENDING,
    "Updating": InstanceStatus.RUNNING,
    "Succeeded": InstanceStatus.RUNNING,
    "Failed": InstanceStatus.PROVISIONING_ERROR,
    "Canceled": InstanceStatus.PROVISIONING_ERROR,
}
_CODENAMES = {"20.04": "focal", "22.04": "jammy"}
_ARCHES = {"x64": "amd64", "Arm64": "arm64"}
_OLD = regex(r"Standard_(A|D|DS|G|GS|F|FS)[0-9]+(_v[12])?|Basic_.*|.*_v[12]|.*_Promo")
_PROTOCOLS = {"tcp": "Tcp", "udp": "Udp", "icmp": "Icmp"}


class Azure(AzureDisks, Adapter, Guarding):
    """The machines of a model in one location."""

    arches: ClassVar[tuple[str, ...]] = ("amd64", "arm64")
    most_user_data: ClassVar[int] = 65535
    currency: ClassVar[str] = ""  # Resource Manager gives no prices
    errors: ClassVar[ErrorWords] = ErrorWords(
        busy=("retryableerror", "anotheroperationinprogress", "referencedresourcenotprovisioned"),
        credential=("authorizationfailed", "invalidauthenticationtoken", "expiredauthenticationtoken"),
        quota=("quotaexceeded", "operationnotallowed", "quota limit"),
    )

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        self._first_generation: frozenset[str] = frozenset()
        self._shared = False

    def connect(self) -> Any:
        return azure_api.connect(self.site, self.timeout_s)

    def arm(self, driver: Any) -> Arm:
        """Return the requests for the model's resource group, which is named as in Juju."""
        model = self.site.model
        return Arm(driver, f"juju-{model.name}-{model.uuid[:8]}")

    def check(self, driver: Any) -> str:
        """Check the subscription and the location with one request each."""
        arm = self.arm(driver)
        found = arm.ask("GET", arm.subscription)
        places = {str(item["name"]) for item in arm.each(f"{arm.subscription}/locations")}
        if self.site.cloud.region not in places:
            raise NotValid(f"region {self.site.cloud.region} is not one of {', '.join(sorted(places))}")
        return str(found.get("displayName") or "")

    # --- what there is ------------------------------------------------------------------------------------

    def types(self, driver: Any) -> Sequence[InstanceType]:
        """Return the sizes that the subscription may use in this location; smaller sizes count as cheaper."""
        listed = [(item, _capabilities(item)) for item in self._skus(driver)]
        self._first_generation = frozenset(
            item["name"] for item, can in listed if "V2" not in can.get("HyperVGenerations", "V1,V2")
        )
        return [
            InstanceType(
                name=str(item["name"]),
                cores=int(can["vCPUs"]),
                mem=int(float(can["MemoryGB"]) * 1024),
                arches=(_ARCHES.get(can.get("CpuArchitectureType", "x64"), "amd64"),),
                cost=float(can["MemoryGB"]) + 2 * int(can["vCPUs"]),
                deprecated=bool(_OLD.fullmatch(item["name"])),
            )
            for item, can in listed
            if can.get("vCPUs") and can.get("MemoryGB")
        ]

    def _skus(self, driver: Any) -> list[Any]:
        arm = self.arm(driver)
        query = {"$filter": f"location eq '{self.site.cloud.region}'"}
        found = arm.each(f"{arm.subscription}/providers/Microsoft.Compute/skus", query)
        return [
            item
            for item in found
            if item["resourceType"] == "virtualMachines"
            and not any(ban.get("type") == "Location" for ban in item.get("restrictions") or ())
        ]

    def zones(self, driver: Any) -> Sequence[tuple[str, bool]]:
        """Return the zones that any size offers; some locations have no zones."""
        found: set[str] = set()
        for item in self._skus(driver):
            for where in item.get("locationInfo") or ():
                found |= set(where.get("zones") or ())
        return [(zone, True) for zone in sorted(found)]

    def _image(self, arm: Arm, order: Order) -> dict[str, str]:
        """Return the image of a base: the parts of its URN, or the id of the image that the user chose."""
        if order.image.startswith("/"):
            return {"id": order.image}
        urn = order.image or _urn(order, first=order.size.name in self._first_generation)
        publisher, offer, sku, number = (*urn.split(":"), "", "", "")[:4]
        where = f"{arm.subscription}/providers/Microsoft.Compute/locations/{self.site.cloud.region}"
        path = f"{where}/publishers/{publisher}/artifacttypes/vmimage/offers/{offer}/skus/{sku}/versions"
        if not sku or not arm.find(quote(path)):
            raise NotValid(
                f"no image for base {order.base.display}: name one with the constraint image-id"
                + (f" ({urn} not found)" if urn else "")
            )
        return {"publisher": publisher, "offer": offer, "sku": sku, "version": number or "latest"}

    # --- machines -----------------------------------------------------------------------------------------

    def create(self, driver: Any, order: Order) -> Seen:
        """Request a machine with its public address, network interface and security group."""
        try:
            return self._create(driver, order)
        except Exception:
            self._shared = False  # the group or network may be deleted: the next start makes them again
            raise

    def _create(self, driver: Any, order: Order) -> Seen:
        arm, name = self.arm(driver), _name(order.identity)
        image = self._image(arm, order)
        self._share(arm)
        tags = {**_tags(order.tags), "juju-machine-name": order.name}
        common = {"location": self.site.cloud.region, "tags": tags}
        placed = {**common, **({"zones": [order.zone]} if order.zone else {})}
        if arm.find(arm.network("networkSecurityGroups", name)) is None:  # keep its rules
            self._put_rules(arm, name, tags, MachineRules())
        address = {"publicIPAllocationMethod": "Static", "publicIPAddressVersion": "IPv4"}
        arm.ask(
            "PUT",
            arm.network("publicIPAddresses", name),
            {**placed, "sku": {"name": "Standard"}, "properties": address},
        )
        arm.ask(
            "PUT", arm.network("networkInterfaces", name), {**common, "properties": _interface(arm, name)}
        )
        body = {**placed, "properties": _machine(arm, order, name, image)}
        return self._seen(arm.ask("PUT", arm.compute("virtualMachines", name), body), {}, {})

    def _share(self, arm: Arm) -> None:
        """Make the resource group and the network of the model, once in a process."""
        common = self.common()
        with self.lock:
            if self._shared:
                return
            arm.ask("PUT", arm.group, common)
            if arm.find(arm.network("virtualNetworks", VNET)) is None:
                inside = {"name": SUBNET, "properties": {"addressPrefix": "192.168.0.0/20"}}
                prefixes = {"addressPrefixes": ["192.168.0.0/16"]}
                arm.ask(
                    "PUT",
                    arm.network("virtualNetworks", VNET),
                    {**common, "properties": {"addressSpace": prefixes, "subnets": [inside]}},
                )
            self._shared = True

    def machines(self, driver: Any, machine: str = "") -> Sequence[Seen]:
        """Return the machines of the model's resource group, with the addresses of their interfaces."""
        arm = self.arm(driver)
        listed = [
            item
            for item in arm.each(arm.compute("virtualMachines"))
            if item["properties"].get("provisioningState") != "Deleting"
        ]
        if not listed:
            return ()
        private = {item["name"]: _private(item) for item in arm.each(arm.network("networkInterfaces"))}
        public = {
            item["name"]: str(item["properties"].get("ipAddress") or "")
            for item in arm.each(arm.network("publicIPAddresses"))
        }
        seen = [self._seen(item, public, private) for item in listed]
        return [item for item in seen if not machine or item.identity.machine == machine]

    def _seen(self, data: Any, public: Mapping[str, str], private: Mapping[str, str]) -> Seen:
        tags, name = dict(data.get("tags") or {}), str(data["name"])
        state = str(data["properties"].get("provisioningState") or "")
        return Seen(
            id=name,
            identity=Identity.from_tags(tags),
            status=_STATUS.get(state, InstanceStatus.UNKNOWN),
            word=state,
            addresses=addresses([public.get(name, "")], [private.get(name, "")]),
            zone=next(iter(data.get("zones") or ()), ""),
            size=str(data["properties"].get("hardwareProfile", {}).get("vmSize") or ""),
            name=tags.get("juju-machine-name", name),
            tags=tags,
            node=data,
        )

    def why(self, driver: Any, seen: Seen) -> str:
        """Return the failure that the instance view reports."""
        arm = self.arm(driver)
        shown = arm.ask("GET", f"{arm.compute('virtualMachines', seen.id)}/instanceView")
        told = [item for item in shown.get("statuses") or () if item.get("level") == "Error"]
        return "; ".join(f"{item['code']}: {item.get('message') or ''}" for item in told) or seen.word

    def settle(self, driver: Any, seen: Seen, constraints: Any) -> Seen | None:  # noqa: ARG002
        return seen if any(item.scope == "public" for item in seen.addresses) else None

    def end(self, driver: Any, seen: Seen) -> None:
        """Delete a machine, its interface, address and disk, and its security group once that is unused."""
        arm = self.arm(driver)
        arm.ask("DELETE", arm.compute("virtualMachines", seen.id))
        self._tidy(arm)

    def _tidy(self, arm: Arm) -> None:
        """Delete the security groups whose network interface is gone."""
        for item in arm.each(arm.network("networkSecurityGroups")):
            if not item["properties"].get("networkInterfaces"):
                machine = arm.find(arm.compute("virtualMachines", item["name"]))
                if machine is None and arm.find(arm.network("networkInterfaces", item["name"])) is None:
                    arm.ask("DELETE", arm.network("networkSecurityGroups", item["name"]))

    def sweep(self, driver: Any) -> None:
        """Delete the resource group; when it has released disks, delete everything else in it."""
        arm, self._shared = self.arm(driver), False
        if arm.find(arm.group) is None:
            return
        kept = [item for item in arm.each(arm.compute("disks")) if self.is_nobodys(item)]
        if not kept:
            arm.ask("DELETE", arm.group)
            if arm.find(arm.group) is not None:
                raise ProviderError("the resource group is still being deleted")
            return
        kinds = ("networkInterfaces", "publicIPAddresses", "networkSecurityGroups", "virtualNetworks")
        paths = [item["id"] for item in arm.each(arm.compute("disks")) if not self.is_nobodys(item)]
        paths += [item["id"] for kind in kinds for item in arm.each(arm.network(kind))]
        for path in paths:
            arm.ask("DELETE", path)
        if any(arm.find(path) is not None for path in paths):
            raise ProviderError("the model's network is still being deleted")

    # --- security groups ----------------------------------------------------------------------------------

    def set_ingress(self, driver: Any, machine: str, rules: MachineRules) -> None:
        """Set the rules of the security groups of a machine's network interfaces."""
        arm = self.arm(driver)
        for item in arm.each(arm.network("networkSecurityGroups")):
            if Identity.from_tags(item.get("tags") or {}).machine == machine:
                self._put_rules(arm, item["name"], item["tags"], rules)

    def _put_rules(self, arm: Arm, name: str, tags: Mapping[str, str], rules: MachineRules) -> None:
        wanted = [_rule("SSHInbound", 100, "Tcp", "22", "*")]
        for item in rules.ingress:
            span = item.range
            ports = "*" if span.protocol == "icmp" else f"{span.from_port}-{span.to_port}"
            for source in sorted(item.sources):
                number = len(wanted)
                protocol = _PROTOCOLS.get(span.protocol, "*")
                wanted.append(_rule(f"juju-{number}", 200 + number, protocol, ports, source))
        body = {
            "location": self.site.cloud.region,
            "tags": dict(tags),
            "properties": {"securityRules": wanted},
        }
        arm.ask("PUT", arm.network("networkSecurityGroups", name), body)


def _rule(name: str, priority: int, protocol: str, ports: str, source: str) -> dict[str, object]:
    return {
        "name": name,
        "properties": {
            "priority": priority,
            "direction": "Inbound",
            "access": "Allow",
            "protocol": protocol,
            "sourceAddressPrefix": source,
            "sourcePortRange": "*",
            "destinationAddressPrefix": "*",
            "destinationPortRange": ports,
        },
    }


def _name(identity: Identity) -> str:
    """Return the name of a machine's resources, which differs for each request."""
    machine = identity.machine.replace("/", "-")
    return f"machine-{machine}-{identity.nonce[:8] or uuid.uuid4().hex[:8]}"


def _tags(tags: Mapping[str, str]) -> dict[str, str]:
    """Return tags in the form that Azure accepts: some characters removed, values of at most 256."""
    return {re.sub(r"[<>%&\\?/]", "_", key)[:512]: value[:256] for key, value in tags.items()}


def _capabilities(item: Any) -> dict[str, str]:
    return {str(one["name"]): str(one["value"]) for one in item.get("capabilities") or ()}


def _urn(order: Order, *, first: bool) -> str:
    """Return the URN of the newest image of a base; `first` for machines of generation 1."""
    track, arm = order.base.track, order.arch == "arm64"
    if order.base.os == "debian":
        return f"Debian:debian-{track}:{track}{'-arm64' if arm else '' if first else '-gen2'}:latest"
    if order.base.os != "ubuntu":
        return ""
    if codename := _CODENAMES.get(track):
        sku = track.replace(".", "_") + "-lts" + ("-arm64" if arm else "" if first else "-gen2")
        return f"Canonical:0001-com-ubuntu-server-{codename}:{sku}:latest"
    sku = "server-arm64" if arm else "server-gen1" if first else "server"
    return f"Canonical:ubuntu-{track.replace('.', '_')}-lts:{sku}:latest"


def _interface(arm: Arm, name: str) -> dict[str, object]:
    address = {"id": arm.network("publicIPAddresses", name), "properties": {"deleteOption": "Delete"}}
    inside = {"id": f"{arm.network('virtualNetworks', VNET)}/subnets/{SUBNET}"}
    return {
        "networkSecurityGroup": {"id": arm.network("networkSecurityGroups", name)},
        "ipConfigurations": [
            {
                "name": "primary",
                "properties": {
                    "primary": True,
                    "subnet": inside,
                    "privateIPAllocationMethod": "Dynamic",
                    "publicIPAddress": address,
                },
            }
        ],
    }


def _machine(arm: Arm, order: Order, name: str, image: Mapping[str, str]) -> dict[str, object]:
    keys = [{"path": "/home/ubuntu/.ssh/authorized_keys", "keyData": key} for key in order.keys]
    disk: dict[str, object] = {"createOption": "FromImage", "deleteOption": "Delete", "caching": "ReadWrite"}
    if order.root_disk:
        disk["diskSizeGB"] = max(30, -(-order.root_disk // 1024))  # Canonical's images need 30 GB
    interface = {
        "id": arm.network("networkInterfaces", name),
        "properties": {"primary": True, "deleteOption": "Delete"},
    }
    login = {
        "computerName": order.name,
        "adminUsername": "ubuntu",
        "linuxConfiguration": {"disablePasswordAuthentication": True, "ssh": {"publicKeys": keys}},
    }
    if order.user_data:
        login["customData"] = base64.b64encode(order.user_data.encode()).decode()
    return {
        "hardwareProfile": {"vmSize": order.size.name},
        "storageProfile": {"imageReference": dict(image), "osDisk": disk},
        "osProfile": login,
        "networkProfile": {"networkInterfaces": [interface]},
    }


def _private(item: Any) -> str:
    for config in item["properties"].get("ipConfigurations") or ():
        return str(config["properties"].get("privateIPAddress") or "")
    return ""
