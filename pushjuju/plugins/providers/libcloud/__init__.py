"""The built-in plugin `libcloud`: public and private clouds through apache-libcloud. Layer: plugins.

Imports its parts only when used; libcloud itself is loaded at the first call to a cloud.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pushjuju.plugins.hookspecs import hookimpl
from pushjuju.plugins.types import (
    CloudSpec,
    Credential,
    DetectedCredential,
    Firewall,
    ModelInfo,
    Provider,
    ProviderType,
    Services,
)

PUSHJUJU_API = (1, 3)


@hookimpl
def pushjuju_provider_types() -> Sequence[ProviderType]:
    """Name the clouds that libcloud drives, with Juju's names for those that Juju has."""
    from pushjuju.plugins.providers.libcloud.kinds import KINDS

    return KINDS


@hookimpl
def pushjuju_open_provider(
    cloud: CloudSpec,
    credential: Credential,
    model: ModelInfo,
    config: Mapping[str, Any],
    services: Services,
) -> Provider | None:
    """Return the provider of a cloud that has one."""
    if cloud.type != "ec2":
        return None
    from pushjuju.plugins.providers.libcloud.ec2provider import Ec2Provider

    return Ec2Provider(cloud=cloud, credential=credential, model=model, config=config, services=services)


@hookimpl
def pushjuju_open_firewall(provider_type: str, provider: Provider | None) -> Firewall | None:
    """Guard machines of EC2 by the security group that each of them has."""
    if provider_type != "ec2":
        return None
    from pushjuju.plugins.providers.libcloud.ec2provider import Ec2Provider
    from pushjuju.plugins.providers.libcloud.firewall import SecurityGroups

    return SecurityGroups(provider) if isinstance(provider, Ec2Provider) else None


@hookimpl
def pushjuju_detect_credentials(cloud_type: str, environ: Mapping[str, str]) -> Sequence[DetectedCredential]:
    """Find what the clouds' own tools left in files and variables."""
    from pushjuju.plugins.providers.libcloud.detect import FINDERS

    found: Sequence[Any] = FINDERS[cloud_type](environ) if cloud_type in FINDERS else ()
    return found
