"""Params about credentials, of the facade Cloud."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudCredential:
    """The type and the attributes of a credential."""

    auth_type: str = ""
    attrs: dict[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggedCredential:
    """A credential with its tag."""

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
