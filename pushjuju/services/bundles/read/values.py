"""The typed values of a bundle. Mirrors: juju/charm v12 bundledata.go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from pushjuju.core.base import Base
from pushjuju.core.values import dataclass

Path = tuple[str | int, ...]
EVERYWHERE = ("0.0.0.0/0", "::/0")
ALL = ""  # the endpoint name that stands for all endpoints without an entry of their own


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The file and line of a value; `text` is a plain value as it was written, before YAML made its type."""

    file: str
    line: int
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault of a bundle."""

    text: str  # the fault, in Juju's words where Juju has a text for it
    path: Path = ()  # the keys that lead to the value in the document
    place: Place | None = None  # the file and line, or None when they are unknown
    more: tuple[str, ...] = ()  # further lines: the possible values, or other faults of the same entity

    def __str__(self) -> str:
        where = [".".join(str(part) for part in self.path)] if self.path else []
        where += [f"{self.place.file}:{self.place.line}"] if self.place else []
        first = f"{self.text} ({', '.join(where)})" if where else self.text
        return "\n".join([first, *(f"  {line}" for line in self.more)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposed:
    """The spaces and CIDRs from which an endpoint may be reached."""

    spaces: tuple[str, ...] = ()
    cidrs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Endpoints that other models may use; `acl` is user -> access level."""

    endpoints: tuple[str, ...] = ()
    acl: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """One application of a bundle; the attributes are named like the keys."""

    name: str
    charm: str = ""
    channel: str = ""
    revision: int | None = None  # the revision in a store, or None when the bundle names no revision
    series: str = ""
    base: str = ""
    resources: Mapping[str, int | str] = field(default_factory=dict)  # name -> store revision, or path
    num_units: int = 0
    to: tuple[str, ...] = ()
    placement: str = ""
    expose: bool = False
    # endpoint -> the networks that may reach it
    exposed_endpoints: Mapping[str, Exposed] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    constraints: str = ""
    storage: Mapping[str, str] = field(default_factory=dict)
    devices: Mapping[str, str] = field(default_factory=dict)
    bindings: Mapping[str, str] = field(default_factory=dict)
    offers: Mapping[str, Offer] = field(default_factory=dict)
    trust: bool = False
    written: frozenset[str] = frozenset()

    @property
    def is_local(self) -> bool:
        """True when the charm is a path, or a charm that was uploaded to the model."""
        return self.charm.startswith((".", "/", "local:"))

    @property
    def charm_name(self) -> str:
        """The charm's name without `ch:`, as models keep it."""
        return self.charm.removeprefix("ch:")

    @property
    def trusted(self) -> bool:
        """True when the application asks for the cloud's credential."""
        return self.trust or self.options.get("trust") is True

    @property
    def settings(self) -> dict[str, Any]:
        """The options without `trust`, which belongs to the application and not to its charm."""
        return {key: value for key, value in self.options.items() if key != "trust"}

    @property
    def exposures(self) -> dict[str, Exposed]:
        """Endpoint -> the networks that may reach it; plain `expose` opens all endpoints to all networks."""
        if self.exposed_endpoints:
            return dict(self.exposed_endpoints)
        return {ALL: Exposed(cidrs=EVERYWHERE)} if self.expose else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """One machine of a bundle."""

    constraints: str = ""
    annotations: Mapping[str, str] = field(default_factory=dict)
    series: str = ""
    base: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """A bundle with its overlays merged."""

    type: str = ""
    description: str = ""
    series: str = ""
    default_base: str = ""
    saas: Mapping[str, str] = field(default_factory=dict)  # name -> URL of an offer
    applications: Mapping[str, Application] = field(default_factory=dict)
    machines: Mapping[str, Machine] = field(default_factory=dict)
    relations: Sequence[Sequence[str]] = ()  # pairs of `app[:endpoint]`, as the bundle has them


def endpoint(text: str) -> tuple[str, str]:
    """Split `app[:endpoint]`; the endpoint may be empty."""
    application, _, name = text.partition(":")
    return application, name


def machine_base(bundle: Bundle, machine: Machine) -> str:
    """Return the base that a bundle gives a machine, `os@track/risk`, or an empty text."""
    return _first_base(machine.base, machine.series, bundle.default_base, bundle.series)


def application_base(bundle: Bundle, app: Application) -> str:
    """Return the base that a bundle gives an application, `os@track/risk`, or an empty text."""
    return _first_base(app.base, app.series, bundle.default_base, bundle.series)


def _first_base(base: str, series: str, default_base: str, default_series: str) -> str:
    for text, old in ((base, series), (default_base, default_series)):
        if text:
            return str(Base.parse(text))
        if old:
            return str(Base.from_series(old))
    return ""
