"""The adapter of Apache CloudStack: virtual machines of one zone with security groups. Blocking.

A zone of CloudStack is a region of pushjuju, because networks do not span zones. libcloud sends all
parameters in the URL, which is too short for user data, so this module sends signed forms through libcloud's
connection. An instance's identity is in its display name, which exists from the start; its tags are set
later.
"""

from __future__ import annotations

import base64
import ipaddress
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pushjuju.core.errors import NotValid
from pushjuju.core.firewall import MachineRules
from pushjuju.core.instance_types import InstanceType
from pushjuju.core.status import InstanceStatus
from pushjuju.core.values import regex
from pushjuju.plugins.api.storage_types import StorageItem, StorageSeen
from pushjuju.plugins.providers.libcloud.calls import ErrorWords
from pushjuju.plugins.providers.libcloud.drivers.adapter import (
    MODEL_TAG,
    Adapter,
    Guarding,
    HasVolumes,
    Identity,
    Order,
    Seen,
    Site,
    Volume,
    addresses,
)
from pushjuju.plugins.providers.libcloud.drivers.cloudstack_api import (
    ask,
    connect,
    every,
    failure,
    tag,
    wait,
    zone_of,
)

_NAME = regex(r"juju-([0-9a-f-]{36})-(.+)")
_NOBODY = "nobody"
_READY = ("Allocated", "Ready")  # not yet placed on a storage pool, and placed
_GONE = ("Destroy", "Destroyed", "Expunging", "Expunged")
_SERIAL = 20  # characters of the id that KVM passes to the machine


class CloudStackDisks(Adapter, HasVolumes):
    """Data disks as volumes.

    The identity of a volume is in its name, which exists from the start. The model that took over or released
    a volume is in a tag, because older versions cannot rename volumes.
    """

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


_STATUS = {
    "Starting": InstanceStatus.PENDING,
    "Running": InstanceStatus.RUNNING,
    "Stopped": InstanceStatus.STOPPED,
    "Error": InstanceStatus.PROVISIONING_ERROR,
}
_ENDING = ("Destroyed", "Expunging")


@dataclass(frozen=True, slots=True, order=True)
class Rule:
    """One ingress rule, for a CIDR or for the members of a group."""

    protocol: str
    first: int
    last: int
    cidr: str = ""
    group: str = ""


