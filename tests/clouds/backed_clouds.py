"""A plugin for tests: clouds with an adapter whose instances have a machine of the cloud `local` behind them.

Everything that is asked of the cloud goes through libcloud to the server; only the boot is ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pushjuju.plugins.api.clouds import CloudSpec, Credential, ProviderType
from pushjuju.plugins.api.firewalls import Firewall
from pushjuju.plugins.api.providers import ModelInfo, Provider, Services
from pushjuju.plugins.api.storage_types import StorageProvider, StorageType
from pushjuju.plugins.firewalls.nftables.firewall import NftablesFirewall
from pushjuju.plugins.hookspecs import hookimpl
from pushjuju.plugins.providers import libcloud
from pushjuju.plugins.providers.libcloud.cloudprovider import CloudProvider
from pushjuju.plugins.providers.libcloud.drivers import ADAPTERS, open_adapter
from pushjuju.plugins.providers.libcloud.drivers.adapter import Site
from pushjuju.plugins.providers.libcloud.kinds import KINDS
from pushjuju.plugins.providers.libcloud.opening import SecurityGroups
from pushjuju.plugins.providers.libcloud.storagekinds import STORAGE
from tests.clouds.disks import Disks
from tests.clouds.standing import Standing

SUFFIX = "-here"


@hookimpl
def pushjuju_provider_types() -> Sequence[ProviderType]:
    """The same as these clouds in all but their names."""
    return [
        replace(kind, name=f"{kind.name}{SUFFIX}", public_clouds={})
        for kind in KINDS
        if kind.name in ADAPTERS
    ]


@hookimpl
def pushjuju_open_provider(
    cloud: CloudSpec,
    credential: Credential,
    model: ModelInfo,
    config: Mapping[str, Any],
    services: Services,
) -> Provider | None:
    """Open it."""
    if not cloud.type.endswith(SUFFIX) or cloud.type.removesuffix(SUFFIX) not in ADAPTERS:
        return None
    site = Site(cloud=cloud, credential=credential, model=model, config=config, services=services)
    return BackedCloud(site)


@hookimpl
def pushjuju_open_firewall(
    model: ModelInfo, provider_type: str, provider: Provider | None
) -> Firewall | None:
    """Guard by security groups, or by the machine's own rules, as the real ones do."""
    if isinstance(provider, BackedCloud):
        return SecurityGroups(provider)
    own = provider_type.endswith(SUFFIX) and provider_type.removesuffix(SUFFIX) in ADAPTERS
    return NftablesFirewall(model) if own else None


@hookimpl
def pushjuju_storage_types(cloud_type: str) -> Sequence[StorageType]:
    """Name the volumes of these clouds."""
    return STORAGE.get(cloud_type.removesuffix(SUFFIX), ()) if cloud_type.endswith(SUFFIX) else ()


@hookimpl(tryfirst=True)
def pushjuju_open_storage(type_name: str, provider: Provider | None) -> StorageProvider | None:
    """Give each volume a disk."""
    if not isinstance(provider, BackedCloud):
        return None
    found = libcloud.pushjuju_open_storage(type_name, provider)
    return Disks(found, provider, provider.folder) if found is not None else None


class BackedCloud(Standing, CloudProvider):
    """A cloud with machines."""

    def __init__(self, site: Site) -> None:
        plain = replace(site, cloud=replace(site.cloud, type=site.cloud.type.removesuffix(SUFFIX)))
        adapter = open_adapter(plain)
        adapter.look_s = 0.05
        super().__init__(adapter)
        self.stand(site.model, site.services)
        self.folder = site.services.data_dir
