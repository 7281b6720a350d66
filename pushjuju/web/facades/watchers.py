"""AllWatcher: what has changed in a model. Mirrors: juju apiserver/facades/client/allwatcher (3.6)"""

from __future__ import annotations

from pushjuju.web import messages
from pushjuju.web.registry import Facade, Needs, On, facade, method


@facade("AllWatcher", versions=[3], on=On.MODEL)
class AllWatcher(Facade):
    """A watcher of this connection, which the request names by its id."""

    @method(Needs.READ)
    async def next(self) -> messages.Encoded:
        """Return what has changed since the last call; the first call returns all entities."""
        deltas = await self.call.watchers.next(self.call.object)
        return messages.Encoded('{"deltas":[' + ",".join(deltas) + "]}")

    @method(Needs.READ)
    async def stop(self) -> None:
        """End the watcher."""
        self.call.watchers.stop(self.call.object)
