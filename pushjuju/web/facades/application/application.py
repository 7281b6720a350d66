"""Application: the applications of a model. Mirrors: juju apiserver/facades/client/application (3.6)"""

from __future__ import annotations

from typing import Any

from pushjuju.core.errors import PushjujuError
from pushjuju.core.model.offerurl import parse
from pushjuju.core.storage import Directive
from pushjuju.services.entities.basis import blocks
from pushjuju.services.requests.relation import consume, integrate
from pushjuju.services.requests.storage import storage_requests
from pushjuju.web import errors, tags
from pushjuju.web.call import each, reach_offer
from pushjuju.web.errors import ErrorResults
from pushjuju.web.facades.application.application_deploy import Deploying
from pushjuju.web.facades.application.application_documents import Showing
from pushjuju.web.facades.application.application_settings import Settings
from pushjuju.web.registry import Facade, Needs, facade, method
from pushjuju.web.shapes import applications as shapes
from pushjuju.web.shapes import offers
from pushjuju.web.shapes.common import Entities, Results, force_of


class Consuming(Facade):
    """Consumes offers of other models."""

    @method(Needs.WRITE, blocked_by=blocks.CHANGE)
    def consume(self, args: list[offers.ConsumeApplicationArg]) -> ErrorResults:
        """Let the model consume offers."""
        return {"results": [each(self._consume, item) for item in args]}

    def _consume(self, item: offers.ConsumeApplicationArg) -> None:
        url = parse(item.offer_url)
        reach_offer(self.ctx, url, "consume")
        consume.consume(self.ctx, self.model, url, item.application_alias)

    @method(Needs.WRITE, blocked_by=blocks.REMOVE)
    def destroy_consumed_applications(
        self, applications: list[offers.DestroyConsumedApplication]
    ) -> ErrorResults:
        """Remove consumed offers (SAAS) from the model."""
        return {"results": [each(self._forget, item) for item in applications]}

    def _forget(self, item: offers.DestroyConsumedApplication) -> None:
        force = force_of(item.max_wait, force=item.force)
        consume.remove_saas(self.ctx, self.model, tags.application(item.application_tag), force)

    @method(Needs.WRITE, blocked_by=blocks.CHANGE)
    def set_relations_suspended(self, args: list[shapes.RelationSuspendedArg]) -> ErrorResults:
        """Suspend relations to offers, or resume them."""
        return {"results": [each(self._suspend, item) for item in args]}

    def _suspend(self, item: shapes.RelationSuspendedArg) -> None:
        integrate.set_suspended(
            self.ctx, self.model, [str(item.relation_id)], suspended=item.suspended, reason=item.message
        )


_SINCE = 22


class Storing(Facade):
    """Shows and changes the storage of future units."""

    @method(Needs.READ, since=_SINCE)
    def get_application_storage(self, params: Entities) -> Results:
        """Return the storage that future units of applications get."""
        return {"results": [self._storage(item.tag) for item in params.entities]}

    def _storage(self, tag: str) -> dict[str, object]:
        try:
            found = storage_requests.application_directives(self.ctx, self.model, tags.application(tag))
        except PushjujuError as error:
            return {"storage-constraints": {}, "Error": errors.told(error)}
        return {
            "storage-constraints": {
                name: {"pool": item.pool, "size": item.size, "count": item.count}
                for name, item in found.items()
            }
        }

    @method(Needs.WRITE, since=_SINCE, blocked_by=blocks.CHANGE)
    def update_application_storage(
        self, storage_updates: list[shapes.ApplicationStorageUpdate]
    ) -> ErrorResults:
        """Change the storage that future units of applications get; omitted fields keep their values."""
        return {"results": [each(self._update_storage, item) for item in storage_updates]}

    def _update_storage(self, item: shapes.ApplicationStorageUpdate) -> None:
        wanted = {
            name: Directive(pool=part.pool, size=part.size, count=part.count)
            for name, part in item.storage_constraints.items()
        }
        name = tags.application(item.application_tag)
        storage_requests.set_application_directives(self.ctx, self.model, name, wanted)


@facade("Application")
class Application(Deploying, Settings, Consuming, Storing, Showing):
    """The applications of the model."""

    @method(Needs.WRITE)
    def scale_applications(self, applications: list[Any]) -> None:
        """Refuse: machines have units, not a scale."""
        del applications
        raise errors.not_supported("scaling IAAS applications not supported")
