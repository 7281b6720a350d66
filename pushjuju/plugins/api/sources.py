"""Sources of charms: stores with many charms, and places with one charm."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pushjuju.core.charmstore import Ask, Download, HubError, StoreCharm, StoreResource
from pushjuju.core.clock import Clock, SystemClock
from pushjuju.core.values import dataclass

if TYPE_CHECKING:
    from random import Random

Tell = Callable[[int, int], None]
"""A function that a download calls with (bytes received, bytes in all); 0 in all when unknown."""


def no_tell(_here: int, _all: int) -> None:
    """Ignore a report of progress."""


def _unseeded() -> Random:
    return random.Random()  # noqa: S311 - jitter needs no secure random numbers


class SourceKind(StrEnum):
    """The kind of a source."""

    STORE = "store"
    PLACE = "place"


@dataclass(frozen=True, slots=True, kw_only=True)
class CharmSourceType:
    """A type of charm source.

    Attributes:
        kind: A store has many charms with revisions; a place has one charm, at the address that the user
            types.
        accepts: Returns True for an address of this type; it only reads the text.
    """

    name: str
    kind: SourceKind
    summary: str
    accepts: Callable[[str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceServices:
    """The settings and functions of the controller that a source may use.

    Attributes:
        config: The model's configuration (with the proxies); empty without a model.
        environ: The environment variables of the process.
        sleep: Waits for some seconds.
        patient: True when a request to a busy store is repeated.
    """

    config: Mapping[str, Any] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict)
    clock: Clock = field(default_factory=SystemClock)
    random: Random = field(default_factory=_unseeded)
    sleep: Callable[[float], None] = time.sleep
    patient: bool = True


class CharmStore(Protocol):
    """A store of charms; each method may wait for the network, and runs in a thread of its own."""

    def resolve(self, asks: Sequence[Ask]) -> Sequence[StoreCharm | HubError]:
        """Return for each query the revision, or the error that says why none fits, in one request for all.

        Raises:
            HubError: The store cannot be reached.
        """
        ...

    def resources(self, charm: str, resource: str) -> Sequence[StoreResource]:
        """Return all revisions of a resource that a store lists.

        Raises:
            HubError: The store has no such charm or resource, or cannot be reached.
        """
        ...

    def fetch(self, wanted: Download, target: Path, what: str, tell: Tell = no_tell) -> None:
        """Download a file to `target` and check its hashes; a download that broke off is continued.

        Raises:
            HubError: The download failed, or differs from what the store described.
        """
        ...

    def info(self, name: str, channel: str = "") -> Mapping[str, Any]:
        """Return the description of a charm or bundle, in the form of Charmhub's `info`.

        Raises:
            HubError: The store has no such charm, or cannot be reached.
        """
        ...

    def find(self, query: str, options: Mapping[str, str]) -> Sequence[Mapping[str, Any]]:
        """Return the charms and bundles that match a text, in the form of Charmhub's `find`.

        Raises:
            HubError: The store cannot be reached.
        """
        ...


class CharmPlace(Protocol):
    """One charm, at an address that the user typed."""

    def bring(self, work: Path) -> Path:
        """Return the charm's directory or archive on this computer.

        Args:
            work: An empty folder for files that have to be fetched; the folder is removed after the command.

        Raises:
            NotFound: There is no charm at the address.
            PushjujuError: The charm cannot be fetched.
        """
        ...
