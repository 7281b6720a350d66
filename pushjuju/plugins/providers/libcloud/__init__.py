"""The built-in plugin `libcloud`: public and private clouds through apache-libcloud.

The parts of the plugin are imported when used; libcloud itself is imported at the first call to a cloud.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pushjuju.plugins.api.clouds import CloudSpec, Credential, DetectedCredential, ProviderType
from pushjuju.plugins.api.firewalls import Firewall
from pushjuju.plugins.api.providers import ModelInfo, Provider, Services
from pushjuju.plugins.api.storage_types import StorageProvider, StorageType
from pushjuju.plugins.firewalls.nftables import firewall as nftables
from pushjuju.plugins.hookspecs import hookimpl
from pushjuju.plugins.providers.libcloud import keyfiles, kinds, storagekinds
from pushjuju.plugins.providers.libcloud.drivers import ADAPTERS

if TYPE_CHECKING:
    from pushjuju.plugins.providers.libcloud.opening import Opening

PUSHJUJU_API = (1, 4)


@hookimpl
def pushjuju_provider_types() -> Sequence[ProviderType]:
    """Return the clouds that libcloud supports, under Juju's names where Juju has them."""
    return kinds.KINDS


@hookimpl
def pushjuju_finalize_credential(cloud: CloudSpec, auth_type: str, attributes: Mapping[str, str]) -> None:
    """Refuse a credential whose attribute is not a key file of Google; leave every other one unchanged."""
    if cloud.type == "gce" and auth_type == "jsonfile":
        keyfiles.read(attributes.get("file", ""))


@hookimpl
def pushjuju_open_provider(
    cloud: CloudSpec, credential: Credential, model: ModelInfo, config: Mapping[str, Any], services: Services
) -> Provider | None:
    """Return the provider of a cloud that has an adapter, or None for other clouds."""
    if cloud.type not in ADAPTERS:
        return None
    return _opening().provider(cloud, credential, model, config, services)


@hookimpl
def pushjuju_open_firewall(
    model: ModelInfo, provider_type: str, provider: Provider | None
) -> Firewall | None:
    """Return security groups as the firewall, or nftables on the machines of a cloud without such groups."""
    if provider_type not in ADAPTERS:
        return None
    return nftables.NftablesFirewall(model) if provider is None else _opening().firewall(provider)


@hookimpl
def pushjuju_storage_types(cloud_type: str) -> Sequence[StorageType]:
    return storagekinds.STORAGE.get(cloud_type, ())


@hookimpl
def pushjuju_open_storage(type_name: str, provider: Provider | None) -> StorageProvider | None:
    """Return the volumes of a cloud that has an adapter for them."""
    if provider is None or type_name not in {
        item.name for known in storagekinds.STORAGE.values() for item in known
    }:
        return None
    return _opening().storage(type_name, provider)


@hookimpl
def pushjuju_detect_credentials(cloud_type: str, environ: Mapping[str, str]) -> Sequence[DetectedCredential]:
    """Find credentials in the files and variables of the clouds' own tools."""
    return _opening().detect(cloud_type, environ)


def _opening() -> type[Opening]:
    # Commands for any cloud load this plugin, so the import waits until libcloud is needed.
    from pushjuju.plugins.providers.libcloud.opening import Opening

    return Opening
