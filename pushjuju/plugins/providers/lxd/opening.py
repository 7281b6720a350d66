"""Opens the providers of LXD, their storage and their trust."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.plugins.api.clouds import CloudSpec, Credential
from pushjuju.plugins.api.providers import ModelInfo, Provider, Services
from pushjuju.plugins.api.storage_types import MachineStorage, StorageProvider
from pushjuju.plugins.api.targets import ContainerHost
from pushjuju.plugins.providers.lxd.hosted import HostedLxd
from pushjuju.plugins.providers.lxd.provider import LxdProvider
from pushjuju.plugins.providers.lxd.trust import finalized


class Opening:
    """Functions that open the objects for the plugin's hooks."""

    finalized = staticmethod(finalized)

    @staticmethod
    def provider(
        cloud: CloudSpec,
        credential: Credential,
        model: ModelInfo,
        config: Mapping[str, Any],
        services: Services,
    ) -> Provider:
        return LxdProvider(cloud=cloud, credential=credential, model=model, config=config, services=services)

    @staticmethod
    def containers(
        host: ContainerHost, model: ModelInfo, config: Mapping[str, Any], services: Services
    ) -> Provider:
        """Return the provider of containers inside a machine."""
        return HostedLxd(host=host, model=model, config=config, services=services)

    @staticmethod
    def storage(provider: Provider | None) -> StorageProvider | MachineStorage | None:
        """Return the storage of a provider of this plugin, or None for another provider."""
        return provider.storage() if isinstance(provider, LxdProvider) else None
