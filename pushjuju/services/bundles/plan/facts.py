"""What a bundle is compared with: a model as plain values.

Mirrors: juju core/bundle/changes/model.go (3.6)
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pushjuju.services.bundles.read.values import ALL, Exposed


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitFacts:
    """A unit and the machine it is on."""

    name: str
    machine: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferFacts:
    """An offer of an application; `acl` is user -> level, without those that everyone has."""

    endpoints: tuple[str, ...] = ()
    acl: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationFacts:
    """An application as a bundle could describe it.

    Attributes:
        charm: Name in a store, or `local:NAME-N`.
        charm_name: The name in its metadata.
        origin: `local`, or where it came from.
        settings: The options that users set.
        effective: Every option with its value or default; None where it has neither.
        endpoints_bound: Endpoint -> space; the default has an empty name; empty when all is in alpha.
        storage: Store -> (pool, size in MiB, count).
        resources: Name -> revision in a store; -1 for one that was uploaded.
        uploads: Name -> SHA-384 in hex of a resource that was uploaded.
        arch: The architecture that its charm was taken from a store for; empty for a charm from a file.
        subordinate_to: Applications whose units its units are on.
    """

    name: str
    charm: str
    charm_name: str = ""
    origin: str = "local"
    channel: str = ""
    revision: int = -1
    base: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    effective: Mapping[str, Any] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    constraints: Mapping[str, Any] = field(default_factory=dict)
    exposed: bool = False
    exposures: Mapping[str, Exposed] = field(default_factory=dict)
    subordinate: bool = False
    subordinate_to: tuple[str, ...] = ()
    units: Sequence[UnitFacts] = ()
    endpoints_bound: Mapping[str, str] = field(default_factory=dict)
    storage: Mapping[str, tuple[str, int, int]] = field(default_factory=dict)
    resources: Mapping[str, int] = field(default_factory=dict)
    uploads: Mapping[str, str] = field(default_factory=dict)
    arch: str = ""
    trust: bool = False
    offers: Mapping[str, OfferFacts] = field(default_factory=dict)
    declared: tuple[str, ...] = ()

    @property
    def is_local(self) -> bool:
        """Whether its charm was uploaded."""
        return self.charm.startswith("local:")

    def space_of(self, endpoint: str) -> str:
        """Return the space of an endpoint; by default the application's default space."""
        bound = self.endpoints_bound
        return bound.get(endpoint) or bound.get(ALL) or "alpha"


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineFacts:
    """A machine.

    Attributes:
        storage: The storage on it that outlived its units.
    """

    id: str
    base: str = ""
    constraints: Mapping[str, Any] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    containers: tuple[str, ...] = ()
    storage: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """What a plan needs to know of a model.

    Attributes:
        relations: Pairs of `app:endpoint`, the requirer's side first; peers left out.
        sequences: `machine`, `application-NAME`, `machine-N/lxd` -> the next number.
        saas: Name -> URL.
        default_base: The model's `default-base`, or empty.
        arch: The architecture of charms whose constraints name no architecture.
        constraints: The model's constraints, which hold for new machines unless their own say otherwise.
    """

    applications: Mapping[str, ApplicationFacts] = field(default_factory=dict)
    machines: Mapping[str, MachineFacts] = field(default_factory=dict)
    relations: Sequence[tuple[str, str]] = ()
    sequences: Mapping[str, int] = field(default_factory=dict)
    saas: Mapping[str, str] = field(default_factory=dict)
    default_base: str = ""
    arch: str = "amd64"
    constraints: Mapping[str, Any] = field(default_factory=dict)

    def has_relation(self, first: str, second: str) -> bool:
        """Return True when two endpoints are related."""
        return (first, second) in self.relations or (second, first) in self.relations

    def digest(self) -> str:
        """Return what changes with everything that a plan depends on."""
        text = json.dumps(asdict(self), sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()


def top_machine(machine: str) -> str:
    """Return the machine on which a container is."""
    return machine.partition("/")[0]


def container_type(machine: str) -> str:
    """Return the type of a container; empty for a machine."""
    parts = machine.split("/")
    return parts[-2] if len(parts) > 1 else ""
