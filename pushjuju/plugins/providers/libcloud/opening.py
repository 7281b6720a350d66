"""Opens the providers, firewalls and volumes of the clouds that libcloud supports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pushjuju.core.errors import ProviderError, RemoteFailed
from pushjuju.core.firewall import MachineRules
from pushjuju.plugins.api.clouds import CloudSpec, Credential, DetectedCredential
from pushjuju.plugins.api.firewalls import Firewall, GuardedMachine
from pushjuju.plugins.api.providers import ModelInfo, Provider, Services
from pushjuju.plugins.api.storage_types import StorageProvider
from pushjuju.plugins.providers.libcloud.cloudprovider import CloudProvider
from pushjuju.plugins.providers.libcloud.detect import FINDERS
from pushjuju.plugins.providers.libcloud.drivers import open_adapter
from pushjuju.plugins.providers.libcloud.drivers.adapter import HasVolumes, Site
from pushjuju.plugins.providers.libcloud.drivers.vsphere import Vsphere
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
        site = Site(cloud=cloud, credential=credential, model=model, config=config, services=services)
        return CloudProvider(open_adapter(site))

    @staticmethod
    def firewall(provider: Provider) -> Firewall | None:
        """Return the firewall with the security groups of a provider."""
        return SecurityGroups(provider) if isinstance(provider, CloudProvider) else None

    @staticmethod
    def storage(type_name: str, provider: Provider) -> StorageProvider | None:
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


class SecurityGroups:
    """The firewall of a cloud with security groups: each machine of the model has a group of its own."""

    def __init__(self, provider: CloudProvider) -> None:
        self._provider = provider

    async def apply(self, machine: GuardedMachine, rules: MachineRules) -> None:
        """Set the rules of the machine's group; the model's group lets the model's machines reach each other.

        Raises:
            RemoteFailed: The cloud refused the rules.
        """
        try:
            await self._provider.set_ingress(machine.machine_id, rules)
        except ProviderError as error:
            raise RemoteFailed(
                f"the security group of machine {machine.machine_id} was not changed: {error.message}",
                detail=error.detail,
            ) from error

    async def clear(self, machine: GuardedMachine) -> None:
        """Close every port except SSH."""
        await self.apply(machine, MachineRules())
