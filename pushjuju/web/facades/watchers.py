"""The facades of watchers, which return the changes since the last call; Pinger answers pings.

Mirrors: juju apiserver/{watcher,pinger}.go, apiserver/facades/client/allwatcher (3.6)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pushjuju.web import messages
from pushjuju.web.registry import Facade, Needs, facade, method


def _methods(needs: Needs) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return `next` and `stop` of a watcher of the connection; the request names the watcher by its id."""

    @method(needs)
    async def next(self: Facade) -> messages.Encoded:  # noqa: A001 - its name on the wire
        """Return what has changed, as soon as something has; the first call returns at once."""
        return await self.call.watchers.next(self.name, self.call.object)

    @method(needs)
    async def stop(self: Facade) -> None:
        """End the watcher."""
        self.call.watchers.stop(self.name, self.call.object)

    return next, stop


@facade("AllWatcher")
class AllWatcher(Facade):
    """A watcher of all entities of a model; the first call returns all."""

    next, stop = _methods(Needs.READ)


@facade("AllModelWatcher")
class AllModelWatcher(Facade):
    """A watcher of all models; the first call returns all."""

    next, stop = _methods(Needs.SUPERUSER)


@facade("ModelSummaryWatcher")
class ModelSummaryWatcher(Facade):
    """A watcher of the summaries of models; the first call returns all."""

    next, stop = _methods(Needs.LOGIN)


@facade("NotifyWatcher")
class NotifyWatcher(Facade):
    """A watcher that reports only that something has changed."""

    next, stop = _methods(Needs.LOGIN)


@facade("StringsWatcher")
class StringsWatcher(Facade):
    """A watcher of texts."""

    next, stop = _methods(Needs.READ)


@facade("Pinger")
class Pinger(Facade):
    """Answers pings."""

    @method(Needs.LOGIN)
    def ping(self) -> None:
        """Return an empty answer."""

    @method(Needs.LOGIN)
    def stop(self) -> None:
        """Return an empty answer; the server runs no pinger that could be stopped."""
