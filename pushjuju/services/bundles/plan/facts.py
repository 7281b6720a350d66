"""A model as plain values, which a bundle is compared with.

Mirrors: juju core/bundle/changes/model.go (3.6)
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, field
from typing import Any

from pushjuju.core.values import dataclass
from pushjuju.services.bundles.read.values import ALL, Exposed


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitFacts:
    """A unit and the machine it is on."""

    name: str
    machine: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferFacts:
    """An offer of an application; `acl` is user -> access level, without `everyone@external`."""

    endpoints: tuple[str, ...] = ()
    acl: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationFacts:
    """An application, in the terms of a bundle."""

    name: str
    charm: str  # the charm's name in a store, or `local:NAME-N`
    charm_name: str = ""  # the name in the charm's metadata
    origin: str = "local"  # `local`, or the store that the charm came from
    channel: str = ""
    revision: int = -1
    base: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)  # the options that users set
    # every option with its value or default; None when the option has neither
    effective: Mapping[str, Any] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    constraints: Mapping[str, Any] = field(default_factory=dict)
    exposed: bool = False
    exposures: Mapping[str, Exposed] = field(default_factory=dict)
    subordinate: bool = False
    # the principal applications of its units, for a subordinate application
    subordinate_to: tuple[str, ...] = ()
    units: Sequence[UnitFacts] = ()
    # endpoint -> space; "" stands for the default; empty when all endpoints are in alpha
    endpoints_bound: Mapping[str, str] = field(default_factory=dict)
    # store -> (pool, size in MiB, count)
    storage: Mapping[str, tuple[str, int, int]] = field(default_factory=dict)
    # name -> revision in a store; -1 for an uploaded file
    resources: Mapping[str, int] = field(default_factory=dict)
    uploads: Mapping[str, str] = field(default_factory=dict)  # name -> SHA-384 in hex of the uploaded file
    arch: str = ""  # the architecture that the store was asked for; empty for a charm from a file
    trust: bool = False
    offers: Mapping[str, OfferFacts] = field(default_factory=dict)
    declared: tuple[str, ...] = ()

    @property
    def is_local(self) -> bool:
        """True when the charm was uploaded."""
        return self.charm.startswith("local:")

    def space_of(self, endpoint: str) -> str:
        """Return the space of an endpoint, or the default space when the endpoint has no binding."""
        bound = self.endpoints_bound
        return bound.get(endpoint) or bound.get(ALL) or "alpha"


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineFacts:
    """A machine, in the terms of a bundle."""

    id: str
    base: str = ""
    constraints: Mapping[str, Any] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    containers: tuple[str, ...] = ()
    storage: tuple[str, ...] = ()  # storage that is left on the machine after its units have ended


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """The facts of a model on which a plan depends."""

    applications: Mapping[str, ApplicationFacts] = field(default_factory=dict)
    machines: Mapping[str, MachineFacts] = field(default_factory=dict)
    # pairs of `app:endpoint`, the requirer first; without peer relations
    relations: Sequence[tuple[str, str]] = ()
    # `machine`, `application-NAME` or `machine-N/lxd` -> the next number that is given
    sequences: Mapping[str, int] = field(default_factory=dict)
    saas: Mapping[str, str] = field(default_factory=dict)  # name of a consumed offer -> URL
    default_base: str = ""  # the model's `default-base`, or empty
    daily_images: bool = False  # True with `image-stream: daily`
    arch: str = "amd64"  # the architecture of charms whose constraints name no architecture
    # the model's constraints, the defaults for new machines
    constraints: Mapping[str, Any] = field(default_factory=dict)

    def has_relation(self, first: str, second: str) -> bool:
        """Return True when two endpoints are related."""
        return (first, second) in self.relations or (second, first) in self.relations

    def digest(self) -> str:
        """Return a SHA-256 in hex, which differs when anything differs that a plan depends on."""
        text = json.dumps(asdict(self), sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()


def top_machine(machine: str) -> str:
    """Return the number of a machine, or of the machine that hosts a container."""
    return machine.partition("/")[0]


def container_type(machine: str) -> str:
    """Return the type of a container; empty for a machine."""
    parts = machine.split("/")
    return parts[-2] if len(parts) > 1 else ""
