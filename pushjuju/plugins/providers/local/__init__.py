"""The built-in plugin `local`: machines on this host, by systemd-nspawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pushjuju.core.storage import Kind, Scope
from pushjuju.plugins.api.clouds import Attr, CloudSpec, ProviderType
from pushjuju.plugins.api.providers import ModelInfo, Provider, Services
from pushjuju.plugins.api.storage_types import MachineStorage, StorageProvider, StorageType
from pushjuju.plugins.hookspecs import hookimpl

if TYPE_CHECKING:
    from pushjuju.plugins.providers.local.opening import Opening

PUSHJUJU_API = (1, 1)

_CONFIG = (
    Attr(name="subnet", summary="IPv4 network of the machines; a free 10.x.y.0/24 when not set"),
    Attr(name="zones", summary="names of zones for the machines, all on this host", type="list"),
    Attr(name="machines-dir", summary="directory for the machines; by default the controller's"),
    Attr(
        name="stand-in",
        summary="whether this host's own release may replace a base",
        type="bool",
        default=True,
    ),
    Attr(name="packages", summary="packages to add to every base that is built", type="list"),
    Attr(name="bases", summary="base -> mmdebstrap, tarball or directory", type="attrs"),
)


@hookimpl
def pushjuju_provider_types() -> Sequence[ProviderType]:
    """Return the cloud type `local`; a cloud of that name always exists."""
    return [
        ProviderType(
            name="local",
            summary="machines on this host (systemd-nspawn)",
            regions=("default",),
            clouds=("local",),
            cloud_schema=_CONFIG,
            features=frozenset({"start", "doctor", "host-keys", "host"}),
            conflicts=(),
        )
    ]


@hookimpl
def pushjuju_open_provider(cloud: CloudSpec, model: ModelInfo, services: Services) -> Provider | None:
    """Return the provider of a local cloud, or None for another type."""
    if cloud.type != "local":
        return None
    return _opening().provider(cloud, model, services)


@hookimpl
def pushjuju_storage_types(cloud_type: str) -> Sequence[StorageType]:
    """Return the type of storage that outlives local machines."""
    if cloud_type != "local":
        return []
    return [
        StorageType(
            name="local",
            summary="an image on this host",
            kinds=frozenset({Kind.FILESYSTEM}),
            scope=Scope.MODEL,
            releasable=True,
        )
    ]


@hookimpl
def pushjuju_open_storage(
    type_name: str, provider: Provider | None
) -> StorageProvider | MachineStorage | None:
    """Return the storage of a local cloud, or None for another type."""
    if type_name != "local":
        return None
    return _opening().storage(provider)


def _opening() -> type[Opening]:
    # Commands for any cloud load this plugin, so the import waits until a local cloud is used.
    from pushjuju.plugins.providers.local.opening import Opening

    return Opening
