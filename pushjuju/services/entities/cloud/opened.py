"""Opens clouds and credentials: reads them in the form that providers take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pushjuju.core.clouds import DEFAULT_REGION, Cloud
from pushjuju.core.errors import NotFound
from pushjuju.plugins.api.clouds import CloudSpec, Credential
from pushjuju.services.entities.cloud.clouds import Folders, definition

if TYPE_CHECKING:
    from pushjuju.plugins.manager import PluginHost


def open_spec(places: Folders, name: str, region: str, host: PluginHost | None = None) -> CloudSpec:
    """Return a cloud with one of its regions, as its provider takes it."""
    return spec_of(definition(places, name, host), region)


def spec_of(cloud: Cloud, region: str) -> CloudSpec:
    """Return a cloud's definition with one of its regions, as the cloud's provider takes it.

    Args:
        region: A region of the cloud; any name for a cloud without regions.
    """
    found = cloud.region(region) if cloud.regions else None
    return CloudSpec(
        name=cloud.name,
        type=cloud.type,
        region=found.name if found else region or DEFAULT_REGION,
        endpoint=found.endpoint if found else cloud.endpoint,
        identity_endpoint=found.identity_endpoint if found else cloud.identity_endpoint,
        storage_endpoint=found.storage_endpoint if found else cloud.storage_endpoint,
        ca_certificates=cloud.ca_certificates,
        skip_tls_verify=cloud.skip_tls_verify,
        config=cloud.own,
    )


def open_credential(places: Folders, cloud: str, name: str) -> Credential:
    """Return a credential, or the empty credential when the name is empty."""
    if not name:
        return Credential()
    for place in places:
        if found := place.credentials(cloud).credentials.get(name):
            return Credential(name=name, auth_type=found.auth_type, attributes=found.attributes)
    raise NotFound(f'credential "{name}" for cloud "{cloud}" not found')


def document(places: Folders, cloud: str, region: str, credential: str) -> dict[str, object]:
    """Return a cloud with a credential, as `credential-get` prints them."""
    spec, known = open_spec(places, cloud, region), open_credential(places, cloud, credential)
    found: dict[str, object] = {
        "type": spec.type,
        "name": spec.name,
        "region": region,
        "endpoint": spec.endpoint,
    }
    found["credential"] = {"auth-type": known.auth_type, "attrs": dict(known.attributes)}
    return found
