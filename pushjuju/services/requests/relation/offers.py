"""The requests of offer and remove-offer. Mirrors: juju apiserver/facades/client/applicationoffers (3.6)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pushjuju.core.model.offerurl import OfferUrl
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.relation import offers
from pushjuju.services.lifecycle import removal
from pushjuju.store.rows.records import Offer


def offer(
    ctx: Context, model: str, application: str, wanted: Sequence[str] | Mapping[str, str], name: str = ""
) -> Offer:
    """Offer endpoints of an application, or change the offer of this name.

    Args:
        wanted: The endpoints, or name in the offer -> endpoint.
        name: The name of the offer; the application's name when empty.
    """
    named = wanted if isinstance(wanted, Mapping) else {item: item for item in wanted}
    with ctx.change(model) as tx:
        return offers.offer_in(ctx, tx, application, named, name or application)


def remove_offers(ctx: Context, urls: Sequence[OfferUrl], force: removal.Force | None = None) -> list[str]:
    """Remove offers, or none after an error; with `force`, their relations are removed too.

    Returns:
        The UUIDs of the models that the offers were in, sorted.

    Raises:
        Conflict: An offer has relations; the messages are Juju's.
    """
    places = []
    with ctx.change_controller() as tx:
        for url in urls:
            model, offer = offers.resolve(ctx, tx, url)
            places.append(model.uuid)
            removal.remove_offer(ctx.of(tx, model.uuid), offer, force)
    return sorted(set(places))
