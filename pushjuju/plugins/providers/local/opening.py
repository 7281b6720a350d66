"""Opens the provider of machines on this host, and their storage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.core.errors import NotValid
from pushjuju.core.storage import Kind
from pushjuju.plugins.api.clouds import CloudSpec
from pushjuju.plugins.api.providers import ModelInfo, Provider, Services
from pushjuju.plugins.api.storage_types import StorageItem, StorageMade, StorageProvider, StorageSeen
from pushjuju.plugins.providers.local.provider import LocalProvider
from pushjuju.plugins.providers.local.volumes import volume_id


class Opening:
    """Functions that open the objects for the plugin's hooks."""

    @staticmethod
    def provider(cloud: CloudSpec, model: ModelInfo, services: Services) -> Provider:
        return LocalProvider(cloud=cloud, model=model, services=services)

    @staticmethod
    def storage(provider: Provider | None) -> StorageProvider | None:
        """Return the storage of a provider of this plugin, or None for another provider."""
        return LocalStorage(provider) if isinstance(provider, LocalProvider) else None


class LocalStorage:
    """Filesystems that outlive machines: disk images on this host."""

    def __init__(self, provider: LocalProvider) -> None:
        self._provider = provider

    async def create(self, item: StorageItem) -> StorageMade:
        """Make an image with an empty file system."""
        args = {"uuid": item.uuid, "size": item.size, "tags": dict(item.tags)}
        return _made(await self._provider.volume_step("create", volume_id(item.uuid), args))

    async def attach(self, item: StorageItem) -> StorageSeen:
        """Mount the filesystem inside the machine."""
        args = {"instance": item.instance_id}
        answer = await self._provider.volume_step("attach", item.provider_id, args)
        return StorageSeen(source=str(answer["source"]))

    async def detach(self, item: StorageItem) -> None:
        """Unmount the filesystem from the machine."""
        await self._provider.volume_step("detach", item.provider_id, {"instance": item.instance_id})

    async def destroy(self, item: StorageItem) -> None:
        """Delete the image with its data."""
        await self._provider.volume_step("destroy", item.provider_id or volume_id(item.uuid), {})

    async def release(self, item: StorageItem) -> None:
        """Remove the model from the volume's record, so that any model can import the volume."""
        await self._provider.volume_step("release", item.provider_id, {})

    async def find(self, provider_id: str, kind: Kind) -> StorageMade:
        """Return a released filesystem, and record the model as its owner."""
        if kind is not Kind.FILESYSTEM:
            raise NotValid("local storage has filesystems only")
        return _made(await self._provider.volume_step("take-in", provider_id, {}))


def _made(answer: Mapping[str, Any]) -> StorageMade:
    return StorageMade(provider_id=str(answer["id"]), size=int(answer["size"]))
