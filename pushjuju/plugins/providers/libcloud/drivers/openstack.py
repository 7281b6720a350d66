"""The adapter of OpenStack: servers, networks, security groups, and volumes of Cinder. Blocking.

Mirrors: juju provider/openstack (3.6)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pushjuju.core.base import Base
from pushjuju.core.constraints import Constraints
from pushjuju.core.errors import NotValid
from pushjuju.core.firewall import MachineRules
from pushjuju.core.instance_types import InstanceType
from pushjuju.core.status import InstanceStatus
from pushjuju.plugins.api.storage_types import StorageItem, StorageSeen
from pushjuju.plugins.providers.libcloud.calls import ErrorWords
from pushjuju.plugins.providers.libcloud.drivers import adapter, openstack_login
from pushjuju.plugins.providers.libcloud.drivers.library import library
from pushjuju.plugins.providers.libcloud.drivers.openstack_network import Neutron, outside, within

ARCH_KEY, VOLUME_KEY = "pushjuju-arch", "pushjuju-volume"
_STATUS = {
    "ACTIVE": InstanceStatus.RUNNING,
    "BUILD": InstanceStatus.PENDING,
    "SHUTOFF": InstanceStatus.STOPPED,
    "ERROR": InstanceStatus.PROVISIONING_ERROR,
}
_ARCHES = {"amd64": ("x86_64", "amd64"), "arm64": ("aarch64", "arm64"), "ppc64el": ("ppc64le", "ppc64el")}
_LEAST_VOLUME = 30  # GiB of a root disk on a volume, as in Juju
_VOLUME_SOURCE = "volume"


class OpenStack(adapter.Adapter, adapter.Guarding, adapter.HasVolumes):
    """The servers of one project in one region, found by their metadata."""

    unsupported: ClassVar[frozenset[str]] = frozenset({"tags", "cpu-power", "virt-type"})
    arches: ClassVar[tuple[str, ...]] = tuple(_ARCHES)
    most_user_data: ClassVar[int] = 49149  # 64 KiB less one byte, in base64
    currency: ClassVar[str] = ""
    errors: ClassVar[ErrorWords] = ErrorWords(
        quota=("quota exceeded", "exceeded for quota", "quotaexceeded"), forbidden=False
    )

    def __init__(self, site: adapter.Site) -> None:
        super().__init__(site)
        self._tokens = openstack_login.Tokens()
        self._flavors: dict[str, str] = {}
        """Name of a flavor -> its id, after the flavors were requested."""

    def _setting(self, key: str) -> str:
        return str(self.site.config.get(key) or self.site.cloud.config.get(key) or "")

    # --- the project --------------------------------------------------------------------------------------

    def connect(self) -> Any:
        return openstack_login.connect(self.site, self._tokens, self.timeout_s)

    def check(self, driver: Any) -> str:
        """Log in, and check that the region exists."""
        connection, region = driver.connection, self.site.cloud.region
        try:
            connection.get_service_catalog()
        except Exception:  # there is no endpoint for the region, or there are several
            if connection.service_catalog is None:
                raise
        regions = [str(item) for item in connection.service_catalog.get_regions("compute")]
        if openstack_login.is_named(region) and region not in regions:
            raise NotValid(f"region {region} is not one of {', '.join(regions)}")
        if not openstack_login.is_named(region) and len(regions) > 1:
            raise NotValid(f"cloud {self.site.cloud.name} has several regions: {', '.join(regions)}")
        return str((connection.auth_user_info or {}).get("name") or "")

    def types(self, driver: Any) -> Sequence[InstanceType]:
        """Return the flavors. They have every architecture, because the image decides on that."""
        sizes = [size for size in driver.list_sizes() if not size.extra.get("disabled")]
        self._flavors = {str(size.name): str(size.id) for size in sizes}
        return [
            InstanceType(
                name=str(size.name),
                cores=int(size.vcpus),
                mem=int(size.ram),
                arches=self.arches,
                root_disk=int(size.disk) * 1024,
            )
            for size in sizes
        ]

    def zones(self, driver: Any) -> Sequence[tuple[str, bool]]:
        found = driver.connection.request("/os-availability-zone").object["availabilityZoneInfo"]
        return [(str(item["zoneName"]), bool(item["zoneState"]["available"])) for item in found]

    def sizing(self, constraints: Constraints) -> Constraints:
        """Leave out `root-disk` when the root disk is a volume, which can have any size."""
        if constraints.get("root-disk-source") != _VOLUME_SOURCE:
            return constraints
        return {key: value for key, value in constraints.items() if key != "root-disk"}

    def vocabulary(self) -> Mapping[str, Sequence[Any]]:
        """Return the allowed values of `root-disk-source`."""
        return {"root-disk-source": ["local", _VOLUME_SOURCE]}

    # --- servers ------------------------------------------------------------------------------------------

    def create(self, driver: Any, order: adapter.Order) -> adapter.Seen:
        base = library("compute.base")
        image = self._image(driver, order)
        neutron = Neutron(driver, self.site.model.uuid)
        networks = neutron.networks(self._setting("network"))
        groups = self._groups(neutron, order.identity.machine)
        plain = base.NodeImage(image, image, driver)
        on_volume = order.constraints.get("root-disk-source") == _VOLUME_SOURCE
        node = driver.create_node(
            name=order.name,
            size=_Named(self._flavors[order.size.name]),
            image=None if on_volume else plain,
            ex_userdata=order.user_data,
            ex_metadata={
                **{re.sub(r"[^A-Za-z0-9_:. -]", "_", key): value[:255] for key, value in order.tags.items()},
                ARCH_KEY: order.arch,
            },
            ex_security_groups=[_Named(name) for name in groups],
            ex_availability_zone=order.zone,
            networks=[_Named(name) for name in networks],
            ex_blockdevicemappings=[_root_volume(image, order.root_disk)] if on_volume else None,
        )
        return self._seen(node)

    def _groups(self, neutron: Neutron, machine: str) -> list[str]:
        """Return the names of a machine's security groups; make the missing groups."""
        with self.lock:
            shared = neutron.ensure_group(neutron.group_name())
            neutron.set_rules(shared, within(shared))
        neutron.ensure_group(neutron.group_name(machine))
        known = [neutron.group_name(), neutron.group_name(machine)]
        uses_default = self._setting("use-default-secgroup").lower() in ("true", "1", "yes")
        return [*known, "default"] if uses_default else known

    def _image(self, driver: Any, order: adapter.Order) -> str:
        """Return the id of an image: the chosen one, or the newest whose properties or name have the base."""
        listed = list(driver._paginated_request_next(
            path="/v2/images", request_method=driver.image_connection.request, response_key="images"
        ))  # fmt: skip
        usable = [item for item in listed if item.get("status") == "active"]
        if order.image:
            found = [item for item in usable if order.image in (item["id"], item.get("name"))]
        else:
            known = _ARCHES.get(order.arch, (order.arch,))
            fitting = [item for item in usable if (item.get("architecture") or known[0]) in known]
            found = [item for item in fitting if _has_base(item, order.base)]
            found = found or [item for item in fitting if _is_named_for(item, order.base, order.arch)]
        if not found:
            what = f"no image for base {order.base.display}: name one with the constraint image-id"
            raise NotValid(f"{what} ({order.image} not found)" if order.image else what)
        return str(max(found, key=lambda item: str(item.get("created_at") or ""))["id"])

    def machines(self, driver: Any, machine: str = "") -> Sequence[adapter.Seen]:
        """Return the servers of the model, without those that are being deleted."""
        nodes = [node for node in driver.list_nodes() if node.extra.get("task_state") != "deleting"]
        seen = [self._seen(node) for node in nodes if str(node.state) != "terminated"]
        own = [item for item in seen if item.identity.model == self.site.model.uuid]
        return [item for item in own if not machine or item.identity.machine == machine]

    def _seen(self, node: Any) -> adapter.Seen:
        tags = {str(key): str(value) for key, value in (node.extra.get("metadata") or {}).items()}
        fault = node.extra.get("fault") or {}
        state = str(node.state)
        word = {"running": "ACTIVE", "pending": "BUILD"}.get(state, state.upper())
        flavor = str(node.extra.get("flavorId") or "")
        return adapter.Seen(
            id=str(node.id),
            identity=adapter.Identity.from_tags(tags),
            status=_STATUS.get(word, InstanceStatus.UNKNOWN),
            word=str(fault.get("message") or word) if word == "ERROR" else word,
            addresses=_addresses(node),
            zone=str(node.extra.get("availability_zone") or ""),
            size=next((name for name, known in self._flavors.items() if known == flavor), flavor),
            arch=tags.get(ARCH_KEY, ""),
            name=str(node.name),
            tags=tags,
            node=node,
        )

    def settle(self, driver: Any, seen: adapter.Seen, constraints: Constraints) -> adapter.Seen | None:
        """Give a server a floating IP when it needs one, and wait until the server has an address."""
        if not seen.addresses:
            return None
        has_one = any(item.get("OS-EXT-IPS:type") == "floating" for item in _listed(seen.node))
        if has_one or not constraints.get("allocate-public-ip"):
            return seen
        neutron = Neutron(driver, self.site.model.uuid)
        neutron.ensure_floating(seen.id, neutron.external(self._setting("external-network")))
        return None

    def end(self, driver: Any, seen: adapter.Seen) -> None:
        """Delete a server, its floating IPs, and its security group unless Neutron still sees it in use."""
        neutron = Neutron(driver, self.site.model.uuid)
        neutron.drop_floating(seen.id)
        driver.destroy_node(seen.node)
        try:
            neutron.drop_groups(seen.identity.machine)
        except Exception as error:
            if getattr(error, "code", 0) != 409:
                raise  # while it is in use, the group stays until the model is deleted

    def sweep(self, driver: Any) -> None:
        """Delete the model's security groups and floating IPs."""
        neutron = Neutron(driver, self.site.model.uuid)
        neutron.drop_floating()
        neutron.drop_groups()

    def set_ingress(self, driver: Any, machine: str, rules: MachineRules) -> None:
        """Set the rules of a machine's group to exactly these."""
        neutron = Neutron(driver, self.site.model.uuid)
        group = neutron.find_group(neutron.group_name(machine))
        if group:
            neutron.set_rules(group, outside(rules))

    # --- volumes ------------------------------------------------------------------------------------------

    def _cinder(self, driver: Any, method: str, path: str, body: Any = None) -> Any:
        connection = driver._get_volume_connection()
        return connection.request(path, method=method, data=body or "").object

    def volumes(self, driver: Any) -> Sequence[adapter.Volume]:
        """Return the volumes whose metadata name the model."""
        found = [_volume(item) for item in driver.list_volumes()]
        return [item for item in found if item.model == self.site.model.uuid]

    def volume(self, driver: Any, name: str) -> adapter.Volume | None:
        return _volume(driver.ex_get_volume(name))

    def make_volume(self, driver: Any, item: StorageItem, holder: adapter.Seen | None) -> adapter.Volume:
        """Request a volume. libcloud's own call cannot set its metadata."""
        wanted = {**item.tags, adapter.MODEL_TAG: self.site.model.uuid, VOLUME_KEY: item.uuid}
        body: dict[str, object] = {
            "name": f"juju-{item.uuid}",
            "size": -(-item.size // 1024),
            "metadata": {str(key): str(value)[:255] for key, value in wanted.items()},
        }
        if item.attributes.get("volume-type"):
            body["volume_type"] = str(item.attributes["volume-type"])
        if holder and holder.zone:
            listed = self._cinder(driver, "GET", "/os-availability-zone")["availabilityZoneInfo"]
            if holder.zone in {zone["zoneName"] for zone in listed}:
                body["availability_zone"] = holder.zone
        return _volume(driver._to_volume(self._cinder(driver, "POST", "/volumes", {"volume": body})))

    def attach_volume(self, driver: Any, volume: adapter.Volume, instance: str) -> None:
        """Ask Nova to attach a volume."""
        driver.attach_volume(_Named(instance), volume.raw)

    def detach_volume(self, driver: Any, volume: adapter.Volume, instance: str) -> None:
        """Ask Nova to detach a volume."""
        driver.detach_volume(volume.raw, _Named(instance))

    def delete_volume(self, driver: Any, volume: adapter.Volume) -> None:
        driver.destroy_volume(volume.raw)

    def own_volume(self, driver: Any, volume: adapter.Volume, model: str) -> None:
        """Change the model in the volume's metadata."""
        path = f"/volumes/{volume.id}/metadata"
        if model:
            self._cinder(driver, "POST", path, {"metadata": {adapter.MODEL_TAG: model}})
        elif volume.model:
            self._cinder(driver, "DELETE", f"{path}/{adapter.MODEL_TAG}")

    def see_volume(self, driver: Any, volume: adapter.Volume, instance: str) -> StorageSeen:  # noqa: ARG002
        """Return how virtio and SCSI show the volume's id on the machine; Nova's device name may be wrong."""
        short = volume.id[:20]
        links = (
            f"virtio-{short}",
            f"scsi-0QEMU_QEMU_HARDDISK_{volume.id}",
            f"scsi-0QEMU_QEMU_HARDDISK_{short}",
        )
        return StorageSeen(serial=short, paths=tuple(f"/dev/disk/by-id/{link}" for link in links))


class _Named:
    """An object with an id and a name, which libcloud accepts as a network, a group or a server."""

    def __init__(self, name: str) -> None:
        self.id = self.name = name


def _listed(node: Any) -> list[Mapping[str, Any]]:
    return [item for known in (node.extra.get("addresses") or {}).values() for item in known]


def _addresses(node: Any) -> Any:
    floating = [str(item["addr"]) for item in _listed(node) if item.get("OS-EXT-IPS:type") == "floating"]
    public = [str(item) for item in node.public_ips if item not in floating]
    private = [str(item) for item in node.private_ips if item not in floating]
    return adapter.addresses([*floating, *public], private)


def _root_volume(image: str, root_disk: int) -> dict[str, object]:
    return {
        "boot_index": 0,
        "uuid": image,
        "source_type": "image",
        "destination_type": "volume",
        "volume_size": max(-(-root_disk // 1024), 1) if root_disk else _LEAST_VOLUME,
        "delete_on_termination": True,
    }


def _has_base(item: Mapping[str, Any], base: Base) -> bool:
    return item.get("os_distro") == base.os and str(item.get("os_version") or "") == base.track


def _is_named_for(item: Mapping[str, Any], base: Base, arch: str) -> bool:
    """Return True when an image's name contains the base: `Ubuntu 24.04`, `debian-12-generic-amd64`."""
    words = re.split(r"[^a-z0-9.]+", str(item.get("name") or "").lower())
    others = {word for name, known in _ARCHES.items() if name != arch for word in (name, *known)}
    release = base.track in words or (bool(base.series) and base.series in words)
    return base.os in words and release and not others & set(words)


def _volume(found: Any) -> adapter.Volume:
    marks = found.extra.get("metadata") or {}
    word = str(found.extra.get("state") or "")
    return adapter.Volume(
        id=str(found.id),
        size=int(found.size) * 1024,
        uuid=str(marks.get(VOLUME_KEY) or ""),
        model=str(marks.get(adapter.MODEL_TAG) or ""),
        holders=tuple(str(item["server_id"]) for item in found.extra["attachments"] if item.get("server_id")),
        ready=word in ("available", "in-use"),
        failed=word if word == "error" else "",
        raw=found,
    )
