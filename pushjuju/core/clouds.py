"""Clouds and credentials as documents: clouds.yaml, credentials.yaml, and TOML files of the same form.

Mirrors: juju cloud/clouds.go, cloud/credentials.go (3.6)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from pushjuju.core.errors import NotFound, NotValid
from pushjuju.core.values import dataclass, regex

DEFAULT_REGION = "default"
EMPTY = "empty"
_CLOUD = regex(r"[a-zA-Z0-9][a-zA-Z0-9.-]{0,120}")
_CREDENTIAL = regex(r"[a-zA-Z][a-zA-Z0-9.@_+-]{0,250}")
_ENDPOINTS = ("endpoint", "identity-endpoint", "storage-endpoint")
_RESERVED = ("default-credential", "default-region")
_TEXTS = ("type", "description", *_ENDPOINTS)
KEYS = (
    *_TEXTS, "auth-types", "regions", "config", "region-config", "ca-certificates", "skip-tls-verify",
)  # fmt: skip
"""The keys that every cloud may have; other keys belong to the cloud's provider."""


def is_cloud(name: str) -> bool:
    """Return True when a text can name a cloud."""
    return bool(_CLOUD.fullmatch(name))


def is_credential(name: str) -> bool:
    """Return True when a text can name a credential."""
    return bool(_CREDENTIAL.fullmatch(name)) and name not in _RESERVED


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A region of a cloud; an empty endpoint means the endpoint of the cloud."""

    name: str
    endpoint: str = ""
    identity_endpoint: str = ""
    storage_endpoint: str = ""

    def to_document(self) -> dict[str, str]:
        """Return the region's own endpoints."""
        pairs = zip(_ENDPOINTS, (self.endpoint, self.identity_endpoint, self.storage_endpoint), strict=True)
        return {key: value for key, value in pairs if value}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cloud:
    """One cloud.

    Attributes:
        regions: The regions in the order of the document; the first is the default.
        config: Defaults for the configuration of the cloud's models; `region_config` has them by region.
        own: Keys that Juju does not have; the cloud's provider reads them.
    """

    name: str
    type: str
    description: str = ""
    auth_types: tuple[str, ...] = ()
    endpoint: str = ""
    identity_endpoint: str = ""
    storage_endpoint: str = ""
    regions: tuple[Region, ...] = ()
    config: Mapping[str, Any] = field(default_factory=dict)
    region_config: Mapping[str, Any] = field(default_factory=dict)
    ca_certificates: tuple[str, ...] = ()
    skip_tls_verify: bool = False
    own: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_document(cls, name: str, document: Any) -> Cloud:
        """Read a cloud.

        Raises:
            NotValid: The document is not a map, has no type, or a key has a value of the wrong kind.
        """
        if not is_cloud(name):
            raise NotValid(f'cloud name "{name}" not valid')
        if not isinstance(document, Mapping):
            raise NotValid(f"cloud {name}: expected a map")
        found = dict(document)
        texts = {key: _text(f"cloud {name}: {key}", found.pop(key, "")) for key in _TEXTS}
        if not texts["type"]:
            raise NotValid(f'cloud "{name}" has no type')
        return cls(
            name=name,
            type=texts["type"],
            description=texts["description"],
            auth_types=_texts(f"cloud {name}: auth-types", found.pop("auth-types", ())),
            endpoint=texts["endpoint"],
            identity_endpoint=texts["identity-endpoint"],
            storage_endpoint=texts["storage-endpoint"],
            regions=_regions(name, found.pop("regions", None)),
            config=_map(f"cloud {name}: config", found.pop("config", None)),
            region_config=_map(f"cloud {name}: region-config", found.pop("region-config", None)),
            ca_certificates=_texts(f"cloud {name}: ca-certificates", found.pop("ca-certificates", ())),
            skip_tls_verify=_bool(f"cloud {name}: skip-tls-verify", found.pop("skip-tls-verify", False)),
            own={key: value for key, value in found.items() if key not in ("name", "defined")},
        )

    def to_document(self) -> dict[str, object]:
        """Return the cloud as clouds.yaml has it: only the keys that are set, in Juju's order."""
        pairs: tuple[tuple[str, Any], ...] = (
            ("type", self.type),
            ("description", self.description),
            ("auth-types", list(self.auth_types)),
            ("endpoint", self.endpoint),
            ("identity-endpoint", self.identity_endpoint),
            ("storage-endpoint", self.storage_endpoint),
            ("regions", {region.name: region.to_document() for region in self.regions}),
            ("config", dict(self.config)),
            ("region-config", dict(self.region_config)),
            ("ca-certificates", list(self.ca_certificates)),
            ("skip-tls-verify", self.skip_tls_verify),
        )
        return {**{key: value for key, value in pairs if value}, **self.own}

    def region(self, name: str) -> Region:
        """Return a region by its name, in upper or lower case; empty endpoints become those of the cloud."""
        for region in self.regions or (Region(name=DEFAULT_REGION),):
            if region.name.lower() == name.lower():
                return Region(
                    name=region.name,
                    endpoint=region.endpoint or self.endpoint,
                    identity_endpoint=region.identity_endpoint or self.identity_endpoint,
                    storage_endpoint=region.storage_endpoint or self.storage_endpoint,
                )
        known = " ".join(f'"{region.name}"' for region in self.regions) or "(cloud has no regions)"
        raise NotFound(f'region "{name}" not found (expected one of [{known}])')


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCredential:
    """One credential of a cloud."""

    auth_type: str
    attributes: Mapping[str, str] = field(default_factory=dict, repr=False)

    def to_document(self) -> dict[str, str]:
        """Return the credential as credentials.yaml has it."""
        return {"auth-type": self.auth_type, **dict(sorted(self.attributes.items()))}


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudCredentials:
    """All credentials of one cloud."""

    default_credential: str = ""
    default_region: str = ""
    credentials: Mapping[str, StoredCredential] = field(default_factory=dict)

    def to_document(self) -> dict[str, object]:
        """Return the credentials as credentials.yaml has them."""
        head = (("default-credential", self.default_credential), ("default-region", self.default_region))
        named = {name: self.credentials[name].to_document() for name in sorted(self.credentials)}
        return {**{key: value for key, value in head if value}, **named}


