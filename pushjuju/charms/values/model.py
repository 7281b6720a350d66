"""The parts of a charm as values. Mirrors: juju/charm meta.go config.go actions.go manifest.go.

All values are immutable and can be converted to JSON and back (`to_wire`, `from_wire`), for the store.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any

from pushjuju.core.base import SERIES, Base
from pushjuju.core.values import dataclass

JUJU_INFO = "juju-info"


class Role(StrEnum):
    """The role of an endpoint in a relation."""

    PROVIDER = "provider"
    REQUIRER = "requirer"
    PEER = "peer"


class Scope(StrEnum):
    """Which remote units an endpoint sees: all units, or only those of the same principal unit."""

    GLOBAL = "global"
    CONTAINER = "container"


class OptionType(StrEnum):
    """The types of a charm's config options."""

    STRING = "string"
    INT = "int"
    FLOAT = "float"
    BOOLEAN = "boolean"
    SECRET = "secret"  # noqa: S105 (the word is Juju's name of the type)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An endpoint of a charm, which relations can use."""

    name: str
    role: Role
    interface: str
    limit: int = 0  # the greatest number of relations; 0 means no limit
    scope: Scope = Scope.GLOBAL
    optional: bool = False  # the author's `optional`, which is never checked

    @property
    def implicit(self) -> bool:
        """True for the endpoint that every charm has without declaring it."""
        return self.name == JUJU_INFO and self.interface == JUJU_INFO and self.role is Role.PROVIDER


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageMeta:
    """Storage that a charm declares; `minimum_size` in MiB (0 for any), `count_max` -1 for no limit."""

    name: str
    type: str
    description: str = ""
    shared: bool = False
    read_only: bool = False
    count_min: int = 1
    count_max: int = 1
    minimum_size: int = 0
    location: str = ""
    properties: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceMeta:
    """A device that a charm needs, such as a GPU."""

    name: str
    type: str
    description: str = ""
    count_min: int = 1
    count_max: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceMeta:
    """A file that users attach or a store delivers in addition to the charm."""

    name: str
    type: str = "file"
    filename: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadMeta:
    """A payload class, which only the old payload hook tools use."""

    name: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """A feature that a charm assumes; `op` is empty, `>=` or `<`."""

    name: str
    op: str = ""
    version: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Composite:
    """Features joined by `any-of` or `all-of`."""

    kind: str
    items: tuple[Feature | Composite, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CharmMeta:
    """The content of `metadata.yaml`. The keys of its maps are names."""

    name: str
    summary: str = ""
    description: str = ""
    subordinate: bool = False
    series: tuple[str, ...] = ()
    provides: Mapping[str, Endpoint] = field(default_factory=dict)
    requires: Mapping[str, Endpoint] = field(default_factory=dict)
    peers: Mapping[str, Endpoint] = field(default_factory=dict)
    extra_bindings: tuple[str, ...] = ()
    storage: Mapping[str, StorageMeta] = field(default_factory=dict)
    devices: Mapping[str, DeviceMeta] = field(default_factory=dict)
    resources: Mapping[str, ResourceMeta] = field(default_factory=dict)
    payloads: Mapping[str, PayloadMeta] = field(default_factory=dict)
    terms: tuple[str, ...] = ()
    assumes: tuple[Feature | Composite, ...] = ()
    min_juju_version: str = ""
    charm_user: str = ""
    tags: tuple[str, ...] = ()

    def endpoints(self) -> Iterator[Endpoint]:
        """Yield all declared endpoints: provides, requires, peers, each sorted by name."""
        for group in (self.provides, self.requires, self.peers):
            for name in sorted(group):
                yield group[name]

    def find_endpoint(self, name: str) -> Endpoint | None:
        """Return the endpoint with a name, also the implicit `juju-info`, or None when it is missing."""
        for group in (self.provides, self.requires, self.peers):
            if name in group:
                return group[name]
        return implicit_endpoint() if name == JUJU_INFO else None


def implicit_endpoint() -> Endpoint:
    """Return the endpoint that every charm provides."""
    return Endpoint(name=JUJU_INFO, role=Role.PROVIDER, interface=JUJU_INFO)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigOption:
    """One option of a charm; a `default` of None means no default."""

    name: str
    type: OptionType = OptionType.STRING
    default: str | int | float | bool | None = None
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionSpec:
    """One action of a charm; `schema` is the JSON schema (draft 4) of its parameters."""

    name: str
    description: str = "No description"
    title: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict)
    parallel: bool = False
    execution_group: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestBase:
    """A base that a charm runs on; without architectures, any architecture will do."""

    base: Base
    architectures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The content of `manifest.yaml`."""

    bases: tuple[ManifestBase, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LXDProfile:
    """The content of `lxd-profile.yaml`."""

    description: str = ""
    config: Mapping[str, str] = field(default_factory=dict)
    devices: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    # key path -> `path:line`, for the parts that a charm may not ask for; not stored
    places: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def empty(self) -> bool:
        """True when the profile asks for nothing."""
        return not self.config and not self.devices


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricMeta:
    """One metric of a charm; `type` is empty for Juju's built-in metrics."""

    name: str
    type: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    """The content of `metrics.yaml`, which is stored but not used."""

    metrics: Mapping[str, MetricMeta] = field(default_factory=dict)
    plan_required: bool | None = None  # True when the charm requires a plan; None when the file does not say


@dataclass(frozen=True, slots=True, kw_only=True)
class Charm:
    """A charm as its files describe it."""

    meta: CharmMeta
    config: Mapping[str, ConfigOption] = field(default_factory=dict)
    actions: Mapping[str, ActionSpec] = field(default_factory=dict)
    manifest: Manifest | None = None
    revision: int = 0  # the number in the `revision` file, or 0 without that file
    version: str = ""  # the text that status shows as charm-version
    lxd_profile: LXDProfile | None = None
    metrics: Metrics | None = None
    format: int = 1  # 1 when the metadata names series, 2 when the manifest names bases
    warnings: tuple[str, ...] = ()  # warnings for the author, shown once; the charm is valid all the same

    @property
    def name(self) -> str:
        return self.meta.name

    def bases(self) -> tuple[Base, ...]:
        """Return the bases that the charm names: the manifest's, or else those of its series."""
        if self.manifest and self.manifest.bases:
            return tuple(dict.fromkeys(entry.base for entry in self.manifest.bases))
        known = (series for series in self.meta.series if series in SERIES)
        return tuple(dict.fromkeys(Base.from_series(series) for series in known))
