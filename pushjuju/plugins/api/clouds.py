"""The types of clouds and credentials for plugins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pushjuju.core.constraint_rules import SIZES_OF_A_TYPE, Conflicts


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudSpec:
    """One cloud, or one region of it, as the user defined it.

    Attributes:
        name: The user's name of the cloud.
        type: The provider's name: `local`, `manual`, `lxd`, `ec2`...
        endpoint: The region's, or the cloud's; so are the other two.
        ca_certificates: PEM texts that the endpoints are checked against besides the system's.
        config: The other keys of the cloud's table in clouds.toml; they belong to the provider.
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
    """What opens a cloud; the attributes are secret and never printed."""

    name: str = ""
    auth_type: str = "empty"
    attributes: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attr:
    """One attribute of a cloud, a credential or a model's configuration.

    Attributes:
        file_attr: The name under which a file may be given in its place: the file's text becomes the value.
        file_path: The value is the path of a file; its text is what is kept.
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
    """A question of `add-cloud` about a new cloud.

    Attributes:
        key: The key of the cloud that the answer becomes: `endpoint`, `ca-certificates`, `auth-types`,
            `regions`.
        text: The subject of the question, as in `Enter the API endpoint url: `; for regions: their name in
            the cloud.
        kind: `text`, `url`, `file` (its text is kept), `choices` (some of the auth types), `regions`, or
            `names`: regions without endpoints of their own.
        default: Taken for an empty answer; when None, the user must answer.
        shown_default: What the question shows as its default.
        environ: Variables whose value is the default when they are set.
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
        label: The name that is shown: `aws credential "default"`.
        region: The default region that was found with it.
        default: It is the one to use unless another is named.
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
        clouds: Names of clouds that are there without being defined (`local`, `manual`).
        credential_schemas: Auth type -> its attributes; `empty` needs none.
        cloud_schema: Keys that the provider reads from the cloud's table.
        config_schema: Keys of a model's configuration that are this provider's own.
        default_config: Key -> value of the configuration that new models start with, unless a user, the
            cloud's definition or the defaults of models say something else.
        public_clouds: Clouds that every client knows: name -> its definition, as in clouds.yaml.
        questions: What `add-cloud` asks; when empty, such a cloud is added from a file only.
        conflicts: Names of constraints that exclude each other: those of a machine or an application clear
            what they exclude among the model's.
        features: Words that the controller asks for. `start`, `enlist`, `doctor`, `host-keys`, `nested`: what
            its provider can do. `user-data`: machines boot with the whole cloud-config document, which makes
            logins and host keys; without it a request holds what the model's `cloudinit-userdata` says.
            `script`: machines boot with a bare image and the controller's key: the controller runs the
            document as a script over SSH (API 1.4).
            `poll`: the controller looks after its instances from time to time. `installs`: its machines take
            minutes from `start` to their system; nobody logs in before the instance is `running`.
            `spaces`: the cloud has its own spaces, and its `precheck` refuses constraints that name others.
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
