"""The contract of adapters, which let pushjuju use a driver of libcloud as a provider.

An adapter knows one driver: how to connect, what the driver's answers mean, and what its requests need. It
keeps no important state; `cloudprovider.py` makes the decisions. Its methods block and get the driver of the
calling thread; several threads may call them at once. They may raise any error of libcloud: the attribute
`errors` says which texts mean a refused credential, a used-up quota or a busy cloud.
"""

from __future__ import annotations

import hashlib
import re
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
from pushjuju.core.values import regex
from pushjuju.plugins.api.clouds import CloudSpec, Credential
from pushjuju.plugins.api.providers import Address, ModelInfo, Services
from pushjuju.plugins.api.storage_types import StorageItem, StorageSeen
from pushjuju.plugins.providers.libcloud.calls import TIMEOUT_S, ErrorWords

MODEL_TAG, MACHINE_TAG, NONCE_TAG = "juju-model-uuid", "pushjuju-machine", "pushjuju-nonce"
_NAME = regex(r"juju-([0-9a-f]{32})-([0-9a-z-]+?)-([0-9a-f]{16}|none)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The model, the machine and the request for which an instance was made, as tags, words or a name.

    A repeated start finds the instance of the first start by this identity, which contains a digest of the
    request's nonce, since few clouds accept every character.
    """

    model: str
    machine: str
    nonce: str  # a digest that is unique for the request; an instance without a nonce is never found

    @classmethod
    def of(cls, model: str, machine: str, nonce: str) -> Identity:
        found = hashlib.sha256(f"{model} {machine} {nonce}".encode()).hexdigest()[:16]
        return cls(model=model, machine=machine, nonce=found if nonce else "")

    def tags(self) -> dict[str, str]:
        """Return the identity as tags with lower-case letters, digits and dashes."""
        machine = self.machine.replace("/", "-")
        return {MODEL_TAG: self.model, MACHINE_TAG: machine, NONCE_TAG: self.nonce}

    @classmethod
    def from_tags(cls, tags: Mapping[str, str]) -> Identity:
        """Return the identity that `tags` wrote; missing parts are empty."""
        return cls(
            model=tags.get(MODEL_TAG, ""),
            machine=tags.get(MACHINE_TAG, "").replace("-", "/"),
            nonce=tags.get(NONCE_TAG, ""),
        )

    def words(self) -> list[str]:
        """Return the identity as `key:value`, for clouds whose tags are single words."""
        return [word(key, value) for key, value in self.tags().items()]

    @classmethod
    def from_words(cls, words: Iterable[str]) -> Identity:
        """Return the identity that `words` wrote; other words are ignored."""
        return cls.from_tags(dict(item.split(":", 1) for item in words if ":" in item))

    def name(self) -> str:
        """Return the identity as an instance's name of at most 63 characters, for clouds without tags."""
        machine = self.machine.replace("/", "-")
        return f"juju-{self.model.replace('-', '')}-{machine}-{self.nonce or 'none'}"

    @classmethod
    def from_name(cls, text: str) -> Identity:
        """Return the identity that `name` wrote; any other name has an empty identity."""
        found = _NAME.fullmatch(text)
        if not found:
            return cls(model="", machine="", nonce="")
        raw, machine, nonce = found.groups()
        model = "-".join((raw[:8], raw[8:12], raw[12:16], raw[16:20], raw[20:]))
        return cls(model=model, machine=machine.replace("-", "/"), nonce="" if nonce == "none" else nonce)


def word(key: str, value: str) -> str:
    """Return a tag for clouds whose tags are single words of letters, digits and `:_-`."""
    return re.sub(r"[^A-Za-z0-9:_-]", "_", f"{key}:{value}")[:255]


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
    """The order for one instance: everything that a request to make it needs."""

    identity: Identity
    name: str
    size: InstanceType
    base: Base
    arch: str
    # the image that the user chose (constraint `image-id`, or `images` of the cloud); when empty, the base
    # decides
    image: str = ""
    zone: str = ""
    place: str = ""  # the value of a placement directive other than `zone`
    # all tags, including those of the instance's identity
    tags: Mapping[str, str] = field(default_factory=dict)
    user_data: str = ""  # the cloud-config document as text; empty for clouds without user data
    keys: tuple[str, ...] = ()  # public keys that may log in
    root_disk: int = 0  # the size in MiB; 0 for the default of the type or the image
    constraints: Constraints = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One instance in the cloud, in its present state."""

    id: str
    identity: Identity
    status: InstanceStatus = InstanceStatus.UNKNOWN
    word: str = ""  # the cloud's word for the state, or the reason of a failure
    addresses: tuple[Address, ...] = ()
    zone: str = ""
    size: str = ""  # the name of the instance's type
    arch: str = ""  # the architecture, when the instance's type does not determine it
    name: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)
    node: Any = None  # the driver's object or data, which the adapter needs for further calls


class Adapter(ABC):
    """One driver of libcloud."""

    # constraints that the cloud does not have; the user is warned that they are ignored
    unsupported: ClassVar[frozenset[str]] = frozenset(
        {"tags", "virt-type", "cpu-power", "allocate-public-ip", "root-disk-source"}
    )
    arches: ClassVar[tuple[str, ...]] = ("amd64",)  # architectures that machines may have
    # the placement directives of the cloud; `zone_of` handles those other than `zone`
    directives: ClassVar[tuple[str, ...]] = ("zone",)
    # the user who logs in: `ubuntu` where user data creates that user, else the image's user
    login: ClassVar[str] = "ubuntu"
    most_user_data: ClassVar[int] = 65536  # the most bytes of user data that the cloud takes
    # the currency of `InstanceType.cost`, per hour; empty when the cost is not a price
    currency: ClassVar[str] = "USD"
    errors: ClassVar[ErrorWords] = ErrorWords()  # the texts of the cloud's errors
    address_s: float = 300.0  # seconds after which the start of an instance without an address fails
    look_s: float = 1.0  # seconds between the first polls; later polls are less frequent
    timeout_s: float = TIMEOUT_S  # seconds after which a request without an answer is aborted

    def __init__(self, site: Site) -> None:
        self.site = site
        self.lock = threading.Lock()
        """A lock for the shared resources of the model's machines, so that one thread makes them."""

    # --- the account --------------------------------------------------------------------------------------

    @abstractmethod
    def connect(self) -> Any:
        """Return a driver; send no request. Called once in each thread."""

    def check(self, driver: Any) -> str:
        """Make one harmless call that needs the credential; return the account's name, or an empty text.

        Raises:
            NotValid: The region does not exist; the message names the regions that exist.
        """
        self.types(driver)
        return ""

    @abstractmethod
    def types(self, driver: Any) -> Sequence[InstanceType]:
        """Return the types of the region."""

    def zones(self, driver: Any) -> Sequence[tuple[str, bool]]:  # noqa: ARG002 - most clouds have none
        """Return (zone, True when the zone is available), in the cloud's order."""
        return ()

    def zone_of(self, driver: Any, place: str) -> str:  # noqa: ARG002 - most have zones only
        """Return the zone of a place, the value of a directive other than `zone`."""
        return ""

    def sizing(self, constraints: Constraints) -> Constraints:
        """Return the constraints by which a type is chosen."""
        return constraints

    def refuse(self, driver: Any, constraints: Constraints) -> None:  # noqa: B027 - most accept them all
        """Refuse constraints that this cloud cannot satisfy, before anything is recorded or made."""

    def vocabulary(self) -> Mapping[str, Sequence[Any]]:
        """Return the allowed values of constraints other than types, zones and architectures."""
        return {}

    # --- machines -----------------------------------------------------------------------------------------

    @abstractmethod
    def create(self, driver: Any, order: Order) -> Seen:
        """Request an instance. The caller repeats this only after a search for the instance's identity."""

    @abstractmethod
    def machines(self, driver: Any, machine: str = "") -> Sequence[Seen]:
        """Return the instances of the model, or of one machine, without those that are ending."""

    def settle(self, driver: Any, seen: Seen, constraints: Constraints) -> Seen | None:  # noqa: ARG002
        """Complete a new instance (with an address); return None when the caller has to poll again.

        The caller repeats the call until it returns an instance, even for an instance of an earlier start.
        """
        return seen if seen.addresses else None

    def why(self, driver: Any, seen: Seen) -> str:  # noqa: ARG002 - most clouds report the reason with the instance
        """Return the reason why an instance failed, as far as the cloud reports one."""
        return seen.word

    @abstractmethod
    def end(self, driver: Any, seen: Seen) -> None:
        """End an instance and release its own resources."""

    def sweep(self, driver: Any) -> None:  # noqa: B027 - most have nothing else
        """Delete the model's other resources in the cloud. Called again until it raises no error."""


class Guarding(ABC):
    """An adapter whose cloud has security groups; the type of cloud has the feature `firewall`."""

    @abstractmethod
    def set_ingress(self, driver: Any, machine: str, rules: MachineRules) -> None:
        """Set the rules of a machine to exactly these, in addition to SSH and the model's machines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """One volume in the cloud, in its present state."""

    id: str
    size: int  # the size in MiB
    # the `uuid` of the storage for which the volume was made; empty when pushjuju did not make it
    uuid: str = ""
    model: str = ""  # the model that holds the volume; empty when no model holds it
    holders: tuple[str, ...] = ()  # ids of the instances to which the volume is attached
    ready: bool = True  # True when the volume can be attached or deleted, and when its attachment is complete
    failed: str = ""  # the reason why the volume will never be ready; empty without a failure
    zone: str = ""  # the zone of the volume when instances must be in the same zone; else empty
    raw: Any = None


class HasVolumes(ABC):
    """An adapter whose cloud has volumes; `storagekinds.STORAGE` describes the type of storage."""

    @abstractmethod
    def volumes(self, driver: Any) -> Sequence[Volume]:
        """Return the volumes of the model."""

    @abstractmethod
    def volume(self, driver: Any, name: str) -> Volume | None:
        """Return a volume by its id, of any model, or None when there is no such volume."""

    @abstractmethod
    def make_volume(self, driver: Any, item: StorageItem, holder: Seen | None) -> Volume:
        """Request a volume of at least `item.size` MiB, in a place where `holder` can use it."""

    @abstractmethod
    def attach_volume(self, driver: Any, volume: Volume, instance: str) -> None:
        """Ask the cloud to attach a volume to an instance."""

    @abstractmethod
    def detach_volume(self, driver: Any, volume: Volume, instance: str) -> None:
        """Ask the cloud to detach a volume from an instance."""

    @abstractmethod
    def delete_volume(self, driver: Any, volume: Volume) -> None:
        """Delete a volume."""

    @abstractmethod
    def own_volume(self, driver: Any, volume: Volume, model: str) -> None:
        """Mark a volume as the model's own; an empty `model` removes the mark."""

    @abstractmethod
    def see_volume(self, driver: Any, volume: Volume, instance: str) -> StorageSeen:
        """Return how the machine finds an attached volume: by serial number or by paths below /dev."""


def addresses(public: Iterable[str], private: Iterable[str]) -> tuple[Address, ...]:
    """Return addresses in the controller's form, public addresses first."""
    pairs = [(value, "public") for value in public if value]
    pairs += [(value, "local-cloud") for value in private if value]
    return tuple(
        Address(value=value, scope=scope, type="ipv6" if ":" in value else "ipv4") for value, scope in pairs
    )
