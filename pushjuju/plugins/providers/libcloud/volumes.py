"""Storage for every cloud whose adapter has volumes.

A volume is found by the item's uuid, so that a step that was interrupted is not done twice.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable

from pushjuju.core.errors import Conflict, NotFound, NotSupported, NotValid, ProviderError
from pushjuju.core.storage import Kind
from pushjuju.plugins.api.storage_types import StorageItem, StorageMade, StorageSeen
from pushjuju.plugins.providers.libcloud.calls import Gone
from pushjuju.plugins.providers.libcloud.cloudprovider import CloudProvider
from pushjuju.plugins.providers.libcloud.drivers.adapter import HasVolumes, Seen, Volume
from pushjuju.plugins.providers.libcloud.drivers.vsphere_disks import VmDisks

READY_S = 180.0
INSTANCE_LOOKS = 5  # polls of a volume between two checks of the instance that waits for it
_STAYS = "disks of vSphere belong to their machine and cannot be released or imported"


class CloudVolumes:
    """The volumes of one model.

    Args:
        adapter: The provider's adapter, which has volumes.
    """

    def __init__(self, provider: CloudProvider, adapter: HasVolumes) -> None:
        self._provider = provider
        self._adapter = adapter
        self._model = provider.adapter.site.model.uuid
        self._look_s = provider.adapter.look_s

    async def create(self, item: StorageItem) -> StorageMade:
        """Make a volume, or return the volume that an earlier call made for this item."""
        found = await self._made(item)
        if found is None:
            holder = await self._provider.seen(item.instance_id) if item.instance_id else None
            found = await self._make(item, holder)
        ready = await self._until(found.id, lambda volume: volume.ready)
        return _told(ready)

    async def _make(self, item: StorageItem, holder: Seen | None) -> Volume:
        tried = False

        def once(driver: object) -> Volume:
            nonlocal tried
            if tried:  # an earlier request may have succeeded although its answer was lost
                for volume in self._adapter.volumes(driver):
                    if volume.uuid == item.uuid:
                        return volume
            tried = True
            return self._adapter.make_volume(driver, item, holder)

        return await self._provider.ask(once)

    async def _made(self, item: StorageItem) -> Volume | None:
        listed = await self._provider.ask(self._adapter.volumes)
        return next((volume for volume in listed if item.uuid and volume.uuid == item.uuid), None)

    async def attach(self, item: StorageItem) -> StorageSeen:
        """Attach a volume to its instance, and wait until it is attached."""
        volume = await self._volume(item.provider_id)
        others = [name for name in volume.holders if name != item.instance_id]
        if others:
            raise Conflict(f"volume {volume.id} is attached to instance {others[0]}")
        if item.instance_id not in volume.holders:
            free = await self._until(volume.id, lambda now: now.ready, item.instance_id)
            await self._provider.ask(
                lambda driver: self._adapter.attach_volume(driver, free, item.instance_id)
            )
        there = await self._until(
            volume.id, lambda now: now.ready and item.instance_id in now.holders, item.instance_id
        )
        return await self._provider.ask(
            lambda driver: self._adapter.see_volume(driver, there, item.instance_id)
        )

    async def detach(self, item: StorageItem) -> None:
        """Detach a volume from its instance; a missing volume or instance is no error."""
        try:
            volume = await self._volume(item.provider_id)
            if item.instance_id in volume.holders:
                await self._provider.ask(
                    lambda driver: self._adapter.detach_volume(driver, volume, item.instance_id)
                )
                await self._until(volume.id, lambda now: now.ready and item.instance_id not in now.holders)
        except NotFound:
            return

    async def destroy(self, item: StorageItem) -> None:
        try:
            volume = await self._volume(item.provider_id) if item.provider_id else await self._made(item)
            if volume is None:
                return
            if volume.holders:
                raise Conflict(f"volume {volume.id} is attached to instance {volume.holders[0]}")
            if not volume.ready:  # the cloud has not noticed yet that the instance ended
                await self._until(volume.id, lambda now: now.ready)
            await self._provider.ask(lambda driver: self._adapter.delete_volume(driver, volume))
        except NotFound:
            return

    async def release(self, item: StorageItem) -> None:
        """Remove the model's marks from a volume, so that any model can import the volume."""
        volume = await self._volume(item.provider_id)
        await self._provider.ask(lambda driver: self._adapter.own_volume(driver, volume, ""))

    async def find(self, provider_id: str, kind: Kind) -> StorageMade:
        """Return a volume that belongs to no model, and mark it as the model's.

        Raises:
            NotFound: The volume does not exist.
        """
        if kind is not Kind.BLOCK:
            raise NotValid("this cloud has volumes only")
        volume = await self._volume(provider_id)
        if volume.model and volume.model != self._model:
            raise Conflict(f"volume {provider_id} belongs to model {volume.model}")
        if volume.holders:
            raise Conflict(f"volume {provider_id} is attached to instance {volume.holders[0]}")
        await self._provider.ask(lambda driver: self._adapter.own_volume(driver, volume, self._model))
        return _told(volume)

    async def _volume(self, name: str) -> Volume:
        try:
            found = await self._provider.ask(lambda driver: self._adapter.volume(driver, name))
        except Gone:
            found = None
        if found is None:
            raise NotFound(f"volume {name} not found")
        return found

    async def _until(self, name: str, holds: Callable[[Volume], bool], instance: str = "") -> Volume:
        """Poll a volume until a condition holds, and return the volume.

        Args:
            instance: The instance that waits for the volume; when it ends, the wait fails. Empty for none.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + READY_S
        looks = itertools.count(1)
        while True:
            volume = await self._volume(name)
            if volume.failed:
                raise ProviderError(f"volume {name} failed", detail=volume.failed)
            if holds(volume):
                return volume
            if loop.time() > end:
                raise ProviderError(f"volume {name} was not ready in {READY_S:.0f} s")
            if instance and next(looks) % INSTANCE_LOOKS == 0 and await self._provider.seen(instance) is None:
                raise ProviderError(f"volume {name} cannot be attached: instance {instance} is gone")
            await asyncio.sleep(self._look_s)


def _told(volume: Volume) -> StorageMade:
    return StorageMade(provider_id=volume.id, size=volume.size)


class VsphereStorage:
    """The disks of one model's machines."""

    def __init__(self, provider: CloudProvider, disks: VmDisks) -> None:
        self._provider = provider
        self._disks = disks

    async def create(self, item: StorageItem) -> StorageMade:
        """Add a disk to the machine, or return the disk that an earlier call made for this item."""
        vm = item.instance_id
        if not vm or await self._provider.seen(vm) is None:
            raise NotFound(f"machine {vm or 'of the disk'} not found")
        return await self._provider.ask(lambda driver: self._disks.make(driver, vm, item))

    async def attach(self, item: StorageItem) -> StorageSeen:
        """Return how the machine finds the disk; a disk is attached since it was made."""
        return self._disks.see(item.provider_id)

    async def detach(self, item: StorageItem) -> None:
        """Do nothing: the disk stays with its machine until it is destroyed."""

    async def destroy(self, item: StorageItem) -> None:
        """Remove a disk from its machine and delete it; a missing disk is no error."""
        vm = item.instance_id or item.provider_id.partition("/")[0]
        if not vm or await self._provider.seen(vm) is None:
            return  # the disk ended with its machine
        try:
            await self._provider.ask(lambda driver: self._disks.drop(driver, vm, item))
        except Gone:
            return

    async def release(self, item: StorageItem) -> None:  # noqa: ARG002
        """Refuse: a disk cannot leave its machine."""
        raise NotSupported(_STAYS)

    async def find(self, provider_id: str, kind: Kind) -> StorageMade:  # noqa: ARG002
        """Refuse: disks of other machines cannot be imported."""
        raise NotSupported(_STAYS)
