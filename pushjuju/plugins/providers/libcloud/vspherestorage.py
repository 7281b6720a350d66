"""Disks of vSphere machines as storage, which belongs to a machine and ends with it."""

from __future__ import annotations

from pushjuju.core.errors import NotFound, NotSupported
from pushjuju.core.storage import Kind
from pushjuju.plugins.api.storage_types import StorageItem, StorageMade, StorageSeen
from pushjuju.plugins.providers.libcloud.calls import Gone
from pushjuju.plugins.providers.libcloud.cloudprovider import CloudProvider
from pushjuju.plugins.providers.libcloud.drivers.vsphere_disks import VmDisks

_STAYS = "disks of vSphere belong to their machine and cannot be released or imported"


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
