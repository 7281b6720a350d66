"""The provider for every cloud with an adapter: it works on the machines of one model in one region.

Each instance carries its identity: model, machine, and the `nonce` of the request that made it. A repeated
start finds the instance of the first start by its identity; a start with another nonce replaces the instance.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any, TypeVar

from pushjuju.core import instance_types
from pushjuju.core.base import Base
from pushjuju.core.constraints import ConstraintRules, Constraints
from pushjuju.core.errors import (
    NotFound,
    NotSupported,
    NotValid,
    ProviderError,
    PushjujuError,
    QuotaExceeded,
    unknown_placement,
)
from pushjuju.core.extras import install_command
from pushjuju.core.firewall import MachineRules
from pushjuju.core.instance_types import InstanceType
from pushjuju.core.status import InstanceStatus
from pushjuju.plugins.api.clouds import Reached
from pushjuju.plugins.api.findings import Finding, Fix
from pushjuju.plugins.api.providers import Hardware, Instance, Started, StartRequest, Zone
from pushjuju.plugins.api.targets import SSHTarget
from pushjuju.plugins.providers import cloud_config
from pushjuju.plugins.providers.libcloud.calls import TRIES, Calls, Gone
from pushjuju.plugins.providers.libcloud.drivers.adapter import (
    Adapter,
    Guarding,
    HasVolumes,
    Identity,
    Order,
    Seen,
)

T = TypeVar("T")

SWEEPS = 60  # attempts to delete the model's shared resources while its instances end
_LONGER, _LONGEST = 1.5, 10  # machines poll less and less often, as clouds limit calls per minute
_CONFLICTS = ((frozenset({"instance-type"}), frozenset({"mem", "cores", "cpu-power"})),)


class CloudProvider:
    """The machines of one model in one region.

    Args:
        calls: Runs functions of the driver; by default made from the adapter.
    """

    def __init__(self, adapter: Adapter, calls: Calls | None = None) -> None:
        self.adapter = adapter
        self._cloud = adapter.site.cloud
        self._model = adapter.site.model
        images = self._cloud.config.get("images")
        self._images = dict(images) if isinstance(images, Mapping) else {}
        self._call = calls or Calls(adapter.connect, words=adapter.errors)
        self._types: Mapping[str, InstanceType] = {}
        self._zones: Sequence[tuple[str, bool]] | None = None

    async def ask(self, function: Callable[[Any], T]) -> T:
        """Return the result of a function of the driver; while the cloud is busy, the call is repeated."""
        return await self._call.run(function)

    # --- before a start -----------------------------------------------------------------------------------

    async def check(self) -> Reached:
        """Check the account with one harmless call, and name the costs of a machine."""
        account = await self._call.run(self.adapter.check, tries=2)
        picked = await self._picked({})
        price = ""
        if self.adapter.currency and 0 < picked.cost < float("inf"):
            price = f", about {picked.cost:.4f} {self.adapter.currency} an hour, and its disk"
        costs = f"No machine is started now. A machine without constraints is a {picked.name}{price}."
        return Reached(account=account, costs=costs)

    async def precheck(self, base: Base, constraints: Constraints, placement: str) -> None:  # noqa: ARG002
        """Refuse an unknown placement, type or zone, and anything that the cloud cannot do.

        Raises:
            NotValid: The cloud cannot make such a machine.
        """
        await self._picked(constraints)
        await self._call.run(lambda driver: self.adapter.refuse(driver, constraints))
        await self._placed(placement)

    async def rules(self) -> ConstraintRules:
        """Return the cloud's rules for constraints."""
        return ConstraintRules(
            unsupported=self.adapter.unsupported,
            conflicts=_CONFLICTS,
            vocabulary={
                "arch": list(self.adapter.arches),
                "instance-type": sorted(await self._known_types()),
                "zones": [name for name, _ in await self._known_zones()],
                **self.adapter.vocabulary(),
            },
        )

    async def zones(self) -> Sequence[Zone]:
        """Return the zones of the region, and whether they are available."""
        return [Zone(name=name, available=usable) for name, usable in await self._known_zones()]

    async def derive_zones(self, request: StartRequest) -> Sequence[str]:
        """Return the zone of the placement, or of the volumes that will be attached; empty for any zone."""
        adapter = self.adapter
        kind, place = await self._placed(request.placement)
        if kind == "zone":
            return [place]
        if kind:
            return [await self._call.run(lambda driver: adapter.zone_of(driver, place))]
        if not request.attached or not isinstance(adapter, HasVolumes):
            return []
        listed = await self._call.run(adapter.volumes)
        return sorted({item.zone for item in listed if item.id in request.attached and item.zone})[:1]

    async def _placed(self, placement: str) -> tuple[str, str]:
        """Return (zone, place) of `zone=NAME` or another directive; both are empty without a placement."""
        kind, equals, value = placement.partition("=")
        if not placement:
            return "", ""
        if not equals or kind not in self.adapter.directives or not value:
            raise unknown_placement(placement)
        if kind == "zone" and value not in {name for name, _ in await self._known_zones()}:
            raise NotValid(f'availability zone "{value}" not valid')
        return kind, value

    async def _known_zones(self) -> Sequence[tuple[str, bool]]:
        if self._zones is None:
            self._zones = await self._call.run(self.adapter.zones)
        return self._zones

    async def _known_types(self) -> Mapping[str, InstanceType]:
        if not self._types:
            self._types = {item.name: item for item in await self._call.run(self.adapter.types)}
        return self._types

    async def _picked(self, constraints: Constraints) -> InstanceType:
        types = (await self._known_types()).values()
        return instance_types.pick(types, self.adapter.sizing(constraints), region=self._cloud.region)

    # --- starting -----------------------------------------------------------------------------------------

    async def start(self, request: StartRequest) -> Started:
        """Start an instance, or return the instance that an earlier start with this request made.

        Raises:
            ProviderError: The cloud failed, or gave no address in time; what was made is deleted.
        """
        wanted = Identity.of(self._model.uuid, request.machine_id, request.nonce)
        found = await self._machines(request.machine_id)
        mine = [seen for seen in found if wanted.nonce and seen.identity == wanted]
        for seen in found:
            if seen not in mine[:1]:
                await self._end(seen)
        try:
            seen = mine[0] if mine else await self._create(request, wanted)
            seen = await self._while_it_lasts(seen, request)
        except PushjujuError:
            await self._undo(wanted)
            raise
        return Started(instance=self._instance(seen), base=request.base, nonce=request.nonce)

    async def _create(self, request: StartRequest, wanted: Identity) -> Seen:
        order = await self._order(request, wanted)
        request.progress(InstanceStatus.ALLOCATING, f"starting {order.size.name}")
        tried = False

        def once(driver: Any) -> Seen:
            nonlocal tried
            if tried:  # an earlier request may have succeeded although its answer was lost
                for seen in self.adapter.machines(driver, wanted.machine):
                    if seen.identity == wanted:
                        return seen
            tried = True
            return self.adapter.create(driver, order)

        return await self._call.run(once)

    async def _order(self, request: StartRequest, wanted: Identity) -> Order:
        constraints = request.constraints
        size = await self._picked(constraints)
        directive, _, place = request.placement.partition("=")
        arch = str(constraints.get("arch") or (size.arches[0] if len(size.arches) == 1 else "amd64"))
        order = Order(
            identity=wanted,
            name=request.hostname or f"juju-{self._model.uuid[-6:]}-{request.machine_id.replace('/', '-')}",
            size=size,
            base=request.base,
            arch=arch,
            image=str(constraints.get("image-id") or self._images.get(request.base.display) or ""),
            zone=request.zone,
            place="" if directive == "zone" else place,
            tags={**request.tags, **wanted.tags()},
            user_data=cloud_config.as_text(self._document(request)),
            keys=request.authorized_keys,
            root_disk=int(constraints.get("root-disk") or 0),
            constraints=constraints,
        )
        if len(order.user_data.encode()) > self.adapter.most_user_data:
            raise NotValid(f"the user data is larger than {self.adapter.most_user_data} bytes")
        return order

    def _document(self, request: StartRequest) -> Mapping[str, Any]:
        """Return the cloud-config document; for a machine that guards itself, with nftables."""
        document = dict(request.user_data)
        if document and not isinstance(self.adapter, Guarding):
            document["packages"] = [*(document.get("packages") or ()), "nftables"]
        return document

    async def _while_it_lasts(self, seen: Seen, request: StartRequest) -> Seen:
        """Wait until an instance has an address; fail once the cloud does not know the instance any more."""
        try:
            return await self._settled(seen, request)
        except Gone as gone:
            raise ProviderError(f"instance {seen.id} ended while it started", detail=gone.message) from gone

    async def _settled(self, seen: Seen, request: StartRequest) -> Seen:
        """Wait until an instance has an address."""
        loop = asyncio.get_running_loop()
        end, pause = loop.time() + self.adapter.address_s, self.adapter.look_s
        while True:
            if seen.status is InstanceStatus.PROVISIONING_ERROR:
                raise await self._failed(seen)
            settled = await self._call.run(partial(self._settle, seen, request.constraints))
            if settled is not None:
                return settled
            if loop.time() > end:
                raise ProviderError(f"instance {seen.id} got no address in {self.adapter.address_s:.0f} s")
            await asyncio.sleep(pause)
            pause = min(pause * _LONGER, self.adapter.look_s * _LONGEST)
            found = [item for item in await self._machines(request.machine_id) if item.id == seen.id]
            if not found:
                raise ProviderError(f"instance {seen.id} ended while it started")
            seen = found[0]

    async def _failed(self, seen: Seen) -> ProviderError:
        """Return the error for an instance that failed, with the reason that the cloud gives, if any."""
        try:
            text = await self._call.run(lambda driver: self.adapter.why(driver, seen), tries=2)
        except PushjujuError:
            text = seen.word
        if any(word in text.lower() for word in self.adapter.errors.quota):
            return QuotaExceeded(detail=text)
        return ProviderError(f"instance {seen.id} failed to start", detail=text)

    def _settle(self, seen: Seen, constraints: Constraints, driver: Any) -> Seen | None:
        return self.adapter.settle(driver, seen, constraints)

    async def _undo(self, wanted: Identity) -> None:
        """Delete what a failed start made, as far as the cloud allows; the next start finds the rest."""
        try:
            for seen in await self._machines(wanted.machine, tries=2):
                if seen.identity == wanted:
                    await self._end(seen)
        except PushjujuError:
            return

    # --- afterwards ---------------------------------------------------------------------------------------

    async def stop(self, ids: Sequence[str]) -> None:
        """End instances of the model; unknown ids are no error."""
        found = [seen for seen in await self._machines() if seen.id in set(ids)] if ids else []
        await asyncio.gather(*(self._end(seen) for seen in found))

    async def _end(self, seen: Seen) -> None:
        try:
            await self._call.run(lambda driver: self.adapter.end(driver, seen))
        except Gone:
            return

    async def list(self) -> Sequence[Instance]:
        await self._known_types()
        return [self._instance(seen) for seen in await self._machines()]

    async def get(self, ids: Sequence[str]) -> Sequence[Instance | None]:
        """Return instances by id, with None for instances that have ended or belong to another model."""
        if not ids:
            return []
        found = {item.id: item for item in await self.list()}
        return [found.get(name) for name in ids]

    async def seen(self, name: str) -> Seen | None:
        """Return an instance of the model in the adapter's form, or None when the instance has ended."""
        return next((seen for seen in await self._machines() if seen.id == name), None)

    async def ssh_target(self, instance: Instance) -> SSHTarget:
        """Return address and login: the user that the user data creates, or the user of the image.

        Raises:
            NotFound: The instance has ended.
        """
        (now,) = await self.get([instance.id])
        if now is None or not now.addresses:
            raise NotFound(f"instance {instance.id} not found")
        return SSHTarget(host=now.addresses[0].value, user=self.adapter.login)

    async def destroy_model(self) -> None:
        """End all instances of the model and delete their shared resources."""
        await asyncio.gather(*(self._end(seen) for seen in await self._machines()))
        for left in reversed(range(SWEEPS)):
            try:
                await self._call.run(self.adapter.sweep, tries=2)
            except PushjujuError:
                if not left:
                    raise
                await asyncio.sleep(self.adapter.look_s)
            else:
                return

    async def set_ingress(self, machine_id: str, rules: MachineRules) -> None:
        """Set the ingress rules of a machine to exactly these rules.

        Raises:
            NotSupported: The cloud has no security groups.
        """
        adapter = self.adapter
        if not isinstance(adapter, Guarding):
            raise NotSupported(f"clouds of type {self._cloud.type} have no security groups here")
        await self._call.run(lambda driver: adapter.set_ingress(driver, machine_id, rules))

    async def _machines(self, machine: str = "", tries: int = TRIES) -> Sequence[Seen]:
        found = await self._call.run(lambda driver: self.adapter.machines(driver, machine), tries)
        return [seen for seen in found if seen.identity.model == self._model.uuid]

    def _instance(self, seen: Seen) -> Instance:
        """Return an instance in the controller's form."""
        known = self._types.get(seen.size)
        return Instance(
            id=seen.id,
            status=seen.status,
            message=seen.word,
            addresses=seen.addresses,
            hardware=Hardware(
                arch=seen.arch or (known.arches[0] if known else ""),
                cores=known.cores if known else None,
                mem=known.mem if known else None,
                root_disk=(known.root_disk or None) if known else None,
                availability_zone=seen.zone,
            ),
            display_name=seen.name,
            tags=seen.tags,
            machine_id=seen.identity.machine,
        )

    async def doctor(self) -> Sequence[Finding]:
        """Report whether libcloud is installed and the account answers."""
        if find_spec("libcloud") is None:
            fix = Fix(command=install_command("libcloud"))
            return [Finding(name="libcloud", ok=False, message="apache-libcloud is not installed", fix=fix)]
        try:
            await self._call.run(self.adapter.check, tries=2)
        except PushjujuError as error:
            return [Finding(name="account", ok=False, message=f"{error.message}: {error.detail}")]
        where = self._cloud.region or self._cloud.name
        return [Finding(name="account", ok=True, message=f"{where} answers")]
