"""A cloud of servers that the user lists: an example of a provider plugin.

It imports only what a third party may import: `pushjuju.core`, `pushjuju.plugins.hookspecs` and
`pushjuju.plugins.api`.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from pushjuju.core.base import Base
from pushjuju.core.constraints import ORDER, ConstraintRules, Constraints
from pushjuju.core.errors import NotFound, NotValid, ProviderError
from pushjuju.core.status import InstanceStatus
from pushjuju.plugins.api.clouds import Attr, CloudSpec, ProviderType
from pushjuju.plugins.api.findings import Finding
from pushjuju.plugins.api.providers import (
    Address,
    Hardware,
    Instance,
    ModelInfo,
    Services,
    Started,
    StartRequest,
    Zone,
)
from pushjuju.plugins.api.targets import SSHTarget
from pushjuju.plugins.hookspecs import hookimpl

PUSHJUJU_API = (1, 3)


@hookimpl
def pushjuju_provider_types() -> Sequence[ProviderType]:
    """Register the cloud type `pool`."""
    schema = (
        Attr(name="servers", summary="host or host:port of each server", type="list", required=True),
        Attr(name="base", summary="what runs on all of them", required=True),
        Attr(name="user", summary="who logs in", default="root"),
        Attr(name="zones", summary="server -> the zone that it is in", type="attrs"),
    )
    return [ProviderType(name="pool", summary="servers that you list", cloud_schema=schema)]


@hookimpl
def pushjuju_open_provider(cloud: CloudSpec, model: ModelInfo, services: Services) -> PoolProvider | None:
    """Return the provider of a pool. A plugin may leave out arguments that it does not need."""
    return PoolProvider(cloud, model, services) if cloud.type == "pool" else None


class PoolProvider:
    """Gives the servers of a pool to the machines of a model.

    A JSON file per controller records which machine has which server: server -> {model, machine}.
    """

    def __init__(self, cloud: CloudSpec, model: ModelInfo, services: Services) -> None:
        servers = cloud.config.get("servers", [])
        if not isinstance(servers, list) or not servers or "base" not in cloud.config:
            raise NotValid(f"cloud {cloud.name} needs `servers` and `base`")
        self._servers = [str(item) for item in servers]
        self._base = Base.parse(str(cloud.config["base"]))
        self._user = str(cloud.config.get("user", "root"))
        self._zones = {str(key): str(value) for key, value in dict(cloud.config.get("zones", {})).items()}
        self._model = model
        self._file = services.data_dir / "pool" / f"{cloud.name}.json"

    async def precheck(self, base: Base, constraints: Constraints, placement: str) -> None:  # noqa: ARG002
        """Refuse other bases, and placements that a list of servers cannot fulfil."""
        if not base.matches(self._base):
            raise NotValid(f"base {base.display} not valid: the servers run {self._base.display}")
        if placement and placement not in self._servers:
            raise NotValid(f"unknown placement directive: {placement}")

    async def rules(self) -> ConstraintRules:
        """Return rules that know zones and ignore all other constraints, because servers cannot change."""
        zones = sorted(set(self._zones.values()))
        return ConstraintRules(unsupported=frozenset(ORDER) - {"zones"}, vocabulary={"zones": zones})

    async def zones(self) -> Sequence[Zone]:
        """Return the zones, available when they have a free server; a nameless zone when none is set."""
        with self._given() as given:
            free = {self._zones.get(server, "") for server in self._servers if server not in given}
        return [Zone(name=name, available=name in free) for name in sorted({*self._zones.values(), *free})]

    async def derive_zones(self, request: StartRequest) -> Sequence[str]:
        """Return the zone of the server that the placement names."""
        return [self._zones.get(request.placement, "")] if request.placement else []

    async def start(self, request: StartRequest) -> Started:
        """Return a free server, or the server that the machine has already."""
        await self.precheck(request.base, request.constraints, request.placement)
        owner = {"model": self._model.uuid, "machine": request.machine_id}
        with self._given() as given:
            mine = next((server for server, item in given.items() if item == owner), None)
            here = [item for item in self._servers if request.zone in ("", self._zones.get(item, ""))]
            wanted = [request.placement] if request.placement else here
            server = mine or next((item for item in wanted if item not in given), None)
            if server is None:
                raise ProviderError(f"none of the {len(here)} servers is free")
            given[server] = owner
        return Started(instance=self._instance(server, request.machine_id), base=self._base)

    async def stop(self, ids: Sequence[str]) -> None:
        """Free the machines' servers."""
        with self._given() as given:
            for server in ids:
                if self._is_mine(given.get(server)):
                    del given[server]

    async def list(self) -> Sequence[Instance]:
        """Return the servers of the model."""
        with self._given() as given:
            mine = {server: owner for server, owner in given.items() if self._is_mine(owner)}
        return [self._instance(server, owner["machine"]) for server, owner in mine.items()]

    async def get(self, ids: Sequence[str]) -> Sequence[Instance | None]:
        """Return servers by name."""
        mine = {instance.id: instance for instance in await self.list()}
        return [mine.get(item) for item in ids]

    async def ssh_target(self, instance: Instance) -> SSHTarget:
        """Return the login; SSH learns the host key at the first connection."""
        if await self.get([instance.id]) == [None]:
            raise NotFound(f"instance {instance.id} not found")
        host, _, port = instance.id.partition(":")
        return SSHTarget(host=host, port=int(port or 22), user=self._user)

    async def destroy_model(self) -> None:
        """Free all servers of the model."""
        await self.stop([instance.id for instance in await self.list()])

    async def doctor(self) -> Sequence[Finding]:
        """Return how many servers are free."""
        with self._given() as given:
            free = len(self._servers) - len(given)
        message = f"{free} of {len(self._servers)} servers are free"
        return [Finding(name="servers", ok=free > 0, message=message, required=False)]

    def _is_mine(self, owner: Mapping[str, str] | None) -> bool:
        return owner is not None and owner["model"] == self._model.uuid

    def _instance(self, server: str, machine_id: str) -> Instance:
        host = server.partition(":")[0]
        address = Address(value=host, type="ipv4" if host.replace(".", "").isdigit() else "hostname")
        return Instance(
            id=server,
            machine_id=machine_id,
            status=InstanceStatus.RUNNING,
            message="Given out",
            addresses=(address,),
            hardware=Hardware(availability_zone=self._zones.get(server, "")),
        )

    @contextmanager
    def _given(self) -> Iterator[dict[str, dict[str, str]]]:
        """Yield server -> its holder, under a lock; write the caller's changes back."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(Path(f"{self._file}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            before = self._file.read_text(encoding="utf-8") if self._file.exists() else "{}"
            given = json.loads(before)
            yield given
            after = json.dumps(given, indent=1)
            if after != before:
                self._file.with_suffix(".new").write_text(after, encoding="utf-8")
                self._file.with_suffix(".new").replace(self._file)
        finally:
            os.close(lock)
