"""Disks of machines in vSphere as storage: they live on their machine, and go with it."""

from __future__ import annotations

from pushjuju.core.errors import NotFound, NotSupported
from pushjuju.core.storage import Kind
from pushjuju.plugins.api.storage_types import StorageItem, StorageMade, StorageSeen
from pushjuju.plugins.providers.libcloud.calls import Gone
from pushjuju.plugins.providers.libcloud.cloudprovider import CloudProvider
from pushjuju.plugins.providers.libcloud.drivers.vsphere_disks import VmDisks

_STAYS = "disks of vSphere go with their machine: they cannot be released or imported"


class VsphereStorage:
    """Disks of one model's machines."""

    def __init__(self, provider: CloudProvider, disks: VmDisks) -> None:
        self._provider = provider
        self._disks = disks

    async def create(self, item: StorageItem) -> StorageMade:
        """Add a disk to the machine, or find the one that was made for this item."""
        vm = item.instance_id
        if not vm or await self._provider.seen(vm) is None:
            raise NotFound(f"machine {vm or 'of the disk'} not found")
        return await self._provider.ask(lambda driver: self._disks.make(driver, vm, item))

    async def attach(self, item: StorageItem) -> StorageSeen:
        """Return where the machine sees it; it is there since it was made."""
        return self._disks.see(item.provider_id)

    async def detach(self, item: StorageItem) -> None:
        """Leave it: it is the machine's until it is destroyed."""

    async def destroy(self, item: StorageItem) -> None:
        """Detach a volume from its machine and delete it; a volume that is gone already is no error."""
        vm = item.instance_id or item.provider_id.partition("/")[0]
        if not vm or await self._provider.seen(vm) is None:
            return  # it went with its machine
        try:
            await self._provider.ask(lambda driver: self._disks.drop(driver, vm, item))
        except Gone:
            return

    async def release(self, item: StorageItem) -> None:  # noqa: ARG002
        """Refuse."""
        raise NotSupported(_STAYS)

    async def find(self, provider_id: str, kind: Kind) -> StorageMade:  # noqa: ARG002
        """Refuse."""
        raise NotSupported(_STAYS)
