"""The types of clouds and credentials for plugins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from pushjuju.core.constraints import SIZES_OF_A_TYPE, Conflicts
from pushjuju.core.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudSpec:
    """One cloud, or one region of it, as the user defined it.

    Attributes:
        name: The name that the user gave to the cloud.
        type: The provider's name: `local`, `manual`, `lxd`, `ec2`...
        endpoint: The endpoint of the region, or else of the cloud; the same holds for the other endpoints.
        ca_certificates: PEM texts of further authorities that the endpoints' certificates may be signed by.
        config: The keys of the cloud's table in clouds.toml that belong to the provider.
    """

    name: str
    type: str
    region: str = ""
    endpoint: str = ""
    identity_endpoint: str = ""
    storage_endpoint: str = ""
    ca_certificates: tuple[str, ...] = ()
    skip_tls_verify: bool = False
    config: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """The secret attributes with which pushjuju logs in to a cloud; they are never printed."""

    name: str = ""
    auth_type: str = "empty"
    attributes: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attr:
    """One attribute of a cloud, a credential or a model's configuration.

    Attributes:
        file_attr: The name of a second attribute that takes the path of a file with the value.
        file_path: True when users give the path of a file; the text of the file is stored.
    """

    name: str
    summary: str
    type: str = "string"
    default: Any = None
    required: bool = False
    secret: bool = False
    choices: tuple[str, ...] = ()
    file_attr: str = ""
    file_path: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question that `add-cloud` asks about a new cloud.

    Attributes:
        key: The key of the cloud's definition that gets the answer: `endpoint`, `ca-certificates`,
            `auth-types`, `regions`.
        text: The subject of the question, as in `Enter the API endpoint url: `; for regions, the cloud's word
            for a region.
        kind: `text`, `url`, `file` (the file's text is the answer), `choices` (some of the auth types),
            `regions`, or `names`: regions without endpoints of their own.
        default: The value for an empty answer; None when the user must answer.
        shown_default: The default as the question shows it.
        environ: Environment variables; the value of the first that is set becomes the default.
    """

    key: str
    text: str = ""
    kind: str = "text"
    default: str | None = None
    shown_default: str = ""
    environ: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectedCredential:
    """A credential that was found in the user's files or variables.

    Attributes:
        label: The text that users see: `aws credential "default"`.
        region: The default region that was found with the credential.
        default: True for the credential to use unless the user names another.
    """

    name: str
    label: str
    auth_type: str
    attributes: Mapping[str, str] = field(repr=False)
    region: str = ""
    default: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """The result of one harmless call to a cloud.

    Attributes:
        account: The account of the credential, in the cloud's words; empty when the cloud does not name it.
        costs: One sentence about what a machine costs here; empty when machines cost nothing.
    """

    account: str = ""
    costs: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderType:
    """A kind of cloud that a plugin can drive.

    Attributes:
        clouds: Names of clouds that exist without being defined (`local`, `manual`).
        credential_schemas: Auth type -> its attributes; the type `empty` has none.
        cloud_schema: Keys that the provider reads from the cloud's table.
        config_schema: Keys of a model's configuration that only this provider has.
        default_config: Configuration of new models, key -> value. The user, the cloud's definition and the
            defaults of models override it.
        public_clouds: Clouds that users need not define: name -> definition, as in clouds.yaml.
        questions: The questions of `add-cloud`; without any, such a cloud can only be added from a file.
        conflicts: Names of constraints that exclude each other: a constraint of a machine or an application
            removes the model's constraints that it excludes.
        features: Words that tell the controller about the type. `start`, `enlist`, `doctor`, `host-keys`,
            `nested`: what the provider can do. `user-data`: machines boot with the whole cloud-config
            document, which makes logins and host keys; without it, a request only has the model's
            `cloudinit-userdata`. `script`: machines boot a bare image with the controller's key, and the
            controller runs the document as a script over SSH (API 1.4). `poll`: the controller regularly
            checks the instances. `installs`: a machine needs minutes to install its system, and nobody can
            log in before its instance is `running`. `spaces`: the cloud has spaces of its own, and `precheck`
            refuses constraints that name others. `host`: unless the cloud has an endpoint, its machines are
            on the host of the controller process, and other hosts do not reach them (API 1.4).
    """

    name: str
    summary: str
    regions: tuple[str, ...] = ()
    clouds: tuple[str, ...] = ()
    credential_schemas: Mapping[str, tuple[Attr, ...]] = field(default_factory=lambda: {"empty": ()})
    cloud_schema: tuple[Attr, ...] = ()
    config_schema: tuple[Attr, ...] = ()
    default_config: Mapping[str, Any] = field(default_factory=dict)
    features: frozenset[str] = frozenset()
    public_clouds: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    questions: tuple[Question, ...] = ()
    conflicts: Conflicts = SIZES_OF_A_TYPE
