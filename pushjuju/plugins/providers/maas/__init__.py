"""The built-in plugin `maas`: bare metal and virtual machines that a MAAS server manages.

The parts of the plugin are imported when used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pushjuju.core.errors import NotValid
from pushjuju.core.storage import Kind, Scope
from pushjuju.plugins.api.clouds import (
    Attr,
    CloudSpec,
    Credential,
    DetectedCredential,
    ProviderType,
    Question,
)
from pushjuju.plugins.api.providers import ModelInfo, Provider
from pushjuju.plugins.api.storage_types import MachineStorage, StorageProvider, StorageType
from pushjuju.plugins.hookspecs import hookimpl
from pushjuju.plugins.providers.maas import keys

if TYPE_CHECKING:
    from pushjuju.plugins.providers.maas.opening import Opening

PUSHJUJU_API = (1, 4)

_KIND = ProviderType(
    name="maas",
    summary="Metal As A Service",
    credential_schemas={
        "oauth1": (
            Attr(name="maas-oauth", summary="OAuth/API-key credentials for MAAS", required=True, secret=True),
        )
    },
    cloud_schema=(
        Attr(name="images", summary="base -> name of a boot image in MAAS", type="attrs"),
        Attr(name="pool", summary="the resource pool that machines are taken from"),
    ),
    features=frozenset({"start", "host-keys", "user-data", "poll", "installs", "spaces"}),
    questions=(Question(key="endpoint", text="the API endpoint url", kind="url"),),
)


@hookimpl
def pushjuju_provider_types() -> Sequence[ProviderType]:
    """Return the cloud type `maas`."""
    return [_KIND]


@hookimpl
def pushjuju_finalize_credential(cloud: CloudSpec, attributes: Mapping[str, str]) -> None:
    """Refuse a credential whose attribute is not an API key; leave every other one unchanged."""
    if cloud.type == "maas" and not keys.is_key(attributes.get("maas-oauth", "")):
        raise NotValid("maas-oauth is not a key of MAAS", hint="a key has the form CONSUMER:TOKEN:SECRET")


@hookimpl
def pushjuju_open_provider(cloud: CloudSpec, credential: Credential, model: ModelInfo) -> Provider | None:
    """Return the provider of a cloud of type `maas`, or None for another type."""
    if cloud.type != "maas":
        return None
    return _opening().provider(cloud, credential, model)


@hookimpl
def pushjuju_storage_types(cloud_type: str) -> Sequence[StorageType]:
    """Return the type of storage on the disks of MAAS machines."""
    if cloud_type != "maas":
        return []
    return [
        StorageType(
            name="maas",
            summary="a disk of the machine; MAAS chooses a machine with such a disk",
            kinds=frozenset({Kind.BLOCK}),
            scope=Scope.MACHINE,
            default=True,
            with_machine=True,
            attributes=(Attr(name="tags", summary="tags that the disk has in MAAS, separated by commas"),),
        )
    ]


@hookimpl
def pushjuju_open_storage(
    type_name: str, provider: Provider | None
) -> StorageProvider | MachineStorage | None:
    """Return the storage on the disks of MAAS machines, or None for another type."""
    if type_name != "maas":
        return None
    return _opening().storage(provider)


@hookimpl
def pushjuju_detect_credentials(cloud_type: str, environ: Mapping[str, str]) -> Sequence[DetectedCredential]:
    """Return the API key that MAAS's own tools store."""
    if cloud_type != "maas":
        return []
    return _opening().detect(environ)


def _opening() -> type[Opening]:
    # Commands for any cloud load this plugin, so the import waits until MAAS is needed.
    from pushjuju.plugins.providers.maas.opening import Opening

    return Opening
