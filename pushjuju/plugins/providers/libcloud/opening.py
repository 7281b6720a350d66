"""Opens the providers, firewalls and volumes of the clouds that libcloud supports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pushjuju.plugins.api.clouds import CloudSpec, Credential, DetectedCredential
from pushjuju.plugins.api.firewalls import Firewall
from pushjuju.plugins.api.providers import ModelInfo, Provider, Services
from pushjuju.plugins.api.storage_types import StorageProvider
from pushjuju.plugins.providers.libcloud.cloudprovider import CloudProvider
from pushjuju.plugins.providers.libcloud.detect import FINDERS
from pushjuju.plugins.providers.libcloud.drivers import open_adapter
from pushjuju.plugins.providers.libcloud.drivers.adapter import HasVolumes, Site
from pushjuju.plugins.providers.libcloud.drivers.vsphere import Vsphere
from pushjuju.plugins.providers.libcloud.firewall import SecurityGroups
from pushjuju.plugins.providers.libcloud.volumes import CloudVolumes, VsphereStorage


class Opening:
    """Functions that open the objects for the plugin's hooks."""

    @staticmethod
    def provider(
        cloud: CloudSpec,
        credential: Credential,
        model: ModelInfo,
        config: Mapping[str, Any],
        services: Services,
    ) -> Provider:
        """Return the provider of a cloud that has an adapter."""
        site = Site(cloud=cloud, credential=credential, model=model, config=config, services=services)
        return CloudProvider(open_adapter(site))

    @staticmethod
    def firewall(provider: Provider) -> Firewall | None:
        """Return the firewall with the security groups of a provider."""
        return SecurityGroups(provider) if isinstance(provider, CloudProvider) else None

    @staticmethod
    def storage(type_name: str, provider: Provider) -> StorageProvider | None:
        """Return the volumes of a provider."""
        if not isinstance(provider, CloudProvider):
            return None
        if type_name == "vsphere" and isinstance(provider.adapter, Vsphere):
            return VsphereStorage(provider, provider.adapter.disks)
        if not isinstance(provider.adapter, HasVolumes):
            return None
        return CloudVolumes(provider, provider.adapter)

    @staticmethod
    def detect(cloud_type: str, environ: Mapping[str, str]) -> Sequence[DetectedCredential]:
        """Return the credentials in the files and variables of the clouds' own tools."""
        return FINDERS[cloud_type](environ) if cloud_type in FINDERS else ()
