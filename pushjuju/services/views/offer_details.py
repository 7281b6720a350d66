"""Details of offers for clients of the API, limited by the user's access to each offer.

Mirrors: juju apiserver/facades/client/applicationoffers (3.6)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from pushjuju.charms.values.model import Endpoint
from pushjuju.core.model.offerurl import OfferUrl
from pushjuju.core.values import dataclass
from pushjuju.services.entities.application import applications
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import firewall
from pushjuju.services.entities.relation import offers, relations
from pushjuju.services.entities.relation.offers import Wanted
from pushjuju.services.views.status import status_rows
from pushjuju.services.views.status.status_rows import Seen
from pushjuju.store.rows.records import Model, Offer, Relation
from pushjuju.store.tx import ModelTx


class WantedEnd(NamedTuple):
    """An endpoint that a search wants; an empty attribute fits every endpoint."""

    interface: str
    name: str
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """A relation to an offer."""

    source: Model
    relation: int
    endpoint: str
    status: Seen
    # the networks that the consumer connects from; empty when the firewall refuses them
    subnets: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferDetails:
    model: Model
    offer: Offer
    url: str
    charm_url: str
    description: str
    endpoints: Sequence[tuple[str, Endpoint]]  # (name in the offer, endpoint)
    # user -> access level; a user who does not administer the offer sees only itself
    users: Mapping[str, str]
    # the relations to the offer; empty for a user who does not administer the offer
    connections: Sequence[Connection]


def named(ctx: Context, url: OfferUrl) -> OfferDetails:
    """Return the details of the offer that a URL names.

    Raises:
        NotFound: The offer does not exist, or the user may not see it; the message is the same.
    """
    with ctx.store.read() as tx:
        model, item, _ = offers.visible(ctx, tx, url)
        return _details(ctx, ctx.of(tx, model.uuid), model, item)


def found(ctx: Context, place: OfferUrl, wanted: Wanted, ends: Collection[WantedEnd]) -> list[OfferDetails]:
    """Return the details of the offers that meet the conditions and that the user may see.

    Args:
        place: The owner and model to search; empty parts for all.
        ends: Endpoints of which an offer must have at least one; empty for no condition.
    """
    with ctx.store.read() as tx:
        return [
            _details(ctx, here, model, item)
            for model in tx.list(Model, "model_list")
            if place.model in ("", model.name) and place.owner in ("", model.owner)
            for here in (ctx.of(tx, model.uuid),)
            for item in offers.matching(ctx, here, offers.of_model(here), wanted)
            if offers.level_of(ctx, here, model, item) and _has(here, item, ends)
        ]


def _has(tx: ModelTx, item: Offer, ends: Collection[WantedEnd]) -> bool:
    known = [(end.interface, name, str(end.role)) for name, end in offers.endpoints(tx, item)]
    return not ends or any(
        all(part in ("", own) for part, own in zip(want, parts, strict=True))
        for want in ends
        for parts in known
    )


def _details(ctx: Context, tx: ModelTx, model: Model, item: Offer) -> OfferDetails:
    application = applications.get(tx, item.application)
    level = offers.level_of(ctx, tx, model, item)
    every = level == offers.ADMIN
    return OfferDetails(
        model=model,
        offer=item,
        url=offers.url_of(model, item),
        charm_url=application.charm_url,
        description=applications.current_charm(tx, application).meta.description,
        endpoints=offers.endpoints(tx, item),
        users=offers.users(tx, item) if every else {ctx.user: level},
        connections=_connections(tx, item) if every else [],
    )


def _connections(tx: ModelTx, item: Offer) -> list[Connection]:
    statuses = status_rows.of_relations(tx)
    return [_connection(tx, item, each, statuses) for each in offers.connections(tx, item)]


def _connection(tx: ModelTx, item: Offer, relation: Relation, statuses: Mapping[int, Seen]) -> Connection:
    subnets = firewall.egress_of(tx.beside(relation.far_model), relation.far_relation)
    open_ = not relation.suspended and not firewall.ingress_problem(tx, subnets)
    own = relations.own_endpoint(relations.endpoints(tx, relation.id), item.application)
    return Connection(
        source=tx.get(Model, "model_by_uuid", "", uuid=relation.far_model),
        relation=relation.id,
        endpoint=own.endpoint,
        status=statuses.get(relation.id, Seen("joining")),
        subnets=subnets if open_ else [],
    )
