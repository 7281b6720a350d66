"""The built-in plugin `lxd`: containers and virtual machines of an LXD server or cluster. Layer: plugins.

Imports its parts only when used; pylxd itself is loaded at the first call to a server.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pushjuju.plugins.hookspecs import hookimpl
from pushjuju.plugins.types import (
    Attr,
    CloudSpec,
    Credential,
    ModelInfo,
    Provider,
    ProviderType,
    Question,
    Services,
)

PUSHJUJU_API = (1, 3)

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
    },
    cloud_schema=(Attr(name="images", summary="base -> alias or fingerprint of an image", type="attrs"),),
    config_schema=(Attr(name="project", summary="The LXD project name to use for Juju's resources."),),
    features=frozenset({"start", "host-keys", "user-data", "poll"}),
    public_clouds={
        "localhost": {"description": "LXD Container Hypervisor", "regions": {"localhost": {}}},
    },
    questions=(
        Question(key="endpoint", text="the API endpoint url for the remote LXD server", kind="url"),
        Question(key="auth-types", kind="choices"),
        Question(key="regions", kind="regions"),
    ),
)


@hookimpl
def pushjuju_provider_types() -> Sequence[ProviderType]:
    """Name the cloud type `lxd`; a cloud `localhost` is always there."""
    return [_KIND]


@hookimpl
def pushjuju_open_provider(
    cloud: CloudSpec,
    credential: Credential,
    model: ModelInfo,
    config: Mapping[str, Any],
    services: Services,
) -> Provider | None:
    """Return the provider of a cloud of type `lxd`."""
    if cloud.type != "lxd":
        return None
    from pushjuju.plugins.providers.lxd.provider import LxdProvider

    return LxdProvider(cloud=cloud, credential=credential, model=model, config=config, services=services)
