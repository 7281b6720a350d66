"""The adapter of Amazon EC2: instances of one region, found by their tags. Blocking.

Mirrors: juju provider/ec2 (3.6)
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from pushjuju.core.base import Base
from pushjuju.core.errors import NotValid, ProviderError
from pushjuju.core.firewall import EVERYWHERE, MachineRules
from pushjuju.core.instance_types import LEAST_ROOT_DISK, InstanceType
from pushjuju.core.status import InstanceStatus
from pushjuju.plugins.providers.libcloud.calls import PLAIN, ErrorWords, is_busy
from pushjuju.plugins.providers.libcloud.drivers import adapter
from pushjuju.plugins.providers.libcloud.drivers.amazon import ec2_network, ec2_types
from pushjuju.plugins.providers.libcloud.drivers.amazon.ebs import Ebs, delete, disks
from pushjuju.plugins.providers.libcloud.drivers.amazon.ec2_api import ALIVE, connect, nodes, terminate
from pushjuju.plugins.providers.libcloud.drivers.amazon.ec2_network import Permission
from pushjuju.plugins.providers.libcloud.drivers.library import library

T = TypeVar("T")

BELIEVED_S = 300.0  # seconds after which images, subnets and groups are looked up again
_MOST_ENDED = 100  # instances that may have ended for one order
_STATUS = {
    "pending": InstanceStatus.PENDING,
    "running": InstanceStatus.RUNNING,
    "stopped": InstanceStatus.STOPPED,
}
_IMAGES = {
    "ubuntu": ("099720109477", "ubuntu/images/hvm-ssd*/ubuntu-*-{track}-{arch}-server-*"),
    "debian": ("136693071363", "debian-{track}-{arch}-*"),
}


class Ec2(Ebs, adapter.Guarding):
    """Instances of one account in one region."""

    unsupported: ClassVar[frozenset[str]] = frozenset({"tags", "virt-type", "allocate-public-ip"})
    arches: ClassVar[tuple[str, ...]] = ("amd64", "arm64")
    directives: ClassVar[tuple[str, ...]] = ("zone", "subnet")
    most_user_data: ClassVar[int] = 16384
    errors: ClassVar[ErrorWords] = PLAIN
    address_s: float = 180.0

    def __init__(self, site: adapter.Site) -> None:
        super().__init__(site)
        self._vpc = str(site.config.get("vpc-id") or site.cloud.config.get("vpc-id") or "")
        self._known: dict[tuple[str, ...], Any] = {}
        self._known_at = 0.0

    # --- the account --------------------------------------------------------------------------------------

    def connect(self) -> Any:
        return connect(self.site, self.timeout_s)

    def check(self, driver: Any) -> str:
        """Request the zones of the region, and return the account's name."""
        self.zones(driver)
        return ""

    def types(self, driver: Any) -> Sequence[InstanceType]:
        """Return the instance types of the region, which are requested from the cloud once a day."""
        cloud, services = self.site.cloud, self.site.services
        end = hashlib.sha256((cloud.endpoint or cloud.region).encode()).hexdigest()[:12]
        file = services.data_dir / "libcloud" / f"ec2-types-{cloud.region}-{end}.json"
        return ec2_types.known(driver, file, services.clock)

    def zones(self, driver: Any) -> Sequence[tuple[str, bool]]:
        found = driver.ex_list_availability_zones(only_available=False)
        return [(str(zone.name), zone.zone_state in ("available", None)) for zone in found]

    def zone_of(self, driver: Any, place: str) -> str:
        """Return the zone of a subnet, the place of the directive `subnet`."""
        found = ec2_network.subnet(driver, ec2_network.network(driver, self._vpc), "", place)
        return str(found.extra["zone"])

    # --- machines -----------------------------------------------------------------------------------------

    def create(self, driver: Any, order: adapter.Order) -> adapter.Seen:
        try:
            return _seen(run(driver, self._wanted(driver, order), _token(order)))
        except Exception:
            self._known.clear()  # the image or a group may have been deleted
            raise

    def _wanted(self, driver: Any, order: adapter.Order) -> dict[str, object]:
        """Return the arguments for libcloud's `create_node`."""
        vpc = self._once(("network",), lambda: ec2_network.network(driver, self._vpc))
        chosen = self._once(
            ("image", order.base.display, order.arch, order.image),
            lambda: image(driver, order.base, order.arch, order.image),
        )
        place = self._once(
            ("subnet", order.zone, order.place),
            lambda: ec2_network.subnet(driver, vpc, order.zone, order.place),
        )
        size, gib = order.size.name, -(-max(order.root_disk, LEAST_ROOT_DISK) // 1024)
        disk = {"VolumeSize": gib, "VolumeType": "gp3", "DeleteOnTermination": "true"}
        device = str(chosen.extra.get("root_device_name") or "/dev/sda1")
        return {
            "name": order.name,
            "size": library("compute.base").NodeSize(size, size, 0, 0, 0, 0, driver),
            "image": chosen,
            "ex_userdata": order.user_data,
            "ex_security_group_ids": self._groups(driver, vpc, order.identity.machine),
            "ex_subnet": place,
            "ex_assign_public_ip": True,
            "ex_metadata": {**order.tags, "Name": order.name},
            "ex_blockdevicemappings": [{"DeviceName": device, "Ebs": disk}],
        }

    def _once(self, key: tuple[str, ...], function: Callable[[], T]) -> T:
        """Return the result of a lookup, cached for some minutes for machines that start at the same time."""
        with self.lock:
            now = time.monotonic()
            if now - self._known_at > BELIEVED_S:
                self._known, self._known_at = {}, now
            if key not in self._known:
                self._known[key] = function()
            found: T = self._known[key]
            return found

    def machines(self, driver: Any, machine: str = "") -> Sequence[adapter.Seen]:
        """Return the instances with the model's tag."""
        filters = {f"tag:{adapter.MODEL_TAG}": self.site.model.uuid}
        if machine:
            filters[f"tag:{adapter.MACHINE_TAG}"] = machine.replace("/", "-")
        return [_seen(node) for node in nodes(driver, filters)]

    def end(self, driver: Any, seen: adapter.Seen) -> None:
        """End an instance. A security group that is still in use is deleted with the model."""
        terminate(driver, [seen.id])
        try:
            ec2_network.drop_groups(driver, {"group-name": self._group(seen.identity.machine)})
        except Exception as error:
            if is_busy(error):
                raise

    def sweep(self, driver: Any) -> None:
        """Delete the volumes and security groups of the model."""
        self._known.clear()
        mine = {f"tag:{adapter.MODEL_TAG}": self.site.model.uuid}
        for volume in disks(driver, mine):
            delete(driver, volume.id)
        ec2_network.drop_groups(driver, mine)

    # --- security groups ----------------------------------------------------------------------------------

    def _group(self, machine: str = "") -> str:
        return f"juju-{self.site.model.uuid}" + (f"-{machine.replace('/', '-')}" if machine else "")

    def _groups(self, driver: Any, vpc: str, machine: str) -> list[str]:
        """Return the groups of a machine: the model's group, whose members reach each other, and its own."""
        shared = self._once(("group",), lambda: self._shared(driver, vpc))
        return [shared, self._ensure(driver, vpc, machine)]

    def _ensure(self, driver: Any, vpc: str, machine: str = "") -> str:
        return ec2_network.ensure_group(
            driver, self._group(machine), vpc, {adapter.MODEL_TAG: self.site.model.uuid}
        )

    def _shared(self, driver: Any, vpc: str) -> str:
        """Return the model's group; its members reach each other, and SSH is open."""
        shared = self._ensure(driver, vpc)
        login = {Permission("tcp", 22, 22, cidr) for cidr in EVERYWHERE}
        ec2_network.set_permissions(driver, shared, {Permission("-1", -1, -1, shared), *login})
        return shared

    def set_ingress(self, driver: Any, machine: str, rules: MachineRules) -> None:
        """Set the rules of a machine's own group to exactly these rules."""
        for group in ec2_network.groups(driver, {"group-name": self._group(machine)}):
            ec2_network.set_permissions(driver, group, ec2_network.outside(rules))


def image(driver: Any, base: Base, arch: str, chosen: str) -> Any:
    """Return the image of a base: the chosen image, or the newest image of the base's maker."""
    if chosen:
        found = driver.list_images(ex_image_ids=[chosen])
    else:
        owner, pattern = _IMAGES.get(base.os, ("", ""))
        if not owner:
            raise NotValid(f"no image for base {base.display}: name one with the constraint image-id")
        wanted = {
            "name": pattern.format(track=base.track, arch=arch),
            "architecture": {"amd64": "x86_64"}.get(arch, arch),
        }
        found = driver.list_images(ex_owner=owner, ex_filters=wanted)
    if not found:
        raise NotValid(f"no image for base {base.display} on {arch} in {driver.region_name}")
    return max(found, key=lambda item: str(item.extra.get("creation_date") or ""))


def run(driver: Any, wanted: Mapping[str, Any], token: str) -> Any:
    """Start an instance and return its node; the same token gives the same instance, until it ends.

    For a day after its end, EC2 still answers with the ended instance; then another token is tried.
    """
    for _ in range(_MOST_ENDED):
        node = driver.create_node(**wanted, ex_clienttoken=token)
        if str(node.extra.get("status") or "pending") in ALIVE:
            return node
        token = _digest(f"{token} {node.id}")
    raise ProviderError(f"{_MOST_ENDED} instances for {wanted['name']} ended while they started")


def _token(order: adapter.Order) -> str:
    who = order.identity
    return _digest(f"{who.model} {who.machine} {who.nonce} {order.zone}")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _seen(node: Any) -> adapter.Seen:
    tags = {str(key): str(value) for key, value in (node.extra.get("tags") or {}).items()}
    word = str(node.extra.get("status") or node.state)
    return adapter.Seen(
        id=str(node.id),
        identity=adapter.Identity.from_tags(tags),
        status=_STATUS.get(word, InstanceStatus.UNKNOWN),
        word=word,
        addresses=adapter.addresses(node.public_ips, node.private_ips),
        zone=str(node.extra.get("availability") or ""),
        size=str(node.extra.get("instance_type")),
        name=str(node.name or ""),
        tags=tags,
    )