class CloudStack(CloudStackDisks, Guarding):
    """The machines of one account, found by their display names."""

    currency: ClassVar[str] = ""
    most_user_data: ClassVar[int] = 24576  # 32 KiB in base64, the server's default limit
    errors: ClassVar[ErrorWords] = ErrorWords(
        quota=("maximum number of resources", "resource limit", "exceeds account's limit"),
        credential=("unable to verify user credentials",),
    )

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        self._jobs: dict[str, str] = {}  # machine -> the job that made it, which the API does not list

    def connect(self) -> Any:
        """Return a driver; the function `ask` signs its requests."""
        return connect(self.site, self.timeout_s)

    def check(self, driver: Any) -> str:
        """Look up the zone with one request."""
        zone_of(driver, self.site)
        return ""

    def types(self, driver: Any) -> Sequence[InstanceType]:
        """Return the service offerings with fixed sizes; they have no prices."""
        return [
            InstanceType(
                name=str(item["name"]),
                cores=int(item["cpunumber"]),
                mem=int(item["memory"]),
                root_disk=int(item.get("rootdisksize") or 0) * 1024,
            )
            for item in self._offerings(driver)
        ]

    def _offerings(self, driver: Any) -> list[Any]:
        listed = every(driver, "listServiceOfferings", "serviceoffering", zoneid=zone_of(driver, self.site))
        return [item for item in listed if not item.get("iscustomized")]

    # --- machines -----------------------------------------------------------------------------------------

    def create(self, driver: Any, order: Order) -> Seen:
        """Request a machine, then set its tags."""
        zone = zone_of(driver, self.site)
        offering = next(item for item in self._offerings(driver) if item["name"] == order.size.name)
        wanted = {
            "zoneid": zone,
            "serviceofferingid": str(offering["id"]),
            "templateid": self._image(driver, zone, order),
            "name": f"{order.name}-{order.identity.nonce[:6] or secrets.token_hex(3)}",
            "displayname": order.identity.name(),
            "securitygroupids": ",".join(self._groups(driver, order.identity.machine)),
        }
        if order.user_data:
            wanted["userdata"] = base64.b64encode(order.user_data.encode()).decode()
        if order.root_disk and not order.size.root_disk:
            wanted["rootdisksize"] = str(-(-order.root_disk // 1024))
        network = str(self.site.config.get("network") or "")
        if network:
            wanted["networkids"] = self._network(driver, zone, network)
        made = ask(driver, "deployVirtualMachine", **wanted)
        self._jobs[str(made["id"])] = str(made["jobid"])
        tag(driver, "UserVm", str(made["id"]), order.tags)
        return Seen(
            id=str(made["id"]), identity=order.identity, status=InstanceStatus.PENDING, word="Starting"
        )

    def _image(self, driver: Any, zone: str, order: Order) -> str:
        """Return the id of a template: the chosen one, or the newest one with the base in its name."""
        listed = every(driver, "listTemplates", "template", templatefilter="executable", zoneid=zone)
        ready = [item for item in listed if item.get("isready", True)]
        if order.image:
            found = [item for item in ready if order.image in (item["id"], item["name"])]
        else:
            found = [
                item for item in ready if _says(item, order.base.os, order.base.track, order.base.series)
            ]
        if not found:
            what = f"no image for base {order.base.display}: name one with the constraint image-id"
            raise NotValid(f"{what} ({order.image} not found)" if order.image else what)
        return str(max(found, key=lambda item: str(item.get("created") or ""))["id"])

    def _network(self, driver: Any, zone: str, wanted: str) -> str:
        listed = every(driver, "listNetworks", "network", zoneid=zone)
        known = {str(item[key]): str(item["id"]) for item in listed for key in ("name", "id")}
        names = [item.strip() for item in wanted.split(",") if item.strip()]
        missing = [item for item in names if item not in known]
        if missing:
            there = ", ".join(sorted(str(item["name"]) for item in listed)) or "none"
            raise NotValid(f"there is no network {missing[0]}; there are: {there}")
        return ",".join(known[item] for item in names)

    def machines(self, driver: Any, machine: str = "") -> Sequence[Seen]:
        """Return the machines whose display name contains the model."""
        listed = every(driver, "listVirtualMachines", "virtualmachine", zoneid=zone_of(driver, self.site))
        seen = [_seen(item) for item in listed if item["state"] not in _ENDING]
        own = [item for item in seen if item.identity.model == self.site.model.uuid]
        return [item for item in own if not machine or item.identity.machine == machine]

    def why(self, driver: Any, seen: Seen) -> str:
        """Return the error of the job that made the machine, when this process started the job."""
        job = self._jobs.get(seen.id)
        told = ask(driver, "queryAsyncJobResult", jobid=job) if job else {}
        return failure(told) or seen.word

    def end(self, driver: Any, seen: Seen) -> None:
        """Destroy a machine and, if allowed, expunge it; delete its group unless other machines use it."""
        try:
            ask(driver, "destroyVirtualMachine", id=seen.id, expunge="true")
        except Exception as error:
            if "expunge" not in str(error).lower():
                raise
            ask(driver, "destroyVirtualMachine", id=seen.id)
        try:
            self._drop_groups(driver, self._group_name(seen.identity.machine))
        except Exception as error:
            if getattr(error, "code", 0) != 409:
                raise  # while it is in use, the group stays until the model is deleted

    def sweep(self, driver: Any) -> None:
        self._drop_groups(driver)

    # --- security groups ----------------------------------------------------------------------------------

    def _group_name(self, machine: str = "") -> str:
        return f"juju-{self.site.model.uuid}" + (f"-{machine.replace('/', '-')}" if machine else "")

    def _find(self, driver: Any, name: str) -> Any:
        return next(iter(every(driver, "listSecurityGroups", "securitygroup", securitygroupname=name)), None)

    def _ensure(self, driver: Any, name: str) -> Any:
        found = self._find(driver, name)
        if found:
            return found
        return ask(driver, "createSecurityGroup", name=name, description="juju group")["securitygroup"]

    def _groups(self, driver: Any, machine: str) -> list[str]:
        """Return the ids of a machine's security groups; make the missing groups."""
        with self.lock:
            shared = self._ensure(driver, self._group_name())
            mates = [Rule(item, 1, 65535, group=shared["name"]) for item in ("tcp", "udp")]
            mates.append(Rule("icmp", -1, -1, group=shared["name"]))
            self._set(driver, shared, [*mates, Rule("tcp", 22, 22, "0.0.0.0/0")])
        return [str(shared["id"]), str(self._ensure(driver, self._group_name(machine))["id"])]

    def _drop_groups(self, driver: Any, name: str = "") -> None:
        for item in every(driver, "listSecurityGroups", "securitygroup"):
            own = str(item["name"])
            if own == name or (not name and f"{own}-".startswith(f"{self._group_name()}-")):
                ask(driver, "deleteSecurityGroup", id=str(item["id"]))

    def set_ingress(self, driver: Any, machine: str, rules: MachineRules) -> None:
        """Set the rules of a machine's group to exactly these; IPv6 sources are left out."""
        group = self._find(driver, self._group_name(machine))
        if group:
            self._set(driver, group, _outside(rules))

    def _set(self, driver: Any, group: Any, wanted: Iterable[Rule]) -> None:
        now = {_rule(item): str(item["ruleid"]) for item in group.get("ingressrule") or ()}
        then = set(wanted)
        for rule in sorted(then - set(now)):
            body = {"securitygroupid": str(group["id"]), **_body(rule, str(group["account"]))}
            wait(driver, ask(driver, "authorizeSecurityGroupIngress", **body))
        for rule in sorted(set(now) - then):
            wait(driver, ask(driver, "revokeSecurityGroupIngress", id=now[rule]))


# --- facts ------------------------------------------------------------------------------------------------


def _says(item: Any, system: str, track: str, series: str) -> bool:
    """Return True when a template's name or description names the base: `Ubuntu 24.04 LTS`, `debian-12`."""
    words = set(re.split(r"[^a-z0-9.]+", f"{item['name']} {item.get('displaytext') or ''}".lower()))
    return system in words and (track in words or (bool(series) and series in words))


def _rule(item: Any) -> Rule:
    icmp = item["protocol"] == "icmp"
    first, last = ("icmptype", "icmpcode") if icmp else ("startport", "endport")
    return Rule(
        protocol=str(item["protocol"]),
        first=int(item[first]),
        last=int(item[last]),
        cidr=str(item.get("cidr") or ""),
        group=str(item.get("securitygroupname") or ""),
    )


def _body(rule: Rule, account: str) -> dict[str, str]:
    names = ("icmptype", "icmpcode") if rule.protocol == "icmp" else ("startport", "endport")
    found = {"protocol": rule.protocol, names[0]: str(rule.first), names[1]: str(rule.last)}
    if rule.cidr:
        return {**found, "cidrlist": rule.cidr}
    group = "usersecuritygrouplist[0]"
    return {**found, f"{group}.account": account, f"{group}.group": rule.group}


def _outside(rules: MachineRules) -> set[Rule]:
    """Return the rules of a machine's own group."""
    found = set()
    for item in rules.ingress:
        icmp = item.range.protocol == "icmp"
        ports = (-1, -1) if icmp else (item.range.from_port, item.range.to_port)
        found |= {Rule(item.range.protocol, *ports, cidr) for cidr in item.sources if ":" not in cidr}
    return found


def _seen(data: Any) -> Seen:
    ips = [str(nic.get("ipaddress") or "") for nic in data.get("nic") or ()]
    public = [item for item in ips if item and not ipaddress.ip_address(item).is_private]
    state = str(data["state"])
    return Seen(
        id=str(data["id"]),
        identity=Identity.from_name(str(data.get("displayname") or "")),
        status=_STATUS.get(state, InstanceStatus.UNKNOWN),
        word=state,
        addresses=addresses(
            [str(data.get("publicip") or ""), *public], [item for item in ips if item not in public]
        )
        if state == "Running"
        else (),
        size=str(data.get("serviceofferingname") or ""),
        name=str(data["name"]).rpartition("-")[0],
        tags={str(item["key"]): str(item["value"]) for item in data.get("tags") or ()},
        node=data,
    )
