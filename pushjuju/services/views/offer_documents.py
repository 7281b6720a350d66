"""Documents of offers and consumed applications, for `status`, `offers`, `find-offers` and `show-offer`.

Keys and order are those of Juju's JSON; times are aware datetimes, or results of the caller's `moment`.

Mirrors: juju apiserver/facades/client/client/status.go, cmd/juju/crossmodel (3.6)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pushjuju.core.clock import from_iso
from pushjuju.core.errors import NotFound
from pushjuju.core.model.offerurl import OfferUrl
from pushjuju.core.status import Life, StatusKind
from pushjuju.portable.natural import natural_key
from pushjuju.services.entities.application import applications
from pushjuju.services.entities.basis import statuses
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import firewall
from pushjuju.services.entities.relation import offers, relations, remote_applications
from pushjuju.services.entities.relation.offers import Wanted
from pushjuju.store.rows.records import Model, Offer, Relation, RemoteApplication
from pushjuju.store.tx import ModelTx, Tx

JOINED = "joined"
Moment = Callable[[str], Any]


# --- status -----------------------------------------------------------------------------------------------


def sections(tx: ModelTx, moment: Moment = from_iso) -> dict[str, dict[str, object]]:
    """Return the sections `application-endpoints` and `offers` of `status`, without empty ones."""
    saas = {item.name: _saas(tx, item, moment) for item in remote_applications.consumed(tx)}
    offered = {item.name: _offered(tx, item) for item in offers.of_model(tx)}
    found = {"application-endpoints": saas, "offers": offered}
    return {key: _naturally(value) for key, value in found.items() if value}


def _naturally(named: dict[str, Any]) -> dict[str, object]:
    return {name: named[name] for name in sorted(named, key=natural_key)}


def proxies(tx: ModelTx) -> set[str]:
    """Return the names of the proxies for consumers of offers; `status` does not show their relations."""
    return {item.name for item in remote_applications.every(tx) if not item.url}


def _saas(tx: ModelTx, remote: RemoteApplication, moment: Moment) -> dict[str, object]:
    status = tx.row("status_get", model=remote.model, kind=str(StatusKind.APPLICATION), entity=remote.name)
    shown: dict[str, object] = {"current": status["status"] if status else "unknown"}
    if status and status["message"]:
        shown["message"] = status["message"]
    if status:
        shown["since"] = moment(status["since"])
    found: dict[str, object] = {"url": remote.url}
    if remote.endpoints:
        found["endpoints"] = _endpoints(remote.endpoints)
    if remote.life != Life.ALIVE:
        found["life"] = remote.life
    found["application-status"] = shown
    if related := _related(tx, remote):
        found["relations"] = related
    return found


def _endpoints(ends: Any) -> dict[str, dict[str, str]]:
    return {name: {"interface": item["interface"], "role": item["role"]} for name, item in ends.items()}


def _related(tx: ModelTx, remote: RemoteApplication) -> dict[str, list[str]]:
    """Return endpoint -> names of the related applications."""
    found: dict[str, list[str]] = {}
    for relation in relations.of_application(tx.beside(remote.model), remote.name):
        sides = relations.endpoints(tx.beside(remote.model), relation.id)
        own, other = (
            relations.own_endpoint(sides, remote.name),
            relations.remote_endpoint(sides, remote.name),
        )
        found.setdefault(own.endpoint, []).append(other.application)
    return {name: sorted(found[name]) for name in sorted(found)}


def _offered(tx: ModelTx, item: Offer) -> dict[str, object]:
    statuses_of = [_status(tx, relation) for relation in offers.connections(tx, item)]
    found: dict[str, object] = {"application": item.application, "charm": _charm_url(tx, item)}
    if statuses_of:
        found["total-connected-count"] = len(statuses_of)
    if active := sum(1 for status in statuses_of if status["current"] == JOINED):
        found["active-connected-count"] = active
    found["endpoints"] = _offer_endpoints(tx, item)
    return found


def _charm_url(tx: ModelTx, item: Offer) -> str:
    return applications.get(tx.beside(item.model), item.application).charm_url


def _offer_endpoints(tx: ModelTx, item: Offer) -> dict[str, dict[str, str]]:
    return _endpoints(remote_applications.described(offers.endpoints(tx, item)))


def _status(tx: ModelTx, relation: Relation) -> dict[str, object]:
    status = statuses.get_status(tx.beside(relation.model), StatusKind.RELATION, str(relation.id))
    found: dict[str, object] = {"current": status.status if status else "joining"}
    if status and status.message:
        found["message"] = status.message
    if status and status.since:
        found["since"] = status.since
    return found


# --- offers -----------------------------------------------------------------------------------------------


def list_offers(ctx: Context, model: Model, wanted: Wanted) -> dict[str, object]:
    """Return the document of `offers`: name -> offer."""
    with ctx.read(model.uuid) as tx:
        found = offers.matching(ctx, tx, offers.of_model(tx), wanted)
        return {item.name: _listed(ctx, tx, model, item) for item in found}


def _listed(ctx: Context, tx: ModelTx, model: Model, item: Offer) -> dict[str, object]:
    found: dict[str, object] = {
        "application": item.application,
        "store": ctx.controller.name,
        "charm": _charm_url(tx, item),
        "offer-url": offers.url_of(model, item),
        "endpoints": _offer_endpoints(tx, item),
    }
    if links := [_connection(ctx, tx, item, relation) for relation in offers.connections(tx, item)]:
        found["connections"] = links
    found["users"] = _users(tx, item)
    return found


def _connection(ctx: Context, tx: ModelTx, item: Offer, relation: Relation) -> dict[str, object]:
    own = relations.own_endpoint(relations.endpoints(tx.beside(item.model), relation.id), item.application)
    found: dict[str, object] = {
        "source-model-uuid": relation.far_model,
        "username": ctx.user,
        "relation-id": relation.id,
        "endpoint": own.endpoint,
        "status": _status(tx, relation),
    }
    subnets = firewall.egress_of(tx.beside(relation.far_model), relation.far_relation)
    if subnets and not relation.suspended and not firewall.ingress_problem(tx.beside(item.model), subnets):
        found["ingress-subnets"] = subnets
    return found


def _users(tx: Tx, item: Offer) -> dict[str, dict[str, str]]:
    """Return user -> {display-name?, access}; external users have no display name."""
    found = {}
    for user, access in offers.users(tx, item).items():
        name = {} if "@" in user else {"display-name": user}
        found[user] = {**name, "access": access}
    return found


def find_offers(ctx: Context, place: OfferUrl, wanted: Wanted) -> dict[str, Any]:
    """Return the document of `find-offers`: URL -> offer.

    Args:
        place: The owner and model to search; empty parts for all.
    """
    found = {}
    with ctx.store.read() as tx:
        for model in tx.list(Model, "model_list"):
            of = ctx.of(tx, model.uuid)
            if place.model in ("", model.name) and place.owner in ("", model.owner):
                for item in offers.matching(ctx, of, offers.of_model(of), wanted):
                    found[_full_url(ctx, model, item)] = _found(ctx, of, item)
    if not found:
        raise NotFound("no matching application offers found")
    return found


def show_offer(ctx: Context, url: OfferUrl) -> dict[str, object]:
    """Return the document of `show-offer`: URL -> offer."""
    with ctx.store.read() as tx:
        model, item = offers.resolve(ctx, tx, url)
        of = ctx.of(tx, item.model)
        text = applications.current_charm(of, applications.get(of, item.application)).meta.description
        described = {"description": text} if text else {}
        return {_full_url(ctx, model, item): {**described, **_found(ctx, of, item)}}


def _full_url(ctx: Context, model: Model, item: Offer) -> str:
    return f"{ctx.controller.name}:{offers.url_of(model, item)}"


def _found(ctx: Context, tx: ModelTx, item: Offer) -> dict[str, object]:
    return {
        "access": offers.users(tx, item).get(ctx.user, "-"),
        "endpoints": _offer_endpoints(tx, item),
        "users": _users(tx, item),
    }