def read_clouds(document: Any) -> dict[str, Cloud]:
    """Read the document of a clouds.yaml: `clouds`, then name -> cloud."""
    listed = document.get("clouds") if isinstance(document, Mapping) else None
    if not isinstance(listed, Mapping) or not listed:
        raise NotValid("no personal clouds are defined")
    return {str(name): Cloud.from_document(str(name), item) for name, item in listed.items()}


def read_credentials(document: Any) -> dict[str, CloudCredentials]:
    """Read the document of a credentials.yaml: `credentials`, then cloud -> name -> attributes.

    Raises:
        NotValid: The document has another form; the message never contains a value.
    """
    listed = document.get("credentials") if isinstance(document, Mapping) else None
    if not isinstance(listed, Mapping):
        raise NotValid('expected a map "credentials"')
    return {str(cloud): read_cloud_credentials(str(cloud), item) for cloud, item in listed.items()}


def read_cloud_credentials(cloud: str, document: Any) -> CloudCredentials:
    """Read the credentials of one cloud."""
    table = _map(f"credentials of cloud {cloud}", document)
    heads = {key: _text(f"credentials of cloud {cloud}: {key}", table.pop(key, "")) for key in _RESERVED}
    found: dict[str, StoredCredential] = {}
    for name, item in table.items():
        attributes = _map(f'credential "{name}" of cloud {cloud}', item)
        auth_type = attributes.pop("auth-type", None)
        if not isinstance(auth_type, str) or not auth_type:
            raise NotValid(f"credentials.{cloud}.{name}: missing auth-type")
        odd = [key for key, value in attributes.items() if not isinstance(value, (str, int))]
        if odd:
            raise NotValid(f"credentials.{cloud}.{name}.{odd[0]}: expected text")
        texts = {key: str(value) for key, value in attributes.items()}
        found[str(name)] = StoredCredential(auth_type=auth_type, attributes=texts)
    return CloudCredentials(
        default_credential=heads["default-credential"],
        default_region=heads["default-region"],
        credentials=found,
    )


def _regions(cloud: str, value: Any) -> tuple[Region, ...]:
    if value is None:
        return ()
    if isinstance(value, (list, tuple)):
        return tuple(Region(name=name) for name in _texts(f"cloud {cloud}: regions", value))
    found = []
    for name, item in _map(f"cloud {cloud}: regions", value).items():
        table = _map(f"cloud {cloud}: region {name}", item)
        texts = [_text(f"cloud {cloud}: region {name}: {key}", table.get(key, "")) for key in _ENDPOINTS]
        found.append(
            Region(name=name, endpoint=texts[0], identity_endpoint=texts[1], storage_endpoint=texts[2])
        )
    return tuple(found)


def _map(where: str, value: Any) -> dict[str, object]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise NotValid(f"{where}: expected a map")
    return {str(key): item for key, item in value.items()}


def _text(where: str, value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise NotValid(f"{where}: expected text")
    return value


def _texts(where: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise NotValid(f"{where}: expected a list of texts")
    return tuple(_text(where, item) for item in value)


def _bool(where: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise NotValid(f"{where}: expected true or false")
    return value
