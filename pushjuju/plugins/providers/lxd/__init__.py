"""The built-in plugin `lxd`: containers and virtual machines of an LXD server or cluster.

The parts of the plugin are imported when used; pylxd itself is imported at the first call to a server.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pushjuju.core.storage import Kind, Scope
from pushjuju.plugins.api.clouds import Attr, CloudSpec, Credential, ProviderType, Question
from pushjuju.plugins.api.providers import ModelInfo, Provider, Services
from pushjuju.plugins.api.storage_types import MachineStorage, StorageProvider, StorageType
from pushjuju.plugins.api.targets import ContainerHost
from pushjuju.plugins.hookspecs import hookimpl

if TYPE_CHECKING:
    from pushjuju.plugins.providers.lxd.opening import Opening

PUSHJUJU_API = (1, 4)

_PROJECT = Attr(name="project", summary="The LXD project name to use for Juju's resources.")
_KIND = ProviderType(
    name="lxd",
    summary="LXD Container Hypervisor",
    credential_schemas={
        "empty": (),
        "certificate": (
            Attr(
                name="server-cert",
                summary="the path to the PEM-encoded LXD server certificate file",
                required=True,
                file_path=True,
            ),
            Attr(
                name="client-cert",
                summary="the path to the PEM-encoded LXD client certificate file",
                required=True,
                file_path=True,
            ),
            Attr(
                name="client-key",
                summary="the path to the PEM-encoded LXD client key file",
                required=True,
                secret=True,
                file_path=True,
            ),
        ),
        "interactive": (
            Attr(
                name="trust-token",
                summary="the LXD server's trust token (lxc config trust add)",
                required=True,
                secret=True,
            ),
        ),
    },
    cloud_schema=(
        Attr(name="images", summary="base -> alias or fingerprint of an image", type="attrs"),
        _PROJECT,
    ),
    config_schema=(_PROJECT,),
    features=frozenset({"start", "host-keys", "user-data", "poll", "charm-profiles", "host"}),
    conflicts=(),
    public_clouds={"localhost": {"description": "LXD Container Hypervisor", "regions": {"localhost": {}}}},
    questions=(
        Question(key="endpoint", text="the API endpoint url for the remote LXD server", kind="url"),
        Question(key="auth-types", kind="choices"),
        Question(key="regions", kind="regions"),
    ),
)


@hookimpl
def pushjuju_provider_types() -> Sequence[ProviderType]:
    """Return the cloud type `lxd`; a cloud `localhost` always exists."""
    return [_KIND]


@hookimpl
def pushjuju_open_provider(
    cloud: CloudSpec, credential: Credential, model: ModelInfo, config: Mapping[str, Any], services: Services
) -> Provider | None:
    """Return the provider of a cloud of type `lxd`, or None for another type."""
    if cloud.type != "lxd":
        return None
    return _opening().provider(cloud, credential, model, config, services)


@hookimpl
def pushjuju_finalize_credential(
    cloud: CloudSpec, auth_type: str, attributes: Mapping[str, str]
) -> tuple[str, Mapping[str, str]] | None:
    """Return a certificate that the server trusts, in exchange for a trust token of the server."""
    if cloud.type != "lxd" or auth_type != "interactive":
        return None
    return _opening().finalized(cloud.endpoint, attributes)


@hookimpl
def pushjuju_open_containers(
    kind: str, host: ContainerHost, model: ModelInfo, config: Mapping[str, Any], services: Services
) -> Provider | None:
    """Return the provider of LXD containers inside a machine, or None for another kind."""
    if kind != "lxd":
        return None
    return _opening().containers(host, model, config, services)


@hookimpl
def pushjuju_storage_types(cloud_type: str) -> Sequence[StorageType]:
    """Return the type of storage that outlives LXD's instances."""
    if cloud_type != "lxd":
        return []
    driver = Attr(
        name="driver",
        summary="the driver of the server's pool",
        default="dir",
        choices=("dir", "zfs", "btrfs", "lvm"),
    )
    pool = Attr(name="lxd-pool", summary="the server's name for the pool, made when missing", default="juju")
    return [
        StorageType(
            name="lxd",
            summary="a custom volume in a storage pool of the server",
            kinds=frozenset({Kind.FILESYSTEM}),
            scope=Scope.MODEL,
            releasable=True,
            default=True,
            pools={
                "lxd-zfs": {"driver": "zfs", "lxd-pool": "juju-zfs", "zfs.pool_name": "juju-lxd"},
                "lxd-btrfs": {"driver": "btrfs", "lxd-pool": "juju-btrfs"},
            },
            attributes=(driver, pool),
        )
    ]


@hookimpl
def pushjuju_open_storage(
    type_name: str, provider: Provider | None
) -> StorageProvider | MachineStorage | None:
    """Return the storage of an LXD server, or None for another type."""
    if type_name != "lxd":
        return None
    return _opening().storage(provider)


def _opening() -> type[Opening]:
    # Commands for any cloud load this plugin, so the import waits until LXD is needed.
    from pushjuju.plugins.providers.lxd.opening import Opening

    return Opening
