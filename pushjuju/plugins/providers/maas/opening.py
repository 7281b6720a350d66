"""Opens the provider of MAAS, its disks, and the API keys that MAAS's tools store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pushjuju.plugins.api.clouds import CloudSpec, Credential, DetectedCredential
from pushjuju.plugins.api.providers import ModelInfo, Provider
from pushjuju.plugins.api.storage_types import MachineStorage, StorageProvider
from pushjuju.plugins.providers.maas.detect import find
from pushjuju.plugins.providers.maas.provider import MaasProvider


class Opening:
    """Functions that open the objects for the plugin's hooks."""

    @staticmethod
    def provider(cloud: CloudSpec, credential: Credential, model: ModelInfo) -> Provider:
        return MaasProvider(cloud=cloud, credential=credential, model=model)

    @staticmethod
    def storage(provider: Provider | None) -> StorageProvider | MachineStorage | None:
        """Return the disks of a provider of this plugin, or None for another provider."""
        return provider.storage() if isinstance(provider, MaasProvider) else None

    @staticmethod
    def detect(environ: Mapping[str, str]) -> Sequence[DetectedCredential]:
        """Return the API key that MAAS's own tools store."""
        return find(environ)
