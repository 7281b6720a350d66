"""Opens the provider of machines on this host, and their storage."""

from __future__ import annotations

from pushjuju.plugins.api.clouds import CloudSpec
from pushjuju.plugins.api.providers import ModelInfo, Provider, Services
from pushjuju.plugins.api.storage_types import StorageProvider
from pushjuju.plugins.providers.local.provider import LocalProvider
from pushjuju.plugins.providers.local.storage import LocalStorage


class Opening:
    """Functions that open the objects for the plugin's hooks."""

    @staticmethod
    def provider(cloud: CloudSpec, model: ModelInfo, services: Services) -> Provider:
        """Return the provider of a local cloud."""
        return LocalProvider(cloud=cloud, model=model, services=services)

    @staticmethod
    def storage(provider: Provider | None) -> StorageProvider | None:
        """Return the storage of a provider of this plugin, or None for another provider."""
        return LocalStorage(provider) if isinstance(provider, LocalProvider) else None
