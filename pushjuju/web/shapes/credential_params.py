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
class TaggedCredentials:
    """Credentials to store or to check."""

    credentials: list[TaggedCredential] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateCredentials:
    """Credentials to store; `force` stores credentials that fail for a model, too."""

    credentials: list[TaggedCredential] = field(default_factory=list)
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokeCredential:
    """A credential to remove; `force` removes a credential that models use, too."""

    tag: str = ""
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokeCredentials:
    """Credentials to remove."""

    credentials: list[RevokeCredential] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserCloud:
    """A cloud, and the user whose credentials for the cloud to list."""

    user_tag: str = ""
    cloud_tag: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserClouds:
    """Pairs of user and cloud whose credentials to list."""

    user_clouds: list[UserCloud] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialName:
    """A credential, by the names of cloud and credential."""

    cloud_name: str = ""
    credential_name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialNames:
    """Credentials to show; all when the list is empty."""

    credentials: list[CredentialName] = field(default_factory=list)
    include_secrets: bool = False
