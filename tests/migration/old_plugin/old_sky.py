"""A plugin of API 1.5 that imports from old addresses: a cloud, storage, a firewall, charms, a hook tool."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pushjuju.core.placement import Placement, PlacementKind

from pushjuju.core.base import Base
from pushjuju.core.constraints import ConstraintRules, Constraints
from pushjuju.core.errors import NotFound, NotValid
from pushjuju.core.firewall import MachineRules
from pushjuju.core.status import InstanceStatus
from pushjuju.core.storage import Kind, Scope
from pushjuju.plugins.charmtypes import CharmSourceType, SourceKind
from pushjuju.plugins.hookspecs import hookimpl
from pushjuju.plugins.types import (
    Address,
    Attr,
    CloudSpec,
    Finding,
    GuardedMachine,
    Hardware,
    HookToolFamily,
    Instance,
    ModelInfo,
    ProviderType,
    Services,
    SSHTarget,
    Started,
    StartRequest,
    StorageItem,
    StorageMade,
    StorageSeen,
    StorageType,
    Zone,
)

PUSHJUJU_API = (1, 5)
CLOUDLET = StorageType(
    name="cloudlet",
    summary="small clouds",
    kinds=frozenset({Kind.FILESYSTEM}),
    scope=Scope.MODEL,
    default=True,
)


@hookimpl
def pushjuju_provider_types():
    schema = (Attr(name="zones", summary="the zones of the sky", type="list", required=True),)
    return [ProviderType(name="sky", summary="machines in the sky", cloud_schema=schema)]


@hookimpl
def pushjuju_open_provider(cloud: CloudSpec, model: ModelInfo, services: Services):
    return Sky(cloud, model, services) if cloud.type == "sky" else None


@hookimpl
def pushjuju_hook_tools():
    return [HookToolFamily(name="weather", module="old_sky_tools")]


@hookimpl
def pushjuju_storage_types(cloud_type):
    return [CLOUDLET] if cloud_type == "sky" else []


@hookimpl
def pushjuju_open_storage(type_name, provider):
    return Cloudlets() if type_name == "cloudlet" and isinstance(provider, Sky) else None


@hookimpl
def pushjuju_open_firewall(provider_type):
    return Fence() if provider_type == "sky" else None


@hookimpl
def pushjuju_user_data(request: StartRequest, data: dict[str, Any]):
    data.setdefault("packages", []).append("umbrella")


@hookimpl
def pushjuju_charm_sources():
    accepts = lambda address: address.startswith("sky:")  # noqa: E731
    return [CharmSourceType(name="sky", kind=SourceKind.PLACE, summary="falls down", accepts=accepts)]


@hookimpl
def pushjuju_open_charm_source(type_name, address):
    return Place(address.removeprefix("sky:")) if type_name == "sky" else None


class Place:
    """A charm that falls from the sky."""

    def __init__(self, name: str) -> None:
        self.name = name

    def bring(self, work: Path) -> Path:
        if self.name != "rain":
            raise NotFound(f"no charm {self.name} in the sky")
        (work / "rain").mkdir()
        storage = "storage: {puddle: {type: filesystem, location: /srv/puddle}}"
        text = f"name: rain\nsummary: s\ndescription: d\nseries: [jammy]\n{storage}\n"
        (work / "rain/metadata.yaml").write_text(text)
        (work / "rain/dispatch").write_text("#!/bin/sh\n")
        (work / "rain/dispatch").chmod(0o755)
        return work / "rain"


class Sky:
    """Machines that are files, in zones."""

    def __init__(self, cloud: CloudSpec, model: ModelInfo, services: Services) -> None:
        self._zones = [str(zone) for zone in cloud.config["zones"]]
        self._folder = services.data_dir / "sky" / model.uuid

    async def precheck(self, base: Base, constraints: Constraints, placement: str) -> None:
        if placement and Placement.parse(placement).kind is not PlacementKind.PROVIDER:
            raise NotValid(f"unknown placement directive: {placement}")

    async def rules(self) -> ConstraintRules:
        return ConstraintRules(vocabulary={"zones": self._zones})

    async def zones(self):
        return [Zone(name=name, available=True) for name in self._zones]

    async def derive_zones(self, request: StartRequest):
        return []

    async def start(self, request: StartRequest) -> Started:
        request.progress("allocating", "a machine rises")
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / request.machine_id).write_text(request.zone)
        return Started(instance=self._instance(request.machine_id), base=request.base)

    def _instance(self, machine: str) -> Instance:
        zone = (self._folder / machine).read_text()
        return Instance(
            id=f"sky-{machine}",
            machine_id=machine,
            status=InstanceStatus.RUNNING,
            addresses=(Address(value="10.0.0.2", type="ipv4"),),
            hardware=Hardware(arch="amd64", cores=2, mem=2048, availability_zone=zone),
        )

    async def stop(self, ids) -> None:
        for item in ids:
            (self._folder / item.removeprefix("sky-")).unlink(missing_ok=True)

    async def list(self):
        return [self._instance(path.name) for path in self._folder.glob("*")]

    async def get(self, ids):
        known = {item.id: item for item in await self.list()}
        return [known.get(item) for item in ids]

    async def ssh_target(self, instance: Instance) -> SSHTarget:
        return SSHTarget(host="10.0.0.2", host_keys=("ssh-ed25519 AAAA",))

    async def destroy_model(self) -> None:
        await self.stop([item.id for item in await self.list()])

    async def doctor(self):
        return [Finding(name="sky", ok=True, message="blue")]


class Cloudlets:
    """Filesystems of the sky."""

    async def create(self, item: StorageItem) -> StorageMade:
        return StorageMade(provider_id=f"cloudlet-{item.uuid}", size=item.size)

    async def attach(self, item: StorageItem) -> StorageSeen:
        return StorageSeen(source="/var/lib/juju/storage/.cloudlet")

    async def detach(self, item: StorageItem) -> None:
        """Nothing holds a cloudlet."""

    async def destroy(self, item: StorageItem) -> None:
        """A cloudlet goes by itself."""


class Fence:
    """A firewall that writes down the rules on the machine."""

    async def apply(self, machine: GuardedMachine, rules: MachineRules) -> None:
        await machine.run(f"echo {len(rules.ingress)} >/etc/fence")

    async def clear(self, machine: GuardedMachine) -> None:
        await machine.run("rm /etc/fence")
