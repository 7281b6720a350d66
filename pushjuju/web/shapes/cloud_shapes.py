"""Shapes of the facade Cloud."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NotRequired, TypedDict

from pushjuju.core.clouds import Cloud as Definition
from pushjuju.core.clouds import Region as DefinedRegion
from pushjuju.core.errors import NotValid
from pushjuju.web.errors import Error
from pushjuju.web.shapes.common import checked_settings

Region = TypedDict(
    "Region",
    {
        "name": str,
        "endpoint": NotRequired[str],
        "identity-endpoint": NotRequired[str],
        "storage-endpoint": NotRequired[str],
    },
)
CloudShape = TypedDict(
    "CloudShape",
    {
        "type": str,
        "auth-types": list[str],
        "endpoint": NotRequired[str],
        "identity-endpoint": NotRequired[str],
        "storage-endpoint": NotRequired[str],
        "regions": list[Region],
        "is-controller-cloud": bool,
        "ca-certificates": NotRequired[list[str]],
        "skip-tls-verify": NotRequired[bool],
    },
)
CloudsResult = TypedDict("CloudsResult", {"clouds": dict[str, CloudShape]})
CloudResult = TypedDict("CloudResult", {"cloud": NotRequired[CloudShape], "error": NotRequired[Error]})


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionParams:
    name: str = ""
    endpoint: str = ""
    identity_endpoint: str = ""
    storage_endpoint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudParams:
    """The definition of a cloud."""

    type: str = ""
    auth_types: list[str] = field(default_factory=list)
    endpoint: str = ""
    identity_endpoint: str = ""
    storage_endpoint: str = ""
    regions: list[RegionParams] = field(default_factory=list)
    ca_certificates: list[str] = field(default_factory=list)
    skip_tls_verify: bool = False
    config: dict[str, Any] = field(default_factory=dict)
    region_config: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddCloud:
    name: str = ""
    cloud: CloudParams = field(default_factory=CloudParams)
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ModifyCloudAccess:
    """Access to clouds to grant or revoke."""

    user_tag: str = ""
    cloud_tag: str = ""
    action: str = ""
    access: str = ""


def definition_of(name: str, given: CloudParams) -> Definition:
    """Return the cloud that a client defines."""
    places: list[CloudParams | RegionParams] = [given, *given.regions]
    for place in places:
        for address in (place.endpoint, place.identity_endpoint, place.storage_endpoint):
            if address.startswith(("/", ".", "unix:", "file:")):
                raise NotValid(f'endpoint "{address}" is not an address of the network')
    settings: list[Mapping[str, Any]] = [given.config, *given.region_config.values()]
    for values in settings:
        checked_settings(values if isinstance(values, Mapping) else {})
    document = {
        "type": given.type,
        "auth-types": given.auth_types,
        "endpoint": given.endpoint,
        "identity-endpoint": given.identity_endpoint,
        "storage-endpoint": given.storage_endpoint,
        "regions": {region.name: _region(region).to_document() for region in given.regions},
        "ca-certificates": given.ca_certificates,
        "skip-tls-verify": given.skip_tls_verify,
        "config": given.config,
        "region-config": given.region_config,
    }
    return Definition.from_document(name, document)


def _region(given: RegionParams) -> DefinedRegion:
    return DefinedRegion(
        name=given.name,
        endpoint=given.endpoint,
        identity_endpoint=given.identity_endpoint,
        storage_endpoint=given.storage_endpoint,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudCredential:
    """The type and the attributes of a credential."""

    auth_type: str = ""
    attrs: dict[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggedCredential:
    tag: str = ""
    credential: CloudCredential = field(default_factory=CloudCredential)


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokeCredential:
    """A credential to remove; `force` removes a credential that models use, too."""

    tag: str = ""
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UserCloud:
    """A cloud, and the user whose credentials for the cloud to list."""

    user_tag: str = ""
    cloud_tag: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialName:
    """A credential, by the names of cloud and credential."""

    cloud_name: str = ""
    credential_name: str = ""
