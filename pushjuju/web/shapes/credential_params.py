"""Params about credentials, of the facade Cloud."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudCredential:
    """What opens a cloud."""

    auth_type: str = ""
    attrs: dict[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggedCredential:
    """A credential with its tag."""

    tag: str = ""
    credential: CloudCredential = field(default_factory=CloudCredential)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggedCredentials:
    """Credentials to keep or to try."""

    credentials: list[TaggedCredential] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateCredentials:
    """Credentials to keep; by force although models cannot use them."""

    credentials: list[TaggedCredential] = field(default_factory=list)
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokeCredential:
    """A credential to remove; by force although models use it."""

    tag: str = ""
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokeCredentials:
    """Credentials to remove."""

    credentials: list[RevokeCredential] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserCloud:
    """A cloud, and the user whose credentials of it to list."""

    user_tag: str = ""
    cloud_tag: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserClouds:
    """Clouds of users."""

    user_clouds: list[UserCloud] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialName:
    """A credential by the names of its cloud and its own."""

    cloud_name: str = ""
    credential_name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialNames:
    """Credentials to show, or all."""

    credentials: list[CredentialName] = field(default_factory=list)
    include_secrets: bool = False
