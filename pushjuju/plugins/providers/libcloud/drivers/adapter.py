"""The contract of adapters: what pushjuju needs to make a provider of a driver of libcloud.

An adapter knows one driver: how to connect, what its answers mean, what its requests need. It keeps nothing
that matters and decides nothing; `cloudprovider.py` does. Its methods block, get the driver of the calling
thread, may run in several threads at once, and may raise whatever libcloud raises: `errors` says what of that
means a refused credential, a quota or a busy cloud.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from pushjuju.core.base import Base
from pushjuju.core.constraints import Constraints
from pushjuju.core.firewall import MachineRules
from pushjuju.core.instance_types import InstanceType
from pushjuju.core.status import InstanceStatus
from pushjuju.plugins.api.clouds import CloudSpec, Credential
from pushjuju.plugins.api.providers import Address, ModelInfo, Services
from pushjuju.plugins.api.storage_types import StorageItem, StorageSeen
from pushjuju.plugins.providers.libcloud.calls import TIMEOUT_S, ErrorWords
from pushjuju.plugins.providers.libcloud.drivers.identity import Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """The cloud and region where an adapter works, and the model that it works for."""

    cloud: CloudSpec
    credential: Credential
    model: ModelInfo
    config: Mapping[str, Any] = field(default_factory=dict)
    services: Services


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """All that one instance needs.

    Attributes:
        name: The host name that it should have.
        image: The user's choice (constraint `image-id`, or `images` of the cloud); empty to choose by the
            base.
        place: What a placement directive other than `zone` names.
        tags: All tags, those of its identity among them.
        user_data: The whole document as text; empty on clouds without.
        keys: Public keys that may log in.
        root_disk: MiB asked for; 0: what the size or the image has.
    """

    identity: Identity
    name: str
    size: InstanceType
    base: Base
    arch: str
    image: str = ""
    zone: str = ""
    place: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)
    user_data: str = ""
    keys: tuple[str, ...] = ()
    root_disk: int = 0
    constraints: Constraints = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One instance as the cloud shows it.

    Attributes:
        word: The cloud's own word for its state, or why it failed.
        size: Name of its type.
        arch: The architecture, where the type of instance does not determine it.
        node: The data that the adapter needs to work on the instance.
    """

    id: str
    identity: Identity
    status: InstanceStatus = InstanceStatus.UNKNOWN
    word: str = ""
    addresses: tuple[Address, ...] = ()
    zone: str = ""
    size: str = ""
    arch: str = ""
    name: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)
    node: Any = None


class Adapter(ABC):
    """One driver of libcloud.

    Attributes:
        unsupported: Constraints that the cloud does not have; they are ignored with a warning.
        arches: Architectures that machines may have.
        directives: The placement directives that the cloud has; `zone_of` knows those besides `zone`.
        login: Who logs in: `ubuntu` where user data makes that user, else the image's own user.
        most_user_data: The most bytes of user data that the cloud takes.
        currency: The currency of `InstanceType.cost` per hour; empty when the cost is no price.
        errors: The words of the cloud's errors.
        address_s: Seconds until an instance without an address is given up.
        look_s: Seconds between the first requests that ask whether something is ready; later ones are rarer.
        timeout_s: Seconds until a request without an answer is given up.
    """

    unsupported: ClassVar[frozenset[str]] = frozenset(
        {"tags", "virt-type", "cpu-power", "allocate-public-ip", "root-disk-source"}
    )
    arches: ClassVar[tuple[str, ...]] = ("amd64",)
    directives: ClassVar[tuple[str, ...]] = ("zone",)
    login: ClassVar[str] = "ubuntu"
    most_user_data: ClassVar[int] = 65536
    currency: ClassVar[str] = "USD"
    errors: ClassVar[ErrorWords] = ErrorWords()
    address_s: float = 300.0
    look_s: float = 1.0
    timeout_s: float = TIMEOUT_S

    def __init__(self, site: Site) -> None:
        self.site = site
        self.lock = threading.Lock()
        """For what machines of the model share and one of them has to make."""

    # --- the account --------------------------------------------------------------------------------------

    @abstractmethod
    def connect(self) -> Any:
        """Return a driver; makes no request. Called once in each thread."""

    def check(self, driver: Any) -> str:
        """Make one harmless call that needs the credential; return whose account it is, or nothing.

        Raises:
            NotValid: The region is not there; the message names those that are.
        """
        self.types(driver)
        return ""

    @abstractmethod
    def types(self, driver: Any) -> Sequence[InstanceType]:
        """Return the types of the region."""

    def zones(self, driver: Any) -> Sequence[tuple[str, bool]]:  # noqa: ARG002 - most clouds have none
        """Return (zone, whether it takes machines), in the cloud's order."""
        return ()

    def zone_of(self, driver: Any, place: str) -> str:  # noqa: ARG002 - most have zones only
        """Return the zone of the place that a directive other than `zone` names."""
        return ""

    def sizing(self, constraints: Constraints) -> Constraints:
        """Return the constraints that a type is picked by."""
        return constraints

    def refuse(self, driver: Any, constraints: Constraints) -> None:  # noqa: B027 - most take all that are known
        """Refuse what this cloud, as it is, cannot do, before anything is noted or made."""

    def vocabulary(self) -> Mapping[str, Sequence[Any]]:
        """Return the values that further constraints may have, besides types, zones and architectures."""
        return {}

    # --- machines -----------------------------------------------------------------------------------------

    @abstractmethod
    def create(self, driver: Any, order: Order) -> Seen:
        """Ask for one instance. Nobody repeats this without having looked for its identity."""

    @abstractmethod
    def machines(self, driver: Any, machine: str = "") -> Sequence[Seen]:
        """Return the instances of the model that are not about to end, or those of one machine."""

    def settle(self, driver: Any, seen: Seen, constraints: Constraints) -> Seen | None:  # noqa: ARG002
        """Give a new instance what is missing (an address); return None when it must be asked for again.

        Called again and again until it returns something, also for an instance that is found again.
        """
        return seen if seen.addresses else None

    def why(self, driver: Any, seen: Seen) -> str:  # noqa: ARG002 - most tell it with the instance
        """Return why an instance failed, as far as the cloud reports it."""
        return seen.word

    @abstractmethod
    def end(self, driver: Any, seen: Seen) -> None:
        """End an instance and let go of what was its own."""

    def sweep(self, driver: Any) -> None:  # noqa: B027 - most have nothing
        """Delete what else the model left in the cloud; called until it does not raise."""


