"""Providers: what starts and stops machines, and what it is asked and answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from pushjuju.core.base import Base
from pushjuju.core.clock import Clock, SystemClock
from pushjuju.core.constraint_rules import ConstraintRules
from pushjuju.core.constraints import Constraints
from pushjuju.core.status import InstanceStatus
from pushjuju.plugins.api.clouds import CloudSpec, Credential, Reached
from pushjuju.plugins.api.findings import Finding
from pushjuju.plugins.api.storage_types import StorageItem
from pushjuju.plugins.api.targets import RemoteRunner, SSHTarget

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
    """The hardware of a machine; None or empty for what is not known. Sizes in MiB."""

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
    """An instance of a machine, as the cloud shows it now.

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
