"""Storage on the disks of MAAS machines, which exist from the start to the release of the machine.

MAAS chooses a machine that has the disks which its storage needs; no disk is made later.
Mirrors: juju provider/maas/volumes.go (3.6)
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from pushjuju.core.errors import NotFound, NotSupported
from pushjuju.core.storage import Kind
from pushjuju.plugins.api.storage_types import StorageItem, StorageMade, StorageSeen
from pushjuju.plugins.providers.maas import disks
from pushjuju.plugins.providers.maas.documents import Document


class MaasStorage:
    """The storage on the disks of a provider's machines."""

    def __init__(self, document: Callable[[str], Awaitable[Document]]) -> None:
        self._document = document

    async def create(self, item: StorageItem) -> StorageMade:
        """Return the disk for which the machine was chosen."""
        disk = disks.of_volume(await self._document(item.instance_id), item.uuid)
        if disk is None:
            raise NotSupported(
                "a disk of MAAS comes with a new machine only",
                hint="name the storage in deploy or add-unit, or use the pool loop",
            )
        hardware_id, wwn = disks.hardware_ids(disk)
        return StorageMade(
            provider_id=f"{item.instance_id}/{disk['id']}",
            size=int(disk["size"]) // 2**20,
            hardware_id=hardware_id,
            wwn=wwn,
        )

    async def attach(self, item: StorageItem) -> StorageSeen:
        """Return how the machine finds the disk."""
        disk = disks.of_volume(await self._document(item.instance_id), item.uuid)
        if disk is None:
            raise NotFound(f"volume {item.provider_id} not found in MAAS")
        return disks.seen(disk)

    async def detach(self, item: StorageItem) -> None:
        """Do nothing: the disk stays in its machine."""

    async def destroy(self, item: StorageItem) -> None:
        """Do nothing: MAAS erases disks when the machine is released, when MAAS is configured to do so."""

    async def release(self, item: StorageItem) -> None:  # noqa: ARG002 - all are refused
        """Refuse: a disk cannot leave its machine."""
        raise NotSupported("a disk of MAAS cannot be released without its machine")

    async def find(self, provider_id: str, kind: Kind) -> StorageMade:
        """Refuse: the disk of another machine cannot be imported."""
        raise NotSupported(f"{kind} {provider_id} cannot be imported: a disk of MAAS comes with its machine")
