"""Protocols for the connection and the server, so that parts of the API need not import each other."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Protocol

from pushjuju.services.entities.basis.context import Context
from pushjuju.web import messages
from pushjuju.web.login import LoggedIn
from pushjuju.web.subscriptions import Wanted


class Quiet(Protocol):
    """A connection, as its watchers see it."""

    async def quiet(self) -> None:
        """Wait until no request that changes something is under way."""


class Member(Quiet, Protocol):
    """A connection, as the server sees it."""

    entered: LoggedIn | None
    what: str

    @property
    def peer(self) -> str:
        """The address of the client."""

    @property
    def host(self) -> str:
        """The host and port of this server, as the client calls them."""

    def lower(self, level: str) -> None:
        """Note a lower access of the user to the controller."""

    async def close(self, code: int, reason: str) -> None:
        """End the connection."""


class Statuses(Protocol):
    """The answers of FullStatus, which all clients share."""

    async def answer(self, key: Hashable, read: Callable[[Context], object]) -> messages.Encoded:
        """Return what a function reads, as JSON; the same key stands for the same function."""


class ServerFacts(Protocol):
    """The server, as facades see it."""

    @property
    def addresses(self) -> Sequence[tuple[str, int]]:
        """(host, port) of all places where the server listens."""

    @property
    def ca(self) -> str:
        """The certificate that clients trust, as PEM."""

    @property
    def controller_uuid(self) -> str:
        """The UUID of the controller."""

    @property
    def statuses(self) -> Statuses:
        """The answers of FullStatus."""


class OwnWatchers(Protocol):
    """The watchers of a connection, as facades see them."""

    async def watch(self, model: str) -> str:
        """Begin to watch a model, and return the id of the watcher."""

    async def watch_all(self) -> str:
        """Begin to watch all models, and return the id of the watcher."""

    async def listen(self, wanted: Wanted) -> str:
        """Begin to wait for changes, and return the id of the watcher."""

    async def next(self, kind: str, name: str) -> messages.Encoded:
        """Return the changes since the last call, as JSON."""

    def stop(self, kind: str, name: str) -> None:
        """End a watcher."""
