"""Sources of charms: stores and places."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from random import Random
from typing import Any, Protocol

from pushjuju.core.charmstore import Ask, Download, HubError, StoreCharm, StoreResource
from pushjuju.core.clock import Clock, SystemClock

Tell = Callable[[int, int], None]
"""Told of a download: bytes that are here, bytes in all (0: not known)."""


def no_tell(_here: int, _all: int) -> None:
    """Take a report and do nothing with it."""


class SourceKind(StrEnum):
    """What a source is."""

    STORE = "store"
    PLACE = "place"


@dataclass(frozen=True, slots=True, kw_only=True)
class CharmSourceType:
    """A type of charm source.

    Attributes:
        kind: A store has many charms with revisions; a place is one charm that the user names.
        accepts: Returns True for an address of this type; reads the text only and asks no server.
    """

    name: str
    kind: SourceKind
    summary: str
    accepts: Callable[[str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceServices:
    """What the controller lends to a source.

    Attributes:
        config: The model's configuration (proxies), empty without a model.
        environ: The process environment.
        sleep: Waits some seconds.
        patient: Whether a store that is busy is asked again.
    """

    config: Mapping[str, Any] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict)
    clock: Clock = field(default_factory=SystemClock)
    random: Random = field(default_factory=Random)
    sleep: Callable[[float], None] = time.sleep
    patient: bool = True


class CharmStore(Protocol):
    """A store of charms; every method may wait for the network, in a thread of its own."""

    def resolve(self, asks: Sequence[Ask]) -> Sequence[StoreCharm | HubError]:
        """Return the revision for each question, or why no revision fits; one round for all questions.

        Raises:
            HubError: The store cannot be asked.
        """
        ...

    def resources(self, charm: str, resource: str) -> Sequence[StoreResource]:
        """Return all revisions of a resource that a store lists.

        Raises:
            HubError: No such charm or resource, or the store cannot be asked.
        """
        ...

    def fetch(self, wanted: Download, target: Path, what: str, tell: Tell = no_tell) -> None:
        """Bring a file to `target`, whole and checked against its hashes; a cut one is gone on with.

        Raises:
            HubError: The download failed, or differs from what the store described.
        """
        ...

    def info(self, name: str, channel: str = "") -> Mapping[str, Any]:
        """Return the description of a charm or bundle, in the form of Charmhub's `info`.

        Raises:
            HubError: No such charm, or the store cannot be asked.
        """
        ...

    def find(self, query: str, options: Mapping[str, str]) -> Sequence[Mapping[str, Any]]:
        """Return the charms and bundles that fit a text, in the form of Charmhub's `find`.

        Raises:
            HubError: The store cannot be asked.
        """
        ...


class CharmPlace(Protocol):
    """One charm that the user names by its place."""

    def bring(self, work: Path) -> Path:
        """Return the charm's directory or archive on this computer.

        Args:
            work: An empty folder for what has to be brought here; it is gone after the command.

        Raises:
            NotFound: The place has no such charm.
            PushjujuError: It cannot be brought.
        """
        ...
