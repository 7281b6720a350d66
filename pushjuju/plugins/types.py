"""Values and protocols that plugins and the host exchange.

A plugin in another package imports this module, `pushjuju.core` and `pushjuju.plugins.hookspecs`, nothing
else.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from pushjuju.core.base import Base
from pushjuju.core.clock import Clock, SystemClock
from pushjuju.core.constraint_rules import ConstraintRules
from pushjuju.core.constraints import Constraints
from pushjuju.core.firewall import MachineRules
from pushjuju.core.status import InstanceStatus
from pushjuju.plugins.cloudtypes import (
    Attr,
    CloudSpec,
    Credential,
    DetectedCredential,
    ProviderType,
    Question,
    Reached,
)
from pushjuju.plugins.storagetypes import (
    BootMount,
    MachineStorage,
    StorageItem,
    StorageMade,
    StorageProvider,
    StorageSeen,
    StorageType,
)

__all__ = [
    "Address",
    "Attr",
    "BootMount",
    "CharmProfile",
    "CloudSpec",
    "Constrained",
    "ContainerHost",
    "Credential",
    "DetectedCredential",
    "Enlister",
    "Finding",
    "Firewall",
    "Fix",
    "GuardedMachine",
    "Hardware",
    "HookToolFamily",
    "Instance",
    "MachineStorage",
    "ModelInfo",
    "OpensProvider",
    "Profiled",
    "Progress",
    "Provider",
    "ProviderType",
    "Question",
    "Reachable",
    "Reached",
    "RemoteRunner",
    "Resumer",
    "SSHTarget",
    "ScriptResult",
    "SecretBackend",
    "SecretBackendType",
    "Services",
    "StartRequest",
    "Started",
    "StorageItem",
    "StorageMade",
    "StorageProvider",
    "StorageSeen",
    "StorageType",
    "Zone",
    "Zoned",
    "no_progress",
    "no_warning",
]

Progress = Callable[[str, str], None]
"""Called with (instance status, message) while something slow goes on. May be called from any thread."""


def no_progress(status: str, message: str) -> None:
    """Take a progress report and do nothing with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInfo:
    """The model that a provider works for."""

    uuid: str
    name: str
    controller_uuid: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptResult:
    """How a script on a machine ended.

    Attributes:
        host_key: The key that the machine showed, in OpenSSH's form; empty if the transport does not know it.
    """

    rc: int
    stdout: str = ""
    stderr: str = ""
    host_key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SSHTarget:
    """Where and how a machine answers SSH.

    Attributes:
        host_keys: Public keys in OpenSSH's form; when None, the first key that the machine shows is trusted.
        proxy_jump: `user@host:port` of a jump host, or empty.
        identities: Private key files to offer beside the controller's own.
    """

    host: str
    port: int = 22
    user: str = "ubuntu"
    host_keys: tuple[str, ...] | None = None
    proxy_jump: str = ""
    identities: tuple[Path, ...] = ()


class ContainerHost(Protocol):
    """A machine of the model that containers are made on; all goes over its SSH connection."""

    @property
    def machine_id(self) -> str:
        """Its id in the model."""
        ...

    async def run(self, script: str, *, timeout_s: float = 60.0) -> ScriptResult:
        """Run a POSIX shell script on the host as root; its errors are those of `RemoteRunner.run_script`."""
        ...

    async def relay(self, program: str) -> Path:
        """Return a socket on this computer that stands for something there.

        For each connection to it a Python program runs on the machine as root, with the connection as its
        standard input and output; it ends with the connection. The socket is there until the run ends.

        Args:
            program: Its text, for Python 3.8 without other packages.

        Raises:
            TransportError: The machine does not answer.
        """
        ...


