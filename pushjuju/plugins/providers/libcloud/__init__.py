"""The built-in plugin `libcloud`: public and private clouds through apache-libcloud.

Imports its parts only when used; libcloud itself is loaded at the first call to a cloud.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pushjuju.plugins.api.clouds import CloudSpec, Credential, DetectedCredential, ProviderType
from pushjuju.plugins.api.firewalls import Firewall
from pushjuju.plugins.api.providers import ModelInfo, Provider, Services
from pushjuju.plugins.api.storage_types import StorageProvider, StorageType
from pushjuju.plugins.hookspecs import hookimpl

PUSHJUJU_API = (1, 4)


@hookimpl
def pushjuju_provider_types() -> Sequence[ProviderType]:
    """Name the clouds that libcloud drives, with Juju's names for those that Juju has."""
    from pushjuju.plugins.providers.libcloud.kinds import KINDS

    return KINDS


@hookimpl
def pushjuju_finalize_credential(cloud: CloudSpec, auth_type: str, attributes: Mapping[str, str]) -> None:
    """Refuse what cannot be a key file of Google's; keep everything as it is."""
    if cloud.type == "gce" and auth_type == "jsonfile":
        from pushjuju.plugins.providers.libcloud import keyfiles

        keyfiles.read(attributes.get("file", ""))


@hookimpl
def pushjuju_open_provider(
    cloud: CloudSpec,
    credential: Credential,
    model: ModelInfo,
    config: Mapping[str, Any],
    services: Services,
) -> Provider | None:
    """Return the provider of a cloud that has one."""
    if cloud.type == "ec2":
        from pushjuju.plugins.providers.libcloud.ec2provider import Ec2Provider

        return Ec2Provider(cloud=cloud, credential=credential, model=model, config=config, services=services)
    from pushjuju.plugins.providers.libcloud.drivers import ADAPTERS, open_adapter

    if cloud.type not in ADAPTERS:
        return None
    from pushjuju.plugins.providers.libcloud.cloudprovider import CloudProvider
    from pushjuju.plugins.providers.libcloud.drivers.adapter import Site

    site = Site(cloud=cloud, credential=credential, model=model, config=config, services=services)
    return CloudProvider(open_adapter(site))


@hookimpl
def pushjuju_open_firewall(
    model: ModelInfo, provider_type: str, provider: Provider | None
) -> Firewall | None:
    """Guard machines by their security groups; in a cloud without such groups, machines guard themselves."""
    from pushjuju.plugins.providers.libcloud.drivers import ADAPTERS

    if provider is None and provider_type in ADAPTERS:
        from pushjuju.plugins.firewalls.nftables.firewall import NftablesFirewall

        return NftablesFirewall(model)
    if provider is None or (provider_type != "ec2" and provider_type not in ADAPTERS):
        return None
    from pushjuju.plugins.providers.libcloud.cloudprovider import CloudProvider
    from pushjuju.plugins.providers.libcloud.ec2provider import Ec2Provider
    from pushjuju.plugins.providers.libcloud.firewall import SecurityGroups

    return SecurityGroups(provider) if isinstance(provider, Ec2Provider | CloudProvider) else None


@hookimpl
def pushjuju_storage_types(cloud_type: str) -> Sequence[StorageType]:
    """Name the volumes of a cloud."""
    from pushjuju.plugins.providers.libcloud.storagekinds import STORAGE

    return STORAGE.get(cloud_type, ())


@hookimpl
def pushjuju_open_storage(type_name: str, provider: Provider | None) -> StorageProvider | None:
    """Return the volumes of a cloud that has an adapter."""
    from pushjuju.plugins.providers.libcloud.storagekinds import STORAGE

    if provider is None or type_name not in {item.name for known in STORAGE.values() for item in known}:
        return None
    from pushjuju.plugins.providers.libcloud.cloudprovider import CloudProvider
    from pushjuju.plugins.providers.libcloud.drivers.adapter import HasVolumes
    from pushjuju.plugins.providers.libcloud.ebsstorage import EbsStorage
    from pushjuju.plugins.providers.libcloud.ec2provider import Ec2Provider
    from pushjuju.plugins.providers.libcloud.volumes import CloudVolumes

    if isinstance(provider, Ec2Provider):
        return EbsStorage(provider)
    if type_name == "vsphere":
        from pushjuju.plugins.providers.libcloud.drivers.vsphere import Vsphere
        from pushjuju.plugins.providers.libcloud.vspherestorage import VsphereStorage

        if isinstance(provider, CloudProvider) and isinstance(provider.adapter, Vsphere):
            return VsphereStorage(provider, provider.adapter.disks)
    if not isinstance(provider, CloudProvider) or not isinstance(provider.adapter, HasVolumes):
        return None
    return CloudVolumes(provider, provider.adapter)


@hookimpl
def pushjuju_detect_credentials(cloud_type: str, environ: Mapping[str, str]) -> Sequence[DetectedCredential]:
    """Find what the clouds' own tools left in files and variables."""
    from pushjuju.plugins.providers.libcloud.detect import FINDERS

    found: Sequence[Any] = FINDERS[cloud_type](environ) if cloud_type in FINDERS else ()
    return found
