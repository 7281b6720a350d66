"""Machines of the cloud `local` that stand for the instances of another one, in tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pushjuju.plugins.api.clouds import CloudSpec
from pushjuju.plugins.api.providers import Instance, ModelInfo, Services, Started, StartRequest
from pushjuju.plugins.api.targets import SSHTarget
from pushjuju.plugins.providers.local.provider import LocalProvider


class Standing:
    """What goes before the provider's class in the bases of one with machines behind its instances."""

    def stand(self, model: ModelInfo, services: Services) -> None:
        """Get ready."""
        here = CloudSpec(name="local", type="local")
        self._here = LocalProvider(cloud=here, model=model, services=services)
        self._remote = services.remote

    async def in_machine(self, instance: str, script: str) -> None:
        """Do what the hypervisor or udev would do."""
        (found,) = await self.get([instance])  # type: ignore[attr-defined]
        assert found is not None
        assert self._remote is not None
        done = await self._remote.run_script(await self.ssh_target(found), script, sudo=True)
        assert done.rc == 0, done

    async def start(self, request: StartRequest) -> Started:
        """Start an instance, and boot what stands for it."""
        started: Started = await super().start(request)  # type: ignore[misc]
        plain = replace(request, zone="", placement="", constraints={}, user_data={})
        booted = await self._here.start(plain)
        await self.furnish(started.instance, booted.instance, request)
        return replace(started, base=booted.base, host_keys=booted.host_keys)

    async def furnish(self, instance: Instance, booted: Instance, request: StartRequest) -> None:
        """Give a machine what came with its instance."""

    async def ssh_target(self, instance: Instance) -> SSHTarget:
        """Lead to the machine, if the cloud has the instance."""
        await super().ssh_target(instance)  # type: ignore[misc]
        found = await self.standing({instance.machine_id})
        return await self._here.ssh_target(found[0])

    async def standing(self, machines: set[str]) -> list[Instance]:
        """Return what stands for machines."""
        return [item for item in await self._here.list() if item.machine_id in machines]

    async def stop(self, ids: Sequence[str]) -> None:
        """End both."""
        gone = {item.machine_id for item in await self.get(ids) if item is not None}  # type: ignore[attr-defined]
        ending = await self.standing(gone)
        await self.strip(ending)
        await super().stop(ids)  # type: ignore[misc]
        await self._here.stop([item.id for item in ending])

    async def strip(self, booted: Sequence[Instance]) -> None:
        """Take from machines what would outlive them."""

    async def destroy_model(self) -> None:
        """End all of both."""
        await super().destroy_model()  # type: ignore[misc]
        await self._here.destroy_model()
