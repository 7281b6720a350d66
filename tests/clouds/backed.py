"""A plugin for tests: EC2 whose instances have a machine of the cloud `local` behind them.

Everything that is asked of the cloud goes through libcloud to the server; only the boot is ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pushjuju.plugins.api.clouds import CloudSpec, Credential, ProviderType
from pushjuju.plugins.api.firewalls import Firewall
from pushjuju.plugins.api.providers import ModelInfo, Provider, Services
from pushjuju.plugins.api.storage_types import MachineStorage, StorageProvider, StorageType
from pushjuju.plugins.hookspecs import hookimpl
from pushjuju.plugins.providers.libcloud.ebsstorage import EbsStorage
from pushjuju.plugins.providers.libcloud.ec2provider import Ec2Provider
from pushjuju.plugins.providers.libcloud.firewall import SecurityGroups
from pushjuju.plugins.providers.libcloud.kinds import KINDS
from pushjuju.plugins.providers.libcloud.storagekinds import STORAGE
from tests.clouds.disks import Disks
from tests.clouds.standing import Standing

KIND = "ec2-here"


@hookimpl
def pushjuju_provider_types() -> Sequence[ProviderType]:
    """The same as EC2 in all but its name."""
    return [replace(kind, name=KIND, public_clouds={}) for kind in KINDS if kind.name == "ec2"]


@hookimpl
def pushjuju_open_provider(
    cloud: CloudSpec,
    credential: Credential,
    model: ModelInfo,
    config: Mapping[str, Any],
    services: Services,
) -> Provider | None:
    """Open it."""
    if cloud.type != KIND:
        return None
    return Backed(cloud=cloud, credential=credential, model=model, config=config, services=services)


@hookimpl
def pushjuju_open_firewall(provider_type: str, provider: Provider | None) -> Firewall | None:
    """Guard by security groups."""
    return SecurityGroups(provider) if provider_type == KIND and isinstance(provider, Backed) else None


@hookimpl
def pushjuju_storage_types(cloud_type: str) -> Sequence[StorageType]:
    """Name EC2's volumes."""
    return STORAGE["ec2"] if cloud_type == KIND else ()


@hookimpl(tryfirst=True)
def pushjuju_open_storage(
    type_name: str, provider: Provider | None
) -> StorageProvider | MachineStorage | None:
    """Give each volume a disk."""
    if not isinstance(provider, Backed) or type_name != "ebs":
        return None
    return Disks(EbsStorage(provider), provider, provider.folder)


class Backed(Standing, Ec2Provider):
    """EC2 with machines."""

    def __init__(self, *, cloud: CloudSpec, model: ModelInfo, services: Services, **more: Any) -> None:
        super().__init__(cloud=cloud, model=model, services=services, **more)
        self.stand(model, services)
        self.folder = services.data_dir
