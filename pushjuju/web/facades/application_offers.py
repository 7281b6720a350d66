"""ApplicationOffers: the endpoints that models offer to other models.

Mirrors: juju apiserver/facades/client/applicationoffers (3.6)
"""

from __future__ import annotations

from dataclasses import replace

from pushjuju.core.errors import NotFound, PushjujuError
from pushjuju.core.model.offerurl import OfferUrl, parse
from pushjuju.services.entities.basis.users import Kind
from pushjuju.services.entities.model import models
from pushjuju.services.entities.relation.offers import Wanted
from pushjuju.services.lifecycle.removal import Force
from pushjuju.services.requests.relation import cross_model
from pushjuju.services.requests.user import registration_string
from pushjuju.services.views import offer_details
from pushjuju.services.views.offer_details import OfferDetails, WantedEnd
from pushjuju.web import errors, tags
from pushjuju.web.call import each, reach, reach_offer, require_self, result_of
from pushjuju.web.errors import ErrorResults
from pushjuju.web.facades.model_manager import change
from pushjuju.web.registry import Facade, Needs, bulk, facade, method
from pushjuju.web.shapes import offers as shapes

_UNSIGNED = "0" * 64  # clients expect a signature of this length
_ICON = "rest/1.0/remote-application/{}/icon"


@facade("ApplicationOffers")
class ApplicationOffers(Facade):
    """The offers of the controller."""

    @bulk("offers", Needs.LOGIN, changes=True)
    def offer(self, item: shapes.AddApplicationOffer) -> None:
        """Offer endpoints of applications of models that the caller administers."""
        found = reach(self.ctx, tags.model_to_reach(item.model_tag), "admin")
        cross_model.offer(self.ctx, found.uuid, item.application_name, item.endpoints, item.offer_name)

    @method(Needs.LOGIN)
    def list_application_offers(self, params: shapes.OfferFilters) -> shapes.OffersFound:
        """Return offers of models that the caller administers."""
        for item in params.filters:
            self._require_admin(item)
        return self._found(params)

    def _require_admin(self, item: shapes.OfferFilter) -> None:
        if not item.model_name:
            raise errors.ApiError("application offers filter must specify a model name", errors.BAD_REQUEST)
        try:
            found = models.resolve(self.ctx, f"{item.owner_name or self.user}/{item.model_name}")
        except NotFound:
            raise errors.denied() from None
        reach(self.ctx, found.uuid, "admin")

    @method(Needs.LOGIN)
    def find_application_offers(self, params: shapes.OfferFilters) -> shapes.OffersFound:
        """Return offers that the caller may see."""
        return self._found(params)

    def _found(self, params: shapes.OfferFilters) -> shapes.OffersFound:
        if not params.filters:
            raise errors.ApiError("at least one offer filter is required", errors.BAD_REQUEST)
        every = {item.url: item for one in params.filters for item in self._fitting(one)}
        return {"results": [shapes.admin_offer(item) for item in every.values()]}

    def _fitting(self, item: shapes.OfferFilter) -> list[OfferDetails]:
        owner = item.owner_name or (self.user if item.model_name else "")
        ends = [WantedEnd(end.interface, end.name, end.role) for end in item.endpoints]
        return [
            found
            for consumer in item.allowed_users or [""]
            for connected in item.connected_users or [""]
            for found in offer_details.found(
                self.ctx,
                OfferUrl(owner=owner, model=item.model_name),
                Wanted(
                    part=item.offer_name,
                    application=item.application_name,
                    consumer=consumer,
                    connected=connected,
                ),
                ends,
            )
        ]

    @method(Needs.LOGIN)
    def application_offers(self, params: shapes.OfferURLs) -> shapes.ApplicationOffersResults:
        return {"results": [result_of(self._named, url) for url in params.offer_urls]}

    def _named(self, url: str) -> shapes.ApplicationOfferResult:
        return {"result": shapes.admin_offer(offer_details.named(self.ctx, parse(url)))}

    @method(Needs.LOGIN)
    def remote_application_info(self, params: shapes.OfferURLs) -> shapes.RemoteApplicationInfoResults:
        return {"results": [result_of(self._remote, url) for url in params.offer_urls]}

    def _remote(self, url: str) -> shapes.RemoteApplicationInfoResult:
        found = offer_details.named(self.ctx, parse(url))
        return {
            "result": {
                "model-tag": f"model-{found.model.uuid}",
                "name": found.offer.name,
                "description": found.description,
                "offer-url": found.url,
                "source-model-label": found.model.name,
                "endpoints": shapes.ends(found.endpoints),
                "icon-url-path": _ICON.format(found.offer.name),
            }
        }

    @method(Needs.LOGIN)
    def get_consume_details(
        self, offer_urls: shapes.OfferURLs, user_tag: str
    ) -> shapes.ConsumeOfferDetailsResults:
        """Return the offer details that a client passes to Consume."""
        user = tags.user(user_tag) if user_tag else self.user
        require_self(self.ctx, user)
        return {"results": [self._consumable(user, url) for url in offer_urls.offer_urls]}

    def _consumable(self, user: str, text: str) -> shapes.ConsumeOfferDetails:
        ctx = replace(self.ctx, user=user)
        try:
            url = parse(text)
            reach_offer(ctx, url, "consume")
            found = offer_details.named(ctx, url)
        except PushjujuError as error:
            return {"error": errors.told(error)}
        return {
            "offer": shapes.offer(found),
            "macaroon": _macaroon(found),
            "external-controller": self._own_controller(),
        }

    def _own_controller(self) -> shapes.ExternalController:
        server = self.call.server
        return {
            "controller-tag": f"controller-{server.controller_uuid}",
            "controller-alias": self.ctx.controller.name,
            "addrs": registration_string.addresses(self.ctx),
            "ca-cert": server.ca,
        }

    @method(Needs.LOGIN, changes=True)
    def destroy_offers(self, offer_urls: list[str], *, force: bool) -> ErrorResults:
        """Remove offers of models that the caller administers."""
        how = Force() if force else None
        return {"results": [each(self._destroy, url, how) for url in offer_urls]}

    def _destroy(self, text: str, force: Force | None) -> None:
        url = parse(text)
        model = reach_offer(self.ctx, url, "read")
        reach(self.ctx, model.uuid, "admin")
        cross_model.remove_offers(self.ctx, [url], force)

    @bulk("changes", Needs.LOGIN, changes=True)
    def modify_offer_access(self, item: shapes.ModifyOfferAccess) -> None:
        """Grant or revoke access to offers that the caller administers."""
        reach_offer(self.ctx, parse(item.offer_url), "admin")
        change(self, Kind.OFFER, item.action, item.access, item.user_tag, (item.offer_url,))


def _macaroon(found: OfferDetails) -> shapes.Macaroon:
    """Return a macaroon that grants nothing: libjuju expects the field, and Consume checks the user."""
    return {"location": "", "identifier": found.offer.uuid, "signature": _UNSIGNED, "caveats": []}
