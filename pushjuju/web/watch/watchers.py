"""The watchers of one connection, by their ids. No other connection can use these watchers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pushjuju.web import errors, limits, messages
from pushjuju.web.peers import Quiet
from pushjuju.web.subscriptions import Wanted, Watch
from pushjuju.web.watch.hub import ANY, Hub, stopped

_LONGEST_ID = 12


@dataclass(frozen=True, slots=True)
class _Known:
    """A watcher, the facade that returns its changes, and the function that ends the watcher."""

    kind: str
    watch: Watch
    end: Callable[[], None]


class Watchers:
    """The watchers of a connection."""

    def __init__(self, hub: Hub, connection: Quiet) -> None:
        self._hub = hub
        self._connection = connection
        self._known: dict[str, _Known] = {}
        self._waiting: set[str] = set()
        self._last = 0

    async def watch(self, model: str) -> str:
        """Begin to watch a model, and return the id of the watcher."""
        return await self._subscribe("AllWatcher", model)

    async def watch_all(self) -> str:
        """Begin to watch all models, and return the id of the watcher."""
        return await self._subscribe("AllModelWatcher", ANY)

    async def _subscribe(self, kind: str, model: str) -> str:
        self._require_room()
        made = await self._hub.subscribe(model)
        return self._keep(kind, made, lambda: self._hub.unsubscribe(made))

    async def listen(self, wanted: Wanted) -> str:
        """Begin to wait for changes, and return the id of the watcher.

        Raises:
            ApiError: The connection or the server has too many watchers.
        """
        self._require_room()
        made = await self._hub.listen(wanted)
        return self._keep(wanted.facade, made, lambda: self._hub.unlisten(made))

    def _require_room(self) -> None:
        if len(self._known) >= limits.MOST_WATCHERS or self._hub.count >= limits.MOST_WATCHERS_IN_ALL:
            raise errors.ApiError("too many watchers")

    def _keep(self, kind: str, watch: Watch, end: Callable[[], None]) -> str:
        self._last += 1
        self._known[str(self._last)] = _Known(kind, watch, end)
        return str(self._last)

    async def next(self, kind: str, name: str) -> messages.Encoded:
        """Return the changes since the last call, as JSON; wait until there are changes.

        Raises:
            ApiError: The watcher does not exist, has been stopped, or another call already waits for changes.
        """
        watch = self._get(kind, name).watch
        if name in self._waiting:
            raise errors.ApiError("another Next of this watcher is under way")
        self._waiting.add(name)
        try:
            return await self._news(watch)
        finally:
            self._waiting.discard(name)

    async def _news(self, watch: Watch) -> messages.Encoded:
        while True:
            await watch.news.wait()
            if not watch.stopped:
                await self._connection.quiet()  # the answer to a request precedes its changes
            if watch.stopped:
                raise stopped()
            if (found := await watch.take()) is not None:
                return found

    def stop(self, kind: str, name: str) -> None:
        """End a watcher."""
        known = self._get(kind, name)
        del self._known[name]
        known.end()

    def stop_all(self) -> None:
        """End all watchers: the connection has ended, or its user has lost access."""
        for known in self._known.values():
            known.end()
        self._known = {}

    def _get(self, kind: str, name: str) -> _Known:
        found = self._known.get(name)
        if found is None or found.kind != kind:
            # A Stop that came after a Next may be done before the Next.
            if found is None and name.isdecimal() and len(name) < _LONGEST_ID and 0 < int(name) <= self._last:
                raise stopped()
            raise errors.ApiError("unknown watcher id", errors.NOT_FOUND)
        return found