class Guarding(ABC):
    """An adapter whose cloud guards machines by security groups; its type has the feature `firewall`."""

    @abstractmethod
    def set_ingress(self, driver: Any, machine: str, rules: MachineRules) -> None:
        """Let exactly these rules hold for a machine, beside SSH and the model's own machines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """One volume as the cloud shows it.

    Attributes:
        size: MiB.
        uuid: The storage that the volume was made for; empty when pushjuju did not make it.
        model: The model that holds the volume; empty when no model holds it.
        holders: Instances that it is attached to.
        ready: It can be attached, or deleted; or its attachment is complete.
        failed: Why it will never be ready.
        zone: Where it is, in clouds whose machines must be in the same zone; else empty.
    """

    id: str
    size: int
    uuid: str = ""
    model: str = ""
    holders: tuple[str, ...] = ()
    ready: bool = True
    failed: str = ""
    zone: str = ""
    raw: Any = None


class HasVolumes(ABC):
    """An adapter whose cloud has volumes; `storagekinds.STORAGE` names the type of storage."""

    @abstractmethod
    def volumes(self, driver: Any) -> Sequence[Volume]:
        """Return the volumes of the model."""

    @abstractmethod
    def volume(self, driver: Any, name: str) -> Volume | None:
        """Return a volume by its id, also another model's, or None when there is no such volume."""

    @abstractmethod
    def make_volume(self, driver: Any, item: StorageItem, holder: Seen | None) -> Volume:
        """Ask for a volume of at least `item.size`, where `holder` can have it."""

    @abstractmethod
    def attach_volume(self, driver: Any, volume: Volume, instance: str) -> None:
        """Ask for it to be attached."""

    @abstractmethod
    def detach_volume(self, driver: Any, volume: Volume, instance: str) -> None:
        """Ask the cloud to detach a volume from an instance."""

    @abstractmethod
    def delete_volume(self, driver: Any, volume: Volume) -> None:
        """Delete it."""

    @abstractmethod
    def own_volume(self, driver: Any, volume: Volume, model: str) -> None:
        """Note the model that holds the volume; an empty model releases the volume."""

    @abstractmethod
    def see_volume(self, driver: Any, volume: Volume, instance: str) -> StorageSeen:
        """Return how the machine knows it once it is attached: by serial number or by paths below /dev."""


def addresses(public: Iterable[str], private: Iterable[str]) -> tuple[Address, ...]:
    """Return addresses as the controller has them, public ones first."""
    pairs = [(value, "public") for value in public if value]
    pairs += [(value, "local-cloud") for value in private if value]
    return tuple(
        Address(value=value, scope=scope, type="ipv6" if ":" in value else "ipv4") for value, scope in pairs
    )
