"""The interface of providers, which start and stop machines, and the types of their requests and answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from pushjuju.core.base import Base
from pushjuju.core.clock import Clock, SystemClock
from pushjuju.core.constraints import ConstraintRules, Constraints
from pushjuju.core.status import InstanceStatus
from pushjuju.core.values import dataclass
from pushjuju.plugins.api.clouds import CloudSpec, Credential, Reached
from pushjuju.plugins.api.findings import Finding
from pushjuju.plugins.api.storage_types import StorageItem
from pushjuju.plugins.api.targets import RemoteRunner, SSHTarget

Progress = Callable[[str, str], None]

"""A function of (instance status, message) for progress of slow work. Any thread may call it."""


def no_progress(status: str, message: str) -> None:
    """Ignore a progress report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInfo:
    """The model whose machines a provider makes."""

    uuid: str
    name: str
    controller_uuid: str


def no_warning(message: str) -> None:
    """Ignore a warning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The functions and directories of the controller that a provider may use.

    Attributes:
        data_dir: The controller's directory; a provider has its files in a folder of its own name there.
        environ: The environment variables of the process.
        warn: Shows the user a warning, each text once.
        remote: Runs scripts over SSH; None when the caller has no SSH transport.
    """

    data_dir: Path
    environ: Mapping[str, str] = field(default_factory=dict)
    clock: Clock = field(default_factory=SystemClock)
    warn: Callable[[str], None] = no_warning
    remote: RemoteRunner | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardware:
    """The hardware of a machine, sizes in MiB; None or empty for unknown values."""

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
        """Return Juju's text of the known values, in a fixed order. Mirrors: juju core/instance (3.6)."""
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
    """One address of a machine. The scope is `public`, `local-cloud` or `local-machine`."""

    value: str
    type: str = "ipv4"
    scope: str = "local-cloud"
    cidr: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """An instance in the cloud, in its present state.

    Attributes:
        machine_id: The machine for which the instance was made; empty when the cloud does not know it. The
            controller needs this to find an instance that was made but not recorded.
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
    """The profile that a charm asks for its container: the content of its `lxd-profile.yaml`."""

    name: str
    description: str = ""
    config: Mapping[str, str] = field(default_factory=dict)
    devices: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Return the profile without its name, as users see it."""
        devices = {name: dict(device) for name, device in self.devices.items()}
        return {"config": dict(self.config), "description": self.description, "devices": devices}


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRequest:
    """Everything that a provider needs to make one machine. Mirrors: juju environs/broker.go (3.6).

    Attributes:
        nonce: The id of this request: a second start with the same machine id and nonce returns the running
            instance; a start with another nonce replaces that instance.
        hostname: The host name for the machine; empty when the provider may choose.
        authorized_keys: Public keys that may log in, in OpenSSH's format.
        user_data: A cloud-config document as data.
        host_keys: The public host keys that `user_data` installs; empty when it installs none.
        volumes: Volumes that have to be made with the machine: of storage types with `with_machine`.
        daily_images: True for the images of each day in place of released ones (API 1.6).
        profiles: The profiles of the machine's charms, for providers that are `Profiled`.
        attached: The provider's ids of volumes that will be attached to the machine, which must be in their
            zone.
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
    daily_images: bool = False
    progress: Progress = no_progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """The result of a start: a machine was made (or enlisted).

    Attributes:
        base: The base that the machine has.
        host_keys: As in `SSHTarget`.
    """

    instance: Instance
    base: Base
    nonce: str = ""
    host_keys: tuple[str, ...] | None = None


@runtime_checkable
class Provider(Protocol):
    """Makes, lists and ends the machines of one model in one cloud. All ids are texts.

    Several tasks may call methods at the same time. All methods raise ProviderError when the cloud fails.
    """

    async def precheck(self, base: Base, constraints: Constraints, placement: str) -> None:
        """Refuse a machine that can never start, before the controller records the machine.

        Raises:
            NotValid: The base, a constraint or the placement is not valid.
        """
        ...

    async def start(self, request: StartRequest) -> Started:
        """Make a machine and return as soon as its address is known, even when it still boots.

        Before a failed start raises its error, it removes everything that it made.
        """
        ...

    async def stop(self, ids: Sequence[str]) -> None:
        """End instances and delete their resources; unknown ids are no error."""
        ...

    async def list(self) -> Sequence[Instance]:
        """Return all instances of the model."""
        ...

    async def get(self, ids: Sequence[str]) -> Sequence[Instance | None]:
        """Return the instances with these ids, in the same order, with None for an unknown id."""
        ...

    async def ssh_target(self, instance: Instance) -> SSHTarget:
        """Return the address and login for SSH to an instance.

        Raises:
            NotFound: The instance does not exist any more.
        """
        ...

    async def destroy_model(self) -> None:
        """Remove every trace of the model from the cloud."""
        ...

    async def doctor(self) -> Sequence[Finding]:
        """Report what this host or account has, and what the provider lacks; a lack is no error."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Zone:
    """An availability zone; machines start only in available zones."""

    name: str
    available: bool = True


