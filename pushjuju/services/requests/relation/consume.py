"""Between models: consuming offers, and relations whose sides are in two models.

Such a relation has a row in either model. On the side of the offer the application that consumes stands as a
proxy, `remote-` and 32 hex digits, the same one for all its relations to the offer; on the other side the
offered application stands under the name that it was consumed by.

Mirrors: juju apiserver/facades/controller/crossmodelrelations RegisterRemoteRelations (3.6)
"""

from __future__ import annotations

from collections.abc import Iterator

from pushjuju.charms.values.endpoints import Bound, Pair, Side
from pushjuju.core.clock import to_iso
from pushjuju.core.errors import AlreadyExists, NotFound, NotValid
from pushjuju.core.ids import digest
from pushjuju.core.model.life import Life
from pushjuju.core.model.offerurl import OfferUrl
from pushjuju.core.problems import Subject
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
    """Let a model consume an offer; return the name that it has there.

    Raises:
        NotFound: There is no such offer; the message is Juju's.
        AlreadyExists: The name is taken.
        NotValid: The name is not the name of an application.
    """
    with ctx.write(model) as tx:
        models.require_alive(tx)
        return consume_in(ctx, tx, url, alias)


def consume_in(ctx: Context, tx: ModelTx, url: OfferUrl, alias: str = "") -> str:
    """Let a model consume an offer; as `consume`, in a transaction."""
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
    """Return a consumed application as one side of a relation, or None when there is no such application.

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
    """Let a model consume an offer no more; its relations end first.

    Returns:
        The applications that were related to it.

    Raises:
        NotFound: It consumes nothing of that name; the message is Juju's.
    """
    with ctx.write(model) as tx:
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
    """Make the row of a new relation in the other model, if one of its sides is of another one.

    Raises:
        NotFound, NotValid, Conflict, AlreadyExists: A rule of the other model forbids it.
    """
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
    relations.touch_firewalls(tx, linked, f"relation {near.id} to another model")


def _tie(tx: Tx, one: Relation, other: Relation, *, offer: str, alias: str) -> None:
    tx.run(
        "relation_link", model=one.model, id=one.id, far_model=other.model, far_relation=other.id,
        far_alias=alias, offer=offer,
    )  # fmt: skip


def _there(tx: ModelTx, offer: Offer, remote: Bound) -> Bound:
    """Return the side of a relation that is offered, in its own model."""
    side = pairing.side_of(tx, offer.application)
    own = dict(offers.endpoints(tx, offer)).get(remote.endpoint.name)
    if side is None or own is None:
        what = f"relation {quote(remote.endpoint.name)} on application offer {quote(offer.name)}"
        raise NotFound(f"{what} not found")
    return Bound(side=side, endpoint=own)


def _proxy(tx: ModelTx, source: str, local: Bound, offer: Offer) -> Bound:
    """Return the side of a relation that consumes, as it stands in the model of the offer."""
    application = local.side.application
    name = proxy_name(source, application, offer.uuid)
    present = relations.remote(tx, name)
    ends = dict(present.endpoints) if present else {}
    ends |= remote_applications.described([(local.endpoint.name, local.endpoint)])
    if present is None:
        made = RemoteApplication(
            model=tx.model, name=name, offer=offer.uuid, source=source, application=application,
            life=Life.ALIVE, endpoints=ends, created=to_iso(tx.now),
        )  # fmt: skip
        tx.insert("remote_application", made)
    tx.run("remote_application_set_endpoints", name=name, endpoints=compact(ends))
    found = tx.get(RemoteApplication, "remote_application_get", "", name=name)
    side = remote_applications.side(found)
    endpoint = {**side.provides, **side.requires}[local.endpoint.name]
    return Bound(side=side, endpoint=endpoint)


def proxy_name(model: str, application: str, offer: str) -> str:
    """Return what the model of an offer calls an application that consumes it: the same at every time."""
    return remote_applications.PROXY + digest(f"{model} {application} {offer}")[:32]


def config_changed(tx: ModelTx) -> None:
    """Wake the related models: the networks from which a model connects, or that it lets in, have changed."""
    for relation in tx.list(Relation, "relation_to_other_models"):
        relations.touch_firewalls(tx, relation, "model config changed")


# --- who works together -----------------------------------------------------------------------------------


def connected(tx: ModelTx) -> list[str]:
    """Return the models that are related to a model, by whatever number of steps; without itself."""
    found, waiting = {tx.model}, [tx.model]
    while waiting:
        here = waiting.pop()
        for relation in tx.list(Relation, "relation_to_other_models", model=here):
            if relation.far_model not in found:
                found.add(relation.far_model)
                waiting.append(relation.far_model)
    return sorted(found - {tx.model})
