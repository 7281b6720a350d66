"""The requests of offer, remove-offer, consume and remove-saas, and relations with endpoints in two models.

Such a relation has a row in each model. In the model of the offer, a proxy named `remote-` and 32 hex digits
stands for the consuming application, the same for all its relations to the offer. In the other model, the
offered application has the name under which it was consumed.

Mirrors: juju apiserver/facades/controller/crossmodelrelations RegisterRemoteRelations (3.6)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pushjuju.charms.values.endpoints import Bound, Pair, Side
from pushjuju.core.errors import AlreadyExists, NotFound, NotValid
from pushjuju.core.ids import digest
from pushjuju.core.model.offerurl import OfferUrl
from pushjuju.core.problems import Subject
from pushjuju.core.status import Life
from pushjuju.portable.jsontext import compact
from pushjuju.portable.names import is_application
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import models
from pushjuju.services.entities.relation import offers, pairing, relations, remote_applications
from pushjuju.services.lifecycle import removal
from pushjuju.store.rows.records import Offer, Relation, RemoteApplication
from pushjuju.store.tx import ModelTx, Tx

# --- consuming --------------------------------------------------------------------------------------------


def consume(ctx: Context, model: str, url: OfferUrl, alias: str = "") -> str:
    """Consume an offer in a model; return the name of the consumed application.

    Raises:
        NotFound: The offer does not exist; the message is Juju's.
    """
    with ctx.change(model) as tx:
        models.require_alive(tx)
        return consume_in(ctx, tx, url, alias)


def consume_in(ctx: Context, tx: ModelTx, url: OfferUrl, alias: str = "") -> str:
    """Consume an offer inside a transaction, as `consume` does."""
    if alias and not is_application(alias):
        raise NotValid(f"invalid application name {quote(alias)}")
    source, offer = offers.resolve(ctx, tx, url)
    place = f"{ctx.controller.name}:{offers.url_of(source, offer)}"
    ends = remote_applications.described(offers.endpoints(tx, offer))
    try:
        made = remote_applications.add(tx, alias or offer.name, offer, place, ends)
    except AlreadyExists as error:
        raise AlreadyExists(f"could not consume {offers.url_of(source, offer)}: {error.message}") from None
    return made.name


def side_of(tx: ModelTx, name: str) -> Side | None:
    """Return a consumed application as a side of a relation, or None when there is no such application.

    Raises:
        NotValid: The offer was removed; the message is Juju's.
    """
    found = remote_applications.find(tx, name)
    if found is None:
        return None
    if found.life == Life.ALIVE and remote_applications.is_terminated(tx, found):
        raise NotValid(
            f"Offer {quote(name)} has been removed from the remote model.\n"
            "To integrate with a new offer with the same name, first run\n"
            f"'pushjuju remove-saas {name}' to remove the SAAS record from this model."
        )
    return remote_applications.side(found)


def remove_saas(ctx: Context, model: str, name: str, force: removal.Force | None = None) -> list[str]:
    """Remove a consumed application, after its relations.

    Returns:
        The applications that were related to the removed application.

    Raises:
        NotFound: The model consumes no offer under this name; the message is Juju's.
    """
    with ctx.change(model) as tx:
        models.get(tx)
        found = remote_applications.find(tx, name)
        if found is None:
            raise NotFound(f"saas application {quote(name)} not found", subject=Subject("saas", name))
        touched = sorted(set(_partners(tx, name)))
        remote_applications.destroy(tx, found, lambda item: removal.destroy_relation(tx, item, force))
        return touched


def _partners(tx: ModelTx, name: str) -> Iterator[str]:
    for relation in relations.of_application(tx, name):
        sides = relations.endpoints(tx, relation.id)
        yield relations.remote_endpoint(sides, name).application


# --- relations --------------------------------------------------------------------------------------------


def link(tx: ModelTx, near: Relation, pair: Pair) -> None:
    """Record the other model's row of a new relation, when one side is an application of another model."""
    remote = next((item for item in pair if item.side.remote), None)
    if remote is None:
        return
    local = next(item for item in pair if not item.side.remote)
    record = relations.remote(tx, remote.side.application)
    offer = tx.find(Offer, "offer_by_uuid", uuid=record.offer) if record else None
    if record is None or offer is None:
        name = remote.side.application
        raise NotFound(f"application offer {quote(name)} not found", subject=Subject("offer", name))
    other = tx.beside(offer.model)
    models.require_alive(other)
    proxy = _proxy(other, tx.model, local, offer)
    there = _there(other, offer, remote)
    made = pairing.add(other, pairing.checked(other, (there, proxy)), "")
    _tie(tx, near, made, offer="", alias=proxy.side.application)
    _tie(other, made, near, offer=offer.uuid, alias=record.name)
    linked = tx.get(Relation, "relation_get", "", model=near.model, id=near.id)
    relations.wake_firewalls(tx, linked, f"relation {near.id} to another model")


def _tie(tx: Tx, one: Relation, other: Relation, *, offer: str, alias: str) -> None:
    tx.run(
        "relation_link", model=one.model, id=one.id, far_model=other.model, far_relation=other.id,
        far_alias=alias, offer=offer,
    )  # fmt: skip


def _there(tx: ModelTx, offer: Offer, remote: Bound) -> Bound:
    """Return the offered side of a relation, as the model of the offer has it."""
    side = pairing.side_of(tx, offer.application)
    own = dict(offers.endpoints(tx, offer)).get(remote.endpoint.name)
    if side is None or own is None:
        what = f"relation {quote(remote.endpoint.name)} on application offer {quote(offer.name)}"
        raise NotFound(f"{what} not found")
    return Bound(side=side, endpoint=own)


def _proxy(tx: ModelTx, source: str, local: Bound, offer: Offer) -> Bound:
    """Return the consuming side of a relation, as the model of the offer has it; add its proxy if needed."""
    application = local.side.application
    name = proxy_name(source, application, offer.uuid)
    present = relations.remote(tx, name)
    ends = dict(present.endpoints) if present else {}
    ends |= remote_applications.described([(local.endpoint.name, local.endpoint)])
    if present is None:
        made = RemoteApplication(
            model=tx.model, name=name, offer=offer.uuid, source=source, application=application,
            life=Life.ALIVE, endpoints=ends, created=tx.now,
        )  # fmt: skip
        tx.insert("remote_application", made)
    tx.run("remote_application_set_endpoints", name=name, endpoints=compact(ends))
    found = tx.get(RemoteApplication, "remote_application_get", "", name=name)
    side = remote_applications.side(found)
    endpoint = {**side.provides, **side.requires}[local.endpoint.name]
    return Bound(side=side, endpoint=endpoint)


def proxy_name(model: str, application: str, offer: str) -> str:
    """Return the name of the proxy for a consuming application; equal arguments give equal names."""
    return remote_applications.PROXY + digest(f"{model} {application} {offer}")[:32]


def config_changed(tx: ModelTx) -> None:
    """Update the firewalls of related models, after a change of the networks that connect or are let in."""
    for relation in tx.list(Relation, "relation_to_other_models"):
        relations.wake_firewalls(tx, relation, "model config changed")


# --- connected models -------------------------------------------------------------------------------------


def connected(tx: ModelTx) -> list[str]:
    """Return the other models that are connected with a model by relations, directly or through others."""
    found, waiting = {tx.model}, [tx.model]
    while waiting:
        here = waiting.pop()
        for relation in tx.list(Relation, "relation_to_other_models", model=here):
            if relation.far_model not in found:
                found.add(relation.far_model)
                waiting.append(relation.far_model)
    return sorted(found - {tx.model})


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