@runtime_checkable
class Zoned(Protocol):
    """A provider whose cloud has zones. The controller chooses a zone for each start: `StartRequest.zone`."""

    async def zones(self) -> Sequence[Zone]:
        """Return the zones in the cloud's order."""
        ...

    async def derive_zones(self, request: StartRequest) -> Sequence[str]:
        """Return the zones that the placement of a request requires; empty for any zone.

        Raises:
            NotValid: The placement names a zone that does not exist.
        """
        ...


@runtime_checkable
class Resumer(Protocol):
    """A provider that can start an instance again when its status is `stopped`. Since 1.5."""

    async def resume(self, instance_id: str) -> None:
        """Start a stopped instance; a running instance stays as it is.

        Raises:
            NotFound: The instance does not exist any more.
            ProviderError: The instance could not be started.
        """
        ...


@runtime_checkable
class Constrained(Protocol):
    """A provider with rules for constraints, in addition to what `precheck` refuses."""

    async def rules(self) -> ConstraintRules:
        """Return the rules, which are checked when a user asks for machines."""
        ...


@runtime_checkable
class Reachable(Protocol):
    """A provider that can check that its cloud answers and accepts the credential."""

    async def check(self) -> Reached:
        """Make one harmless call to the cloud.

        Raises:
            CredentialInvalid: The cloud refuses the credential.
            ProviderError: The cloud does not answer, or does not have the region.
        """
        ...


@runtime_checkable
class Profiled(Protocol):
    """A provider whose machines can have the profiles of charms (feature `charm-profiles`, API 1.4)."""

    async def set_profiles(
        self, instance_id: str, wanted: Sequence[CharmProfile], keep: Collection[str]
    ) -> None:
        """Set the charm profiles of an instance: all of these, and no others. A second call changes nothing.

        Args:
            instance_id: The instance; when empty, only unused profiles are deleted.
            wanted: All profiles that the instance should have.
            keep: Names of profiles to keep although no instance uses them; other unused profiles are deleted.

        Raises:
            ProviderError: The instance does not have all the profiles.
        """
        ...


@runtime_checkable
class Enlister(Protocol):
    """A provider that accepts existing machines (`add-machine ssh:user@host`)."""

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
        """Prepare an existing machine for the model, and return its facts.

        Args:
            target: `ssh:[user@]host[:port]`.
            machine_id: The machine's id in the model.
            authorized_keys: Public keys that may log in as `ubuntu` afterwards.
            identities: Private keys to try for the first login.
            jump: Jump hosts on the way to the machine, `[user@]host[:port]` separated by commas; passed only
                when there are some. `SSHTarget.proxy_jump` names them afterwards (API 1.5).

        Raises:
            AlreadyExists: `machine is already provisioned`.
            TransportError: The login failed.
        """
        ...


class OpensProvider(Protocol):
    """The part of the plugin host that services get: it opens providers."""

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
            NotFound: No plugin supports this type of cloud.
        """
        ...
