"""The watchers of one connection, by their ids. Nobody else's connection can use them."""

from __future__ import annotations

from pushjuju.web import errors, limits
from pushjuju.web.peers import Quiet
from pushjuju.web.watch.hub import Hub, Subscription, stopped

_LONGEST_ID = 12


class Watchers:
    """The watchers of a connection."""

    def __init__(self, hub: Hub, connection: Quiet) -> None:
        self._hub = hub
        self._connection = connection
        self._known: dict[str, tuple[str, Subscription]] = {}
        self._waiting: set[str] = set()
        self._last = 0

    async def watch(self, model: str) -> str:
        """Begin to watch a model, and return the id of the watcher.

        Raises:
            ApiError: The connection has too many watchers.
        """
        if len(self._known) >= limits.MOST_WATCHERS:
            raise errors.ApiError("too many watchers")
        subscription = await self._hub.subscribe(model)
        self._last += 1
        self._known[str(self._last)] = (model, subscription)
        return str(self._last)

    async def next(self, name: str) -> list[str]:
        """Return the deltas since the last call, as JSON; wait until there are any.

        Raises:
            ApiError: There is no such watcher, it has been stopped, or another call waits for it.
        """
        _, subscription = self._get(name)
        if name in self._waiting:
            raise errors.ApiError("another Next of this watcher is under way")
        self._waiting.add(name)
        try:
            await subscription.news.wait()
            if not subscription.stopped:
                await self._connection.quiet()  # the answer to a request goes before what it did
        finally:
            self._waiting.discard(name)
        if subscription.stopped:
            raise stopped()
        return subscription.take()

    def stop(self, name: str) -> None:
        """End a watcher.

        Raises:
            ApiError: There is no such watcher.
        """
        model, subscription = self._get(name)
        del self._known[name]
        self._hub.unsubscribe(model, subscription)

    def stop_all(self) -> None:
        """End all watchers: the connection is over."""
        for name in list(self._known):
            self.stop(name)

    def _get(self, name: str) -> tuple[str, Subscription]:
        found = self._known.get(name)
        if found is None:
            # A Stop that came after a Next may be done before the Next.
            if name.isdecimal() and len(name) < _LONGEST_ID and 0 < int(name) <= self._last:
                raise stopped()
            raise errors.ApiError("unknown watcher id", errors.NOT_FOUND)
        return found
