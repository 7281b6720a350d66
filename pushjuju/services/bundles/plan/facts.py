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
    """An application, in the terms of a bundle.

    Attributes:
        charm: The charm's name in a store, or `local:NAME-N`.
        charm_name: The name in the charm's metadata.
        origin: `local`, or the store that the charm came from.
        settings: The options that users set.
        effective: Every option with its value or default; None when the option has neither.
        endpoints_bound: Endpoint -> space; "" stands for the default; empty when all endpoints are in alpha.
        storage: Store -> (pool, size in MiB, count).
        resources: Name -> revision in a store; -1 for an uploaded file.
        uploads: Name -> SHA-384 in hex of the uploaded file.
        arch: The architecture that the store was asked for; empty for a charm from a file.
        subordinate_to: The principal applications of its units, for a subordinate application.
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
        """True when the charm was uploaded."""
        return self.charm.startswith("local:")

    def space_of(self, endpoint: str) -> str:
        """Return the space of an endpoint, or the default space when the endpoint has no binding."""
        bound = self.endpoints_bound
        return bound.get(endpoint) or bound.get(ALL) or "alpha"


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineFacts:
    """A machine, in the terms of a bundle.

    Attributes:
        storage: Storage that is left on the machine after its units have ended.
    """

    id: str
    base: str = ""
    constraints: Mapping[str, Any] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    containers: tuple[str, ...] = ()
    storage: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """The facts of a model on which a plan depends.

    Attributes:
        relations: Pairs of `app:endpoint`, the requirer first; without peer relations.
        sequences: `machine`, `application-NAME` or `machine-N/lxd` -> the next number that is given.
        saas: Name of a consumed offer -> URL.
        default_base: The model's `default-base`, or empty.
        daily_images: True with `image-stream: daily`.
        arch: The architecture of charms whose constraints name no architecture.
        constraints: The model's constraints, the defaults for new machines.
    """

    applications: Mapping[str, ApplicationFacts] = field(default_factory=dict)
    machines: Mapping[str, MachineFacts] = field(default_factory=dict)
    relations: Sequence[tuple[str, str]] = ()
    sequences: Mapping[str, int] = field(default_factory=dict)
    saas: Mapping[str, str] = field(default_factory=dict)
    default_base: str = ""
    daily_images: bool = False
    arch: str = "amd64"
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
