"""The provider `local`: machines on this host, by systemd-nspawn.

Reads (list, get, ssh_target) need no root rights; all other steps run in threads, as root or through sudo.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Any

from pushjuju.core.base import Base
from pushjuju.core.clock import to_iso
from pushjuju.core.cloudinit_script import to_script, unknown_keys
from pushjuju.core.constraints import ConstraintRules, Constraints
from pushjuju.core.errors import NotFound, NotValid, PushjujuError, unknown_placement
from pushjuju.core.status import InstanceStatus
from pushjuju.plugins.api import providers
from pushjuju.plugins.api.clouds import CloudSpec
from pushjuju.plugins.api.findings import Finding
from pushjuju.plugins.api.targets import SSHTarget
from pushjuju.plugins.providers.local import doctor as checks
from pushjuju.plugins.providers.local import limits
from pushjuju.plugins.providers.local.bases import cache_dir, find_cached, host_arch
from pushjuju.plugins.providers.local.machines import MachineSpec
from pushjuju.plugins.providers.local.network import parse_subnet
from pushjuju.plugins.providers.local.privileged import Call, caller, sudo_works
from pushjuju.plugins.providers.local.sources import BasesConfig
from pushjuju.plugins.providers.nspawn.cgroups import Cgroup
from pushjuju.plugins.providers.nspawn.layout import Layout, Record

_PARALLEL = 8
ZONE_TAG = "pushjuju-zone"
_UNSUPPORTED = frozenset(
    {
        "allocate-public-ip", "cpu-power", "image-id", "instance-role", "instance-type", "root-disk",
        "root-disk-source", "tags",
    }
)  # fmt: skip


class LocalProvider:
    """The machines of one model on this host."""

    def __init__(self, *, cloud: CloudSpec, model: providers.ModelInfo, services: providers.Services) -> None:
        """Read and check the cloud's table; change nothing on the host."""
        self._model = model
        self._services = services
        self._bases = BasesConfig.of(cloud.config)
        self._zones = _zone_names(cloud.config.get("zones", ()))
        self._subnet = str(cloud.config.get("subnet", ""))
        if self._subnet:
            parse_subnet(self._subnet)
        self._layout = Layout.of(services.data_dir, str(cloud.config.get("machines-dir", "")))
        self._cache = cache_dir(services.environ)
        self._call: Call = caller()
        self._threads = ThreadPoolExecutor(max_workers=_PARALLEL, thread_name_prefix="local-machines")
        self._building = asyncio.Lock()
        self._warned: set[str] = set()

    async def precheck(self, base: Base, constraints: Constraints, placement: str) -> None:
        """Refuse a machine that can never start on this host.

        Raises:
            NotValid: The placement, the architecture or the virtual machine is not possible here.
        """
        if placement and placement.removeprefix("zone=") not in self._zones:
            raise unknown_placement(placement)
        unknown = [zone for zone in constraints.get("zones") or () if zone not in self._zones]
        if self._zones and unknown:
            listed = " ".join(self._zones)
            raise NotValid(f"invalid constraint value: zones={unknown[0]}\nvalid values are: [{listed}]")
        arch = constraints.get("arch")
        if arch and arch != host_arch():
            raise NotValid(f'arch "{arch}" not valid: local machines have {host_arch()}')
        if constraints.get("virt-type") not in (None, "", "container"):
            raise NotValid(f'virt-type "{constraints["virt-type"]}" not valid: local machines are containers')
        if not self._bases.stand_in and self._bases.source(base, host_arch()) is None:
            raise NotFound(f"no root file system for base {base.display}")

    async def rules(self) -> ConstraintRules:
        """Return the rules for constraints; `root-disk` is ignored: machines share the disk of the host."""
        zones = {"zones": list(self._zones)} if self._zones else {}
        return ConstraintRules(
            unsupported=_UNSUPPORTED | ({"zones"} - zones.keys()),
            vocabulary={"arch": [host_arch()], "virt-type": ["container"], **zones},
        )

    async def zones(self) -> Sequence[providers.Zone]:
        """Return the zones in the cloud's table; without any, machines have no zone."""
        return [providers.Zone(name=name) for name in self._zones]

    async def derive_zones(self, request: providers.StartRequest) -> Sequence[str]:
        """Return the zone that a placement names."""
        return [request.placement.removeprefix("zone=")] if request.placement else []

    async def start(self, request: providers.StartRequest) -> providers.Started:
        """Make and boot a machine; return while it boots, about half a second before it answers SSH."""
        await self.precheck(request.base, request.constraints, request.placement)
        root = await self._base(request.base, request.progress)
        spec = MachineSpec(
            id=self._instance_id(request.machine_id),
            controller_uuid=self._model.controller_uuid,
            model_uuid=self._model.uuid,
            machine_id=request.machine_id,
            hostname=request.hostname or self._instance_id(request.machine_id),
            arch=host_arch(),
            created=to_iso(self._services.clock.now()),
            nonce=request.nonce,
            cores=request.constraints.get("cores"),
            mem=request.constraints.get("mem"),
            subnet=self._subnet,
            authorized_keys=request.authorized_keys,
            tags={**request.tags, **({ZONE_TAG: request.zone} if request.zone else {})},
            user_data=self._user_data(request),
        )
        request.progress(InstanceStatus.ALLOCATING, "starting machine")
        record = await self._create(spec, root)
        return providers.Started(
            instance=_instance(record, InstanceStatus.RUNNING, "Running"),
            base=Base.parse(record.base),
            nonce=request.nonce,
            host_keys=(record.host_key,),
        )

    async def _create(self, spec: MachineSpec, root: Mapping[str, Any]) -> Record:
        """Make the machine; end it again when the caller is cancelled meanwhile."""
        making = asyncio.ensure_future(self._privileged("create", {"spec": asdict(spec), "base": root}))
        try:
            answer = await asyncio.shield(making)
        except asyncio.CancelledError:
            # A thread cannot be stopped, so its machine is removed, unless another process adopted it.
            with contextlib.suppress(PushjujuError):
                await making
                await self._privileged("discard", {"id": spec.id, "created": spec.created})
            raise
        return Record.from_json(answer["record"])

    def _user_data(self, request: providers.StartRequest) -> str:
        left_out = unknown_keys(request.user_data)
        if left_out:
            self._warn_once(f"local machines leave out these keys of the user data: {', '.join(left_out)}")
        return to_script(request.user_data)

    def _warn_once(self, warning: str) -> None:
        if warning not in self._warned:
            self._warned.add(warning)
            self._services.warn(warning)

    def _instance_id(self, machine_id: str) -> str:
        """Return Juju's name for the instance of a machine: `juju-f3a1b2-0`."""
        return f"juju-{self._model.uuid[-6:]}-{machine_id.replace('/', '-')}"

    async def _base(self, base: Base, progress: providers.Progress) -> Mapping[str, Any]:
        found = find_cached(self._bases, base, self._cache)
        if found:
            return asdict(found)
        # Builds run one at a time; others would each block a thread while they wait for the lock.
        async with self._building:
            args = {"config": asdict(self._bases), "base": str(base), "cache": str(self._cache)}
            answer = await self._privileged("base", args, progress)
        if answer["warning"]:
            self._warn_once(answer["warning"])
        return answer

    async def stop(self, ids: Sequence[str]) -> None:
        """End machines and delete their data; unknown ids are no error."""
        known = [item for item in ids if self._layout.machine(item).exists()]
        results = await asyncio.gather(
            *(self._privileged("remove", {"ids": [item]}) for item in known), return_exceptions=True
        )
        for result in results:
            if isinstance(result, BaseException):
                raise result

    async def list(self) -> Sequence[providers.Instance]:
        """Return the machines of the model, running or not."""
        records = [record for record in self._layout.records() if record.model_uuid == self._model.uuid]
        return [self._seen(record) for record in records]

    async def get(self, ids: Sequence[str]) -> Sequence[providers.Instance | None]:
        """Return machines by id, with None for machines that have ended or belong to another model."""
        found = (self._find(item) for item in ids)
        return [self._seen(record) if record else None for record in found]

    def _find(self, instance_id: str) -> Record | None:
        try:
            record = self._layout.read(instance_id)
        except NotValid:
            return None
        return record if record and record.model_uuid == self._model.uuid else None

    def _seen(self, record: Record) -> providers.Instance:
        if not record.ready:
            return _instance(record, InstanceStatus.ALLOCATING, "Starting")
        if Cgroup.of(self._layout.cgroup(record.id)).populated():
            return _instance(record, InstanceStatus.RUNNING, "Running")
        return _instance(record, InstanceStatus.STOPPED, "Stopped")

    async def ssh_target(self, instance: providers.Instance) -> SSHTarget:
        """Return the address and the login as root, with the host key that `start` made.

        Raises:
            NotFound: The machine has ended.
        """
        record = self._find(instance.id)
        if record is None:
            raise NotFound(f"instance {instance.id} not found")
        return SSHTarget(host=record.address, user="root", host_keys=(record.host_key,))

    async def resume(self, instance_id: str) -> None:
        """Boot a machine again that was powered off, or that stopped with this host."""
        await self._privileged("resume", {"id": instance_id})

    async def volume_step(self, step: str, volume: str, args: Mapping[str, Any]) -> Mapping[str, Any]:
        """Do one step on a volume of the model and return its result; see the module `volumes`."""
        own = {"model_uuid": self._model.uuid, "created": to_iso(self._services.clock.now())}
        return await self._privileged("volume", {**own, **args, "step": step, "volume": volume})

    async def destroy_model(self) -> None:
        """End all machines of the model; remove the network when no other model has machines."""
        await self.stop(
            [record.id for record in self._layout.records() if record.model_uuid == self._model.uuid]
        )

    async def doctor(self) -> Sequence[Finding]:
        """Report what this host has, and what it lacks, for local machines."""
        sudo = os.geteuid() == 0 or await asyncio.to_thread(sudo_works)
        findings = [checks.rights(sudo=sudo), *await asyncio.to_thread(checks.look_at_host)]
        known, can_change = limits.values(), limits.changeable()
        findings += limits.findings(known, _host_mem_mib(), can_change=can_change)
        if sudo:
            answer = await self._privileged("probe", {"folder": str(self._layout.state)})
            findings += checks.kernel_findings(answer["problems"])
            findings.append(checks.forward_finding(answer["forward"]))
        return findings

    async def _privileged(
        self, operation: str, args: Mapping[str, Any], progress: providers.Progress = providers.no_progress
    ) -> Mapping[str, Any]:
        places = {"state": str(self._layout.state), "key": self._layout.key}
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._call, operation, {**places, **args}, progress)


def _instance(record: Record, status: InstanceStatus, message: str) -> providers.Instance:
    return providers.Instance(
        id=record.id,
        machine_id=record.machine_id,
        status=status,
        message=message,
        addresses=(providers.Address(value=record.address, cidr=record.cidr),),
        hardware=hardware(record, cores=os.cpu_count() or 1, mem=_host_mem_mib()),
        display_name=record.hostname,
        tags=dict(record.tags),
    )


def hardware(record: Record, *, cores: int, mem: int) -> providers.Hardware:
    """Return a machine's hardware: its limits, but at most the `cores` and `mem` (MiB) of this host."""
    return providers.Hardware(
        arch=record.arch,
        cores=min(record.cores or cores, cores),
        mem=min(record.mem or mem, mem),
        availability_zone=record.tags.get(ZONE_TAG, ""),
        virt_type="container",
    )


def _zone_names(given: object) -> tuple[str, ...]:
    """Return the zones in a cloud's table."""
    if not isinstance(given, (list, tuple)) or any(not isinstance(name, str) or not name for name in given):
        raise NotValid("`zones` of a local cloud must be a list of names")
    return tuple(dict.fromkeys(given))


def _host_mem_mib() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 1024**2
