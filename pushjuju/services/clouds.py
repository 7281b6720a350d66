"""Clouds and their credentials, as people defined them. Layer: services.

`local` and `manual` are always there; others come from clouds.toml. Which keys a cloud needs is the
provider's knowledge.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pushjuju.core.errors import NotFound, NotValid
from pushjuju.state.datadir import DataDir

if TYPE_CHECKING:
    from pushjuju.plugins.types import CloudSpec, Credential

BUILT_IN: Mapping[str, str] = {"local": "local", "manual": "manual"}
DEFAULT_REGION = "default"


def definition(datadir: DataDir, name: str) -> dict[str, Any]:
    """Return a cloud's table, with its type.

    Raises:
        NotFound: There is no such cloud.
        NotValid: Its table says no type.
    """
    table = datadir.clouds().get(name)
    if table is None and name not in BUILT_IN:
        raise NotFound(
            f"cloud {name} not found", hint=f"define [clouds.{name}] in {datadir.root / 'clouds.toml'}"
        )
    found = {"type": BUILT_IN.get(name), **(table or {})}
    if not found["type"]:
        raise NotValid(f'cloud "{name}" has no type in {datadir.root / "clouds.toml"}')
    return found


def split(cloud: str) -> tuple[str, str]:
    """Return (cloud, region) of `cloud[/region]`."""
    name, _, region = cloud.partition("/")
    return name, region or DEFAULT_REGION


def open_spec(datadir: DataDir, name: str, region: str) -> CloudSpec:
    """Return a cloud as its provider wants it."""
    # Imported here: commands that only look start a tenth faster without it.
    from pushjuju.plugins.types import CloudSpec

    table = definition(datadir, name)
    config = {key: value for key, value in table.items() if key not in ("type", "endpoint")}
    return CloudSpec(
        name=name, type=table["type"], region=region, endpoint=table.get("endpoint", ""), config=config
    )


def open_credential(datadir: DataDir, cloud: str, name: str) -> Credential:
    """Return a credential; the empty one when the cloud needs none.

    Raises:
        NotFound: It is named, but not there.
    """
    from pushjuju.plugins.types import Credential

    table = datadir.credentials().get(cloud, {})
    if name and name not in table:
        raise NotFound(f'credential "{name}" for cloud "{cloud}" not found')
    attributes = dict(table.get(name, {}))
    return Credential(
        name=name,
        auth_type=str(attributes.pop("auth-type", "empty")),
        attributes={key: str(value) for key, value in attributes.items()},
    )


def document(datadir: DataDir, cloud: str, region: str, credential: str) -> dict[str, Any]:
    """Return a cloud with a credential, as `credential-get` tells of them."""
    spec, known = open_spec(datadir, cloud, region), open_credential(datadir, cloud, credential)
    found: dict[str, Any] = {
        "type": spec.type,
        "name": spec.name,
        "region": region,
        "endpoint": spec.endpoint,
    }
    found["credential"] = {"auth-type": known.auth_type, "attrs": dict(known.attributes)}
    return found
