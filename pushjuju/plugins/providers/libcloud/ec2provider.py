"""The provider of EC2: machines of one model, each an instance with tags.

An instance is known by its tags: the model, the machine, and the request (`nonce`) that it was made for. A
start that is repeated finds the instance of the first one; one with another nonce replaces it.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

from pushjuju.core import instance_types
from pushjuju.core.base import Base
from pushjuju.core.constraint_rules import ConstraintRules
from pushjuju.core.constraints import Constraints
from pushjuju.core.errors import NotFound, NotValid, ProviderError, PushjujuError
from pushjuju.core.extras import install_command
from pushjuju.core.firewall import EVERYWHERE, MachineRules
from pushjuju.core.instance_types import InstanceType
from pushjuju.core.status import InstanceStatus
from pushjuju.plugins.api.clouds import CloudSpec, Credential, Reached
from pushjuju.plugins.api.findings import Finding, Fix
from pushjuju.plugins.api.providers import Instance, ModelInfo, Services, Started, StartRequest, Zone
from pushjuju.plugins.api.targets import SSHTarget
from pushjuju.plugins.providers import cloud_config
from pushjuju.plugins.providers.libcloud import ebs, ec2, ec2types
from pushjuju.plugins.providers.libcloud.calls import Calls, Gone

T = TypeVar("T")

ADDRESS_S = 180.0  # until an instance without an address is given up
LOOK_S = 1.0
BELIEVED_S = 300.0  # how long images, subnets and groups are taken to be there
_CONFLICTS = frozenset({"mem", "cores", "cpu-power"})
_UNSUPPORTED = frozenset({"tags", "virt-type", "allocate-public-ip"})


class Ec2Provider:
    """Machines of one model in one region."""

    def __init__(
        self,
        *,
        cloud: CloudSpec,
        credential: Credential,
        model: ModelInfo,
        config: Mapping[str, Any],
        services: Services,
        calls: Calls | None = None,
    ) -> None:
        self._cloud = cloud
        self.model = model
        self._services = services
        self._vpc = str(config.get("vpc-id") or cloud.config.get("vpc-id") or "")
        images = cloud.config.get("images")
        self._images = dict(images) if isinstance(images, Mapping) else {}
        self._call = calls or Calls(lambda: ec2.connect(cloud, credential, services.data_dir))
        self._looking = asyncio.Lock()
        self._looked: dict[tuple[str, ...], Any] = {}
        self._looked_at = 0.0
        self._types: Mapping[str, InstanceType] = {}
        self._zones: list[tuple[str, bool]] = []

    # --- before a start -----------------------------------------------------------------------------------

    async def check(self) -> Reached:
        """Ask for the zones of the region; the user waits for the answer."""
        self._zones = await self._call.run(ec2.zones, tries=2)
        picked = instance_types.pick((await self._known_types()).values(), {}, region=self._cloud.region)
        return Reached(
            costs=f"No machine is started now. A machine without constraints is a {picked.name}, "
            f"about {picked.cost:.4f} USD an hour, and its disk."
        )

    async def precheck(self, base: Base, constraints: Constraints, placement: str) -> None:  # noqa: ARG002
        """Refuse a placement, a type or a zone that is not there.

        Raises:
            NotValid: The placement, the type or the zone does not exist.
        """
        instance_types.pick((await self._known_types()).values(), constraints, region=self._cloud.region)
        kind, value = _placement(placement)
        if kind == "zone" and value not in {name for name, _ in await self._known_zones()}:
            raise NotValid(f'availability zone "{value}" not valid')

    async def rules(self) -> ConstraintRules:
        """Return what EC2 makes of constraints."""
        return ConstraintRules(
            unsupported=_UNSUPPORTED,
            conflicts=((frozenset({"instance-type"}), _CONFLICTS),),
            vocabulary={
                "arch": ["amd64", "arm64"],
                "instance-type": sorted(await self._known_types()),
                "zones": [name for name, _ in await self._known_zones()],
            },
        )

    async def zones(self) -> Sequence[Zone]:
        """Return the zones of the region."""
        return [Zone(name=name, available=usable) for name, usable in await self._known_zones()]

    async def derive_zones(self, request: StartRequest) -> Sequence[str]:
        """Return the zone that a placement names, or the one of its subnet."""
        kind, value = _placement(request.placement)
        if kind == "zone":
            return [value]
        if kind == "subnet":
            found = await self._call.run(
                lambda driver: ec2.subnet(driver, ec2.network(driver, self._vpc), "", value)
            )
            return [str(found.extra["zone"])]
        if request.attached:
            listed = await self._call.run(lambda driver: ebs.volumes(driver, {}, request.attached))
            return sorted({volume.zone for volume in listed})[:1]
        return []

    async def _known_zones(self) -> list[tuple[str, bool]]:
        if not self._zones:
            self._zones = await self._call.run(ec2.zones)
        return self._zones

    async def _known_types(self) -> Mapping[str, InstanceType]:
        if not self._types:
            end = self._cloud.endpoint or self._cloud.region
            name = f"ec2-types-{self._cloud.region}-{hashlib.sha256(end.encode()).hexdigest()[:12]}.json"
            file, clock = self._services.data_dir / "libcloud" / name, self._services.clock
            found = await self._call.run(lambda driver: ec2types.known(driver, file, clock))
            self._types = {item.name: item for item in found}
        return self._types

    # --- starting -----------------------------------------------------------------------------------------

    async def start(self, request: StartRequest) -> Started:
        """Start an instance, or find the one that this request has already.

        Raises:
            ProviderError: The cloud failed, or gave no address in time; what was made is removed again.
        """
        found = await self._nodes({f"tag:{ec2.MACHINE_TAG}": request.machine_id})
        mine = [node for node in found if node.extra["tags"].get(ec2.NONCE_TAG) == request.nonce]
        mine = mine if request.nonce else []
        await self._terminate([str(node.id) for node in found if node not in mine[:1]])
        if not mine:
            order = await self._order(request)
            request.progress(InstanceStatus.ALLOCATING, f"starting {order.size}")
            try:
                mine = [await self._run_once(order)]
            except PushjujuError:
                self._looked.clear()  # an image or a group may be gone
                raise
        node = await self._with_address(mine[0])
        return Started(instance=ec2.instance(node, self._types), base=request.base, nonce=request.nonce)

    async def _run_once(self, order: ec2.Order) -> Any:
        """Start an instance; a request whose answer was lost may have been heard."""
        filters = {f"tag:{tag}": order.tags[tag] for tag in (ec2.MODEL_TAG, ec2.MACHINE_TAG, ec2.NONCE_TAG)}
        tried = False

        def once(driver: Any) -> Any:
            nonlocal tried
            found = ec2.nodes(driver, filters) if tried and order.tags[ec2.NONCE_TAG] else []
            tried = True
            return found[0] if found else ec2.run(driver, order)

        return await self._call.run(once)

    async def _order(self, request: StartRequest) -> ec2.Order:
        types = await self._known_types()
        picked = instance_types.pick(types.values(), request.constraints, region=self._cloud.region)
        vpc = await self._once(("network",), lambda driver: ec2.network(driver, self._vpc))
        kind, value = _placement(request.placement)
        arch = str(request.constraints.get("arch") or picked.arches[0])
        chosen = str(request.constraints.get("image-id") or self._images.get(request.base.display) or "")
        image = await self._once(
            ("image", request.base.display, arch, chosen),
            lambda driver: ec2.image(driver, request.base, arch, chosen),
        )
        wanted = value if kind == "subnet" else ""
        place = await self._once(
            ("subnet", request.zone, wanted), lambda driver: ec2.subnet(driver, vpc, request.zone, wanted)
        )
        tags = {
            **request.tags,
            "Name": request.hostname,
            ec2.MODEL_TAG: self.model.uuid,
            ec2.MACHINE_TAG: request.machine_id,
            ec2.NONCE_TAG: request.nonce,
        }
        return ec2.Order(
            name=request.hostname or f"juju-{self.model.uuid[-6:]}-{request.machine_id}",
            size=picked.name,
            image=image,
            zone=request.zone,
            place=place,
            groups=await self._groups(vpc, request.machine_id),
            tags=tags,
            user_data=cloud_config.as_text(request.user_data),
            constraints=request.constraints,
        )

    async def _groups(self, vpc: str, machine_id: str) -> tuple[str, str]:
        """Return the groups of a machine: the model's, whose members reach each other, and its own."""
        tags = {ec2.MODEL_TAG: self.model.uuid}
        name = f"juju-{self.model.uuid}"
        shared = await self._once(("group",), lambda driver: self._shared_group(driver, name, vpc))
        own = await self._call.run(
            lambda driver: ec2.ensure_group(driver, _group(self.model, machine_id), vpc, "juju group", tags)
        )
        return shared, own

    def _shared_group(self, driver: Any, name: str, vpc: str) -> str:
        """Return the model's group; its members reach each other, and SSH is open."""
        shared = ec2.ensure_group(driver, name, vpc, "juju group", {ec2.MODEL_TAG: self.model.uuid})
        inside = {ec2.Permission(protocol="-1", first=-1, last=-1, source=shared)}
        login = {ec2.Permission("tcp", 22, 22, cidr) for cidr in EVERYWHERE}
        ec2.set_permissions(driver, shared, inside | login)
        return shared

    async def _once(self, key: tuple[str, ...], function: Callable[[Any], T]) -> T:
        """Return what many machines that start at once need; it is looked for again after some minutes."""
        async with self._looking:
            now = asyncio.get_running_loop().time()
            if now - self._looked_at > BELIEVED_S:
                self._looked, self._looked_at = {}, now
            if key not in self._looked:
                self._looked[key] = await self._call.run(function)
            found: T = self._looked[key]
            return found

    async def _with_address(self, node: Any) -> Any:
        """Wait until an instance has an address; end it when it gets none.

        Raises:
            ProviderError: The instance got no address in time, or ended by itself.
        """
        end = asyncio.get_running_loop().time() + ADDRESS_S
        while not (node.public_ips or node.private_ips):
            if asyncio.get_running_loop().time() > end:
                await self.stop([str(node.id)])
                raise ProviderError(f"instance {node.id} got no address in {ADDRESS_S:.0f} s")
            await asyncio.sleep(LOOK_S)
            found = await self._nodes({"instance-id": str(node.id)})
            if not found:
                raise ProviderError(f"instance {node.id} ended while it started")
            node = found[0]
        return node

    # --- afterwards ---------------------------------------------------------------------------------------

    async def stop(self, ids: Sequence[str]) -> None:
        """End instances of the model, with the groups that were theirs alone; unknown ids are no error."""
        found = [node for node in await self._nodes({}) if str(node.id) in set(ids)]
        await self._terminate([str(node.id) for node in found])
        for node in found:
            name = _group(self.model, node.extra["tags"].get(ec2.MACHINE_TAG, ""))
            try:
                await self._drop_groups({"group-name": name})
            except PushjujuError:
                continue  # in use until the instance is gone; the group is deleted with the model at last

    async def _terminate(self, ids: Sequence[str]) -> None:
        """End instances; of several, of which one is gone, EC2 ends none."""
        try:
            await self._call.run(lambda driver: ec2.terminate(driver, ids))
        except Gone:
            for name in ids if len(ids) > 1 else ():
                await self._terminate([name])

    async def list(self) -> Sequence[Instance]:
        """Return the instances of the model."""
        await self._known_types()
        return [ec2.instance(node, self._types) for node in await self._nodes({})]

    async def get(self, ids: Sequence[str]) -> Sequence[Instance | None]:
        """Return instances by id; None for those that are gone or another model's."""
        if not ids:
            return []
        found = {item.id: item for item in await self.list()}
        return [found.get(name) for name in ids]

    async def run(self, function: Callable[[Any], T]) -> T:
        """Return what a function of the driver returns, as `Calls.run`."""
        return await self._call.run(function)

    async def alive(self) -> Sequence[str]:
        """Return the ids of the model's instances that are not ended."""
        return [str(node.id) for node in await self._nodes({})]

    async def zone_of(self, instance: str) -> str:
        """Return the zone of an instance; without an id, the first available zone.

        Raises:
            NotFound: The instance does not exist any more.
        """
        if not instance:
            return next((name for name, usable in await self._known_zones() if usable), "")
        for node in await self._nodes({"instance-id": instance}):
            return str(node.extra.get("availability") or "")
        raise NotFound(f"instance {instance} not found")

    async def ssh_target(self, instance: Instance) -> SSHTarget:
        """Return the login as `ubuntu`, which the user data makes.

        Raises:
            NotFound: The instance is gone.
        """
        (now,) = await self.get([instance.id])
        if now is None or not now.addresses:
            raise NotFound(f"instance {instance.id} not found")
        return SSHTarget(host=now.addresses[0].value)

    async def destroy_model(self) -> None:
        """End all instances of the model and delete its volumes and security groups."""
        self._looked.clear()
        await self._terminate([str(node.id) for node in await self._nodes({})])
        await self._patiently(self._drop_volumes)
        await self._patiently(lambda: self._drop_groups({f"tag:{ec2.MODEL_TAG}": self.model.uuid}))

    async def _patiently(self, step: Callable[[], Awaitable[None]]) -> None:
        """Do what cannot be done until the instances are gone."""
        for attempt in range(30):
            try:
                await step()
            except PushjujuError:
                if attempt == 29:
                    raise
                await asyncio.sleep(LOOK_S * 2)
            else:
                return

    async def _drop_volumes(self) -> None:
        filters = {f"tag:{ec2.MODEL_TAG}": self.model.uuid}
        for volume in await self._call.run(lambda driver: ebs.volumes(driver, filters)):
            await self._call.run(lambda driver, name=volume.id: ebs.delete(driver, name))  # type: ignore[misc]

    async def _drop_groups(self, filters: Mapping[str, str]) -> None:
        def drop(driver: Any) -> None:
            listed = ec2.groups(driver, filters)
            for group in listed:
                ec2.set_permissions(driver, group, ())
            for group in listed:
                driver.ex_delete_security_group_by_id(group)

        try:
            await self._call.run(drop)
        except Gone:
            return

    async def _nodes(self, filters: Mapping[str, Any]) -> Sequence[Any]:
        wanted = {f"tag:{ec2.MODEL_TAG}": self.model.uuid, **filters}
        return await self._call.run(lambda driver: ec2.nodes(driver, wanted))

    async def set_ingress(self, machine_id: str, rules: MachineRules) -> None:
        """Let a machine's own group have these rules and no others."""
        wanted = {
            ec2.Permission(item.range.protocol, item.range.from_port, item.range.to_port, source)
            for item in rules.ingress
            for source in item.sources
        }
        name = _group(self.model, machine_id)

        def change(driver: Any) -> None:
            for group in ec2.groups(driver, {"group-name": name}):
                ec2.set_permissions(driver, group, wanted)

        await self._call.run(change)

    async def doctor(self) -> Sequence[Finding]:
        """Say whether libcloud is there and the account answers."""
        if not self._has_library:
            fix = Fix(command=install_command("libcloud"))
            return [Finding(name="libcloud", ok=False, message="apache-libcloud is not installed", fix=fix)]
        try:
            await self._known_zones()
        except PushjujuError as error:
            return [Finding(name="account", ok=False, message=f"{error.message}: {error.detail}")]
        return [Finding(name="account", ok=True, message=f"{self._cloud.region} answers")]

    @cached_property
    def _has_library(self) -> bool:
        return importlib.util.find_spec("libcloud") is not None


def _group(model: ModelInfo, machine_id: str) -> str:
    return f"juju-{model.uuid}-{machine_id.replace('/', '-')}"


def _placement(text: str) -> tuple[str, str]:
    """Return (zone or subnet, value) of a directive; empty for none.

    Raises:
        NotValid: Another directive; the message is Juju's.
    """
    kind, equals, value = text.partition("=")
    if not text:
        return "", ""
    if not equals or kind not in ("zone", "subnet") or not value:
        raise NotValid(f"unknown placement directive: {text}")
    return kind, value
