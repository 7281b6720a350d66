"""The part of the facade Application that consumes offers of other models."""

from __future__ import annotations

from pushjuju.core.model.offerurl import parse
from pushjuju.services.entities.basis import blocks
from pushjuju.services.requests.relation import consume, integrate
from pushjuju.web import tags
from pushjuju.web.call import each, reach_offer
from pushjuju.web.errors import ErrorResults
from pushjuju.web.facades.removing import force_of
from pushjuju.web.registry import Facade, Needs, method
from pushjuju.web.shapes import applications as shapes
from pushjuju.web.shapes import offers


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
