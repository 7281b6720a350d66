"""The facades of watchers, which return the changes since the last call.

Mirrors: juju apiserver/watcher.go, apiserver/facades/client/allwatcher (3.6)
"""

from __future__ import annotations

from pushjuju.web import messages
from pushjuju.web.registry import Facade, Needs, facade, method


class _Watcher(Facade):
    """A watcher of this connection, which the request names by its id."""

    async def _next(self) -> messages.Encoded:
        return await self.call.watchers.next(self.name, self.call.object)

    def _stop(self) -> None:
        self.call.watchers.stop(self.name, self.call.object)


@facade("AllWatcher")
class AllWatcher(_Watcher):
    """A watcher of all entities of a model."""

    @method(Needs.READ)
    async def next(self) -> messages.Encoded:
        """Return the changed entities; the first call returns all entities."""
        return await self._next()

    @method(Needs.READ)
    async def stop(self) -> None:
        """End the watcher."""
        self._stop()


@facade("AllModelWatcher")
class AllModelWatcher(_Watcher):
    """A watcher of all models."""

    @method(Needs.SUPERUSER)
    async def next(self) -> messages.Encoded:
        """Return the changed entities; the first call returns all entities."""
        return await self._next()

    @method(Needs.SUPERUSER)
    async def stop(self) -> None:
        """End the watcher."""
        self._stop()


@facade("ModelSummaryWatcher")
class ModelSummaryWatcher(_Watcher):
    """A watcher of the summaries of models."""

    @method(Needs.LOGIN)
    async def next(self) -> messages.Encoded:
        """Return the changed summaries; the first call returns all."""
        return await self._next()

    @method(Needs.LOGIN)
    async def stop(self) -> None:
        """End the watcher."""
        self._stop()


@facade("NotifyWatcher")
class NotifyWatcher(_Watcher):
    """A watcher that reports only that something has changed."""

    @method(Needs.LOGIN)
    async def next(self) -> messages.Encoded:
        """Wait until something has changed, then return; the first call returns at once."""
        return await self._next()

    @method(Needs.LOGIN)
    async def stop(self) -> None:
        """End the watcher."""
        self._stop()


@facade("StringsWatcher")
class StringsWatcher(_Watcher):
    """A watcher of texts."""

    @method(Needs.READ)
    async def next(self) -> messages.Encoded:
        """Return the new texts."""
        return await self._next()

    @method(Needs.READ)
    async def stop(self) -> None:
        """End the watcher."""
        self._stop()
