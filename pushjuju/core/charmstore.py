"""The queries that pushjuju sends to a store of charms, and the answers: values that all sources share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import field

from pushjuju.core.base import Base, Channel
from pushjuju.core.errors import PushjujuError
from pushjuju.core.values import dataclass

Step = Callable[[str, dict[str, str | int]], AbstractContextManager[object]]
"""A function that returns a context manager around a request to a store.

It is called with the name of the step, and with values that the caller may add to until the end.
"""


def _untold(_name: str, _values: dict[str, str | int]) -> AbstractContextManager[object]:
    return nullcontext()


STEP: ContextVar[Step] = ContextVar("step", default=_untold)
"""Gets the requests to stores, for traces."""

DEFAULT_ARCH = "amd64"
CHARM, BUNDLE = "charm", "bundle"


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """Architecture, operating system and release: `amd64/ubuntu/22.04`; an unknown part is empty."""

    arch: str = DEFAULT_ARCH
    os: str = ""
    track: str = ""

    @classmethod
    def of(cls, base: Base | None, arch: str = DEFAULT_ARCH) -> Platform:
        """Return the platform of a base; without a base, the OS and track stay unknown."""
        return cls(arch=arch, os=base.os, track=base.track) if base else cls(arch=arch)

    @property
    def base(self) -> Base | None:
        """The base, or None when the operating system or the release is unknown."""
        return Base(self.os, self.track) if self.os and self.track else None

    def __str__(self) -> str:
        return "/".join(part for part in (self.arch, self.os, self.track) if part)


class HubError(PushjujuError, message="the charm store failed", code="charm-store"):
    """A store of charms refused or failed.

    Attributes:
        reason: The store's code for the fault, such as `revision-not-found`; empty when there is no code.
        releases: The (channel, platform) pairs that the store offers instead of the requested release.
    """

    def __init__(
        self,
        message: str | None = None,
        *,
        reason: str = "",
        detail: str = "",
        hint: str = "",
        retryable: bool | None = None,
        releases: tuple[tuple[Channel, Platform], ...] = (),
    ) -> None:
        super().__init__(message, detail=detail, hint=hint, retryable=retryable)
        self.reason = reason
        self.releases = releases


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """The charm that an application has now from a store; the store wants to know this at a refresh."""

    id: str
    revision: int
    channel: Channel
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One charm or bundle to look up in a store.

    Attributes:
        channel: The channel, or None for the charm's default channel.
        revision: A revision, or -1 for the newest of the channel. A request with a revision sends no channel.
        held: The charm that the application has already, for a refresh.
        resources: Resource name -> the revision to use instead of the one released with the charm.
    """

    name: str
    channel: Channel | None = None
    revision: int = -1
    platform: Platform = field(default_factory=Platform)
    held: Held | None = None
    resources: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """A file of a store: its address, size and hash; a size of 0 or an empty hash is unknown."""

    url: str
    sha256: str = ""
    sha384: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreResource:
    """A revision of a charm's resource."""

    name: str
    type: str = "file"
    filename: str = ""
    description: str = ""
    revision: int = 0
    download: Download = field(default_factory=lambda: Download(url=""))


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreCharm:
    """The answer of a store: one revision of a charm or bundle.

    Attributes:
        kind: `charm` or `bundle`.
        channel: The channel that the application follows from now on; None for an answer by revision.
        platforms: All platforms of the charm, as far as the store lists them.
        source: Name of the source type that answered.
        metadata: The text of metadata.yaml; empty when the store does not send it.
        config: The text of config.yaml; empty when the store does not send it.
    """

    id: str
    name: str
    kind: str = CHARM
    revision: int
    channel: Channel | None = None
    platform: Platform
    platforms: tuple[Platform, ...] = ()
    download: Download
    resources: tuple[StoreResource, ...] = ()
    version: str = ""
    source: str = "charm-hub"
    metadata: str = ""
    config: str = ""

    @property
    def bases(self) -> tuple[Base, ...]:
        """The bases that the charm is made for, in the store's order."""
        found = (item.base for item in self.platforms if item.arch in (self.platform.arch, "", "all"))
        return tuple(dict.fromkeys(base for base in found if base))
