"""Fetches the content of a store's resource when a unit first needs it.

Mirrors: juju resource/opener.go, resource/charmhub.go (3.6)
"""

from __future__ import annotations

from contextlib import ExitStack

from pushjuju.charms.format.url import name_in
from pushjuju.core.charmstore import HubError
from pushjuju.core.errors import NotFound
from pushjuju.core.values import dataclass
from pushjuju.plugins.api.sources import CharmStore
from pushjuju.services.entities.application import applications
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.supply import origins, store_charms
from pushjuju.store.files.blobs import Staged
from pushjuju.store.rows.records import Resource


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """A resource to fetch, with everything that the download needs, so that it needs no transaction."""

    ctx: Context
    charm: str
    wanted: Resource
    store: CharmStore

    def run(self, stack: ExitStack) -> Staged:
        """Fetch the content and copy it into the controller; may run in a thread.

        Args:
            stack: Deletes the copy when it is closed, unless the copy was recorded before.
        """
        name, revision = self.wanted.name, self.wanted.revision
        try:
            listed = self.store.resources(self.charm, name)
            found = next((item for item in listed if item.revision == revision), None)
            if found is None:
                raise HubError(f'charm resource "{name}" at revision {revision} not found')
            path = store_charms.cached(self.ctx.environ, self.store, found.download, f'resource "{name}"')
        except HubError as error:
            text = f"while getting resource from charmhub: {error.message}"
            raise HubError(
                text, reason=error.reason, detail=error.detail, retryable=error.retryable
            ) from None
        stream = stack.enter_context(path.open("rb"))
        return stack.enter_context(self.ctx.controller.blobs.staged(stream))


def errand(ctx: Context, model: str, wanted: Resource) -> Errand:
    """Return the errand that fetches the content of a resource."""
    with ctx.read(model) as tx:
        application = applications.get(tx, wanted.application)
        if origins.find(tx, wanted.application) is None:
            raise NotFound(f'resource "{wanted.name}" not found: the charm comes from no store any more')
        charm = name_in(application.charm_url)
    return Errand(ctx=ctx, charm=charm, wanted=wanted, store=store_charms.open_store(ctx, model))