class RemoteRunner(Protocol):
    """Runs one script on a machine over SSH; the controller's own transport stands behind it."""

    async def run_script(
        self,
        target: SSHTarget,
        script: str,
        *,
        sudo: bool = False,
        interactive: bool = False,
        timeout_s: float = 60.0,
    ) -> ScriptResult:
        """Run a POSIX shell script on a machine and return how it ended.

        Args:
            target: Machine and login.
            script: Its text; travels in the channel, never in argv.
            sudo: Run it as root, through sudo unless the login is root already.
            interactive: True when the user may be asked for a password (login or sudo).
            timeout_s: Seconds until the script is given up.

        Raises:
            AuthFailed: The machine refuses the login.
            SudoRefused: Logged in, but not allowed to become root.
            TransportError: No answer, another host key than before, or the connection broke.
        """
        ...


def no_warning(message: str) -> None:
    """Take a warning and do nothing with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """What the controller lends to a provider: a narrow view, never the controller itself.

    Attributes:
        data_dir: The controller's own directory; a provider keeps its files in a folder of its name there.
        environ: The process environment, already read.
        warn: Shows the user, once, a text that is not an error.
        remote: Scripts over SSH; None where the caller has no transport.
    """

    data_dir: Path
    environ: Mapping[str, str] = field(default_factory=dict)
    clock: Clock = field(default_factory=SystemClock)
    warn: Callable[[str], None] = no_warning
    remote: RemoteRunner | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardware:
    """What a machine is made of; None or empty: not known. Sizes in MiB."""

    arch: str = ""
    cores: int | None = None
    cpu_power: int | None = None
    mem: int | None = None
    root_disk: int | None = None
    root_disk_source: str = ""
    tags: tuple[str, ...] = ()
    availability_zone: str = ""
    virt_type: str = ""

    def __str__(self) -> str:
        """Return Juju's text: fixed order, only what is known. Mirrors: juju core/instance (3.6)."""
        pairs: tuple[tuple[str, object], ...] = (
            ("arch", self.arch),
            ("cores", self.cores),
            ("cpu-power", self.cpu_power),
            ("mem", None if self.mem is None else f"{self.mem}M"),
            ("root-disk", None if self.root_disk is None else f"{self.root_disk}M"),
            ("root-disk-source", self.root_disk_source),
            ("tags", ",".join(self.tags)),
            ("availability-zone", self.availability_zone),
            ("virt-type", self.virt_type),
        )
        return " ".join(f"{name}={value}" for name, value in pairs if value not in ("", None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """One address of a machine. Scope: `public`, `local-cloud`, `local-machine`..."""

    value: str
    type: str = "ipv4"
    scope: str = "local-cloud"
    cidr: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """What the cloud has behind a machine, as seen now.

    Attributes:
        machine_id: The machine that it was made for, so that an instance that no controller came to record is
            found again; empty when the cloud cannot tell.
    """

    id: str
    status: InstanceStatus
    message: str = ""
    addresses: tuple[Address, ...] = ()
    hardware: Hardware = Hardware()
    display_name: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)
    machine_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CharmProfile:
    """What a charm asks of the container that it runs in: the content of its `lxd-profile.yaml`."""

    name: str
    description: str = ""
    config: Mapping[str, str] = field(default_factory=dict)
    devices: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Return it without its name, as it is shown."""
        devices = {name: dict(device) for name, device in self.devices.items()}
        return {"config": dict(self.config), "description": self.description, "devices": devices}


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRequest:
    """All that a provider needs to make one machine. Mirrors: juju environs/broker.go (3.6).

    Attributes:
        nonce: Ties the instance to this request: a second start with the same machine id and nonce returns
            the instance that runs, one with another nonce replaces it.
        hostname: The name that the machine should have; empty for the provider's choice.
        authorized_keys: Public keys that may log in, in OpenSSH's form.
        user_data: A cloud-config document as data.
        host_keys: The public keys that the document makes the machine have; empty when it makes none.
        volumes: Volumes that can only come with the machine: those of types that say `with_machine`.
        profiles: Of the charms that will run on it, for providers that are `Profiled`.
        attached: The provider's names of volumes that will be attached to it: it must be where they are.
    """

    machine_id: str
    base: Base
    nonce: str = ""
    hostname: str = ""
    authorized_keys: tuple[str, ...] = ()
    constraints: Constraints = field(default_factory=dict)
    placement: str = ""
    zone: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)
    user_data: Mapping[str, Any] = field(default_factory=dict)
    host_keys: tuple[str, ...] = ()
    volumes: tuple[StorageItem, ...] = ()
    attached: tuple[str, ...] = ()
    profiles: tuple[CharmProfile, ...] = ()
    progress: Progress = no_progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A machine was made (or enlisted).

    Attributes:
        base: The base that the machine really has.
        host_keys: As in SSHTarget.
    """

    instance: Instance
    base: Base
    nonce: str = ""
    host_keys: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """How a finding of doctor is put right: Debian packages to install, then one command to type."""

    packages: tuple[str, ...] = ()
    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A check of doctor, and its result.

    Attributes:
        required: Without it the provider does not work at all; else something is slower or missing.
    """

    name: str
    ok: bool
    message: str
    fix: Fix | None = None
    required: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class HookToolFamily:
    """Some hook tools in one module that exports `TOOLS`.

    Attributes:
        name: The family: `config`, `relation`...
        module: Import path; must run on machines (Python 3.8, standard library and the tool interface only)
            when `pushable`, else the controller answers each call.
    """

    name: str
    module: str
    pushable: bool = True


@runtime_checkable
class Provider(Protocol):
    """Makes, lists and ends machines of one model in one cloud. All ids are text.

    Every method may be called from several tasks at once. All raise ProviderError when the cloud fails.
    """

    async def precheck(self, base: Base, constraints: Constraints, placement: str) -> None:
        """Refuse a machine that could never start, before anything is recorded.

        Raises:
            NotValid: Bad base, constraint or placement.
        """
        ...

    async def start(self, request: StartRequest) -> Started:
        """Make a machine and return at once when its address is known; it may still boot.

        What a failed start made is gone before the error is raised.
        """
        ...

    async def stop(self, ids: Sequence[str]) -> None:
        """End instances and delete what they had; unknown ids are no error."""
        ...

    async def list(self) -> Sequence[Instance]:
        """Return all instances of the model."""
        ...

    async def get(self, ids: Sequence[str]) -> Sequence[Instance | None]:
        """Return the named instances in the order asked for; None for an unknown id."""
        ...

    async def ssh_target(self, instance: Instance) -> SSHTarget:
        """Return how the instance answers SSH.

        Raises:
            NotFound: The instance is not there any more.
        """
        ...

    async def destroy_model(self) -> None:
        """Remove every trace of the model from the cloud."""
        ...

    async def doctor(self) -> Sequence[Finding]:
        """Report what this host or account has and lacks for the provider; what is missing is no error."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Zone:
    """An availability zone; machines start only in those that are available."""

    name: str
    available: bool = True


@runtime_checkable
class Zoned(Protocol):
    """A provider whose cloud has zones. The controller chooses one for each start: `StartRequest.zone`."""

    async def zones(self) -> Sequence[Zone]:
        """Return the zones in the cloud's order."""
        ...

    async def derive_zones(self, request: StartRequest) -> Sequence[str]:
        """Return the zones that a request's placement forces; empty for any zone.

        Raises:
            NotValid: The placement names a zone that is not there.
        """
        ...


@runtime_checkable
class Resumer(Protocol):
    """A provider that starts an instance again which it tells as `stopped`. Since 1.5."""

    async def resume(self, instance_id: str) -> None:
        """Start a stopped instance; one that runs is left as it is.

        Raises:
            NotFound: The instance is gone.
            ProviderError: It could not be started.
        """
        ...


@runtime_checkable
class Constrained(Protocol):
    """A provider that says what its cloud makes of constraints, beyond what `precheck` refuses."""

    async def rules(self) -> ConstraintRules:
        """Return the rules; they are checked when machines are asked for."""
        ...


@runtime_checkable
class Reachable(Protocol):
    """A provider that can check that its cloud answers and takes the credential."""

    async def check(self) -> Reached:
        """Make one harmless call to the cloud.

        Raises:
            CredentialInvalid: The cloud refuses the credential.
            ProviderError: It does not answer, or the region is not there.
        """
        ...


@runtime_checkable
class Profiled(Protocol):
    """A provider whose machines can have the profiles of charms (feature `charm-profiles`, API 1.4)."""

    async def set_profiles(
        self, instance_id: str, wanted: Sequence[CharmProfile], keep: Collection[str]
    ) -> None:
        """Let an instance have these profiles, and no others of charms; the same again does no harm.

        Args:
            instance_id: The instance; when empty, only unused profiles are deleted.
            wanted: All that it is to have.
            keep: Names of those that stay though no instance has them now; others without one go.

        Raises:
            ProviderError: It has them not, or not all.
        """
        ...


@runtime_checkable
class Enlister(Protocol):
    """A provider that takes machines which are there already (`add-machine ssh:user@host`)."""

    async def enlist(
        self,
        target: str,
        *,
        machine_id: str,
        authorized_keys: Sequence[str],
        identities: Sequence[Path] = (),
        jump: str = "",
        progress: Progress = no_progress,
    ) -> Started:
        """Prepare a machine for the model and return what it is.

        Args:
            target: `ssh:[user@]host[:port]`.
            machine_id: The machine's id in the model.
            authorized_keys: Public keys that get a login as `ubuntu`.
            identities: Private keys to try for the first login.
            jump: Jump hosts on the way to it, `[user@]host[:port]` with commas; only given when there are
                some. From then on `SSHTarget.proxy_jump` names them (API 1.5).

        Raises:
            AlreadyExists: `machine is already provisioned`.
            TransportError: No login there.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedMachine:
    """A machine as its firewall sees it.

    Attributes:
        instance_id: What the cloud calls it.
        run: Runs a POSIX shell script on it as root, over the existing connection; its errors are those of
            `RemoteRunner.run_script`.
    """

    machine_id: str
    instance_id: str
    run: Callable[[str], Awaitable[ScriptResult]]


class Firewall(Protocol):
    """Keeps machines of one model from being reached; the controller decides what may reach them."""

    async def apply(self, machine: GuardedMachine, rules: MachineRules) -> None:
        """Let these rules be in force, all of them and no others; the same ones again do no harm.

        Connections that are open go on, and the SSH port stays within reach of `rules.ssh`.

        Raises:
            RemoteFailed: They are not in force.
        """
        ...

    async def clear(self, machine: GuardedMachine) -> None:
        """Take all of it from a machine that goes on without us.

        Raises:
            RemoteFailed: Something of it is still there.
        """
        ...


class OpensProvider(Protocol):
    """What the host offers to services: one call to get a provider."""

    def open_provider(
        self,
        *,
        cloud: CloudSpec,
        credential: Credential,
        model: ModelInfo,
        config: Mapping[str, Any],
        services: Services,
    ) -> Provider:
        """Return the provider of a cloud.

        Raises:
            NotFound: No plugin drives this type of cloud.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretBackendType:
    """A kind of backend for the content of secrets.

    Attributes:
        config_schema: The keys of its configuration; values of secret ones are never shown.
    """

    name: str
    summary: str
    config_schema: tuple[Attr, ...] = ()


class SecretBackend(Protocol):
    """A secret backend: keeps the content of secrets. Methods run in a thread of their own and may block."""

    def ping(self) -> None:
        """Check that the backend is there and takes our credentials.

        Raises:
            BackendError: It does not.
        """
        ...

    def save(self, path: str, content: Mapping[str, str]) -> None:
        """Keep content (key -> value in base64); what is there already under that path is replaced.

        Raises:
            BackendError: It could not be kept.
        """
        ...

    def fetch(self, path: str) -> Mapping[str, str]:
        """Return content.

        Raises:
            NotFound: The place has no such charm.
            BackendError: The backend does not answer.
        """
        ...

    def delete(self, path: str) -> None:
        """Delete content for good; what is not there is no error.

        Raises:
            BackendError: It could not be deleted.
        """
        ...
