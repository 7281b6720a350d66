"""Offers: endpoints of an application that other models may relate to.

All models of a controller share one store, so one transaction can write in both models of a relation.

Mirrors: juju apiserver/facades/client/applicationoffers, state/applicationoffers.go (3.6)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from pushjuju.charms.values.model import Charm, Endpoint, Scope
from pushjuju.core.errors import Conflict, NotFound, NotValid
from pushjuju.core.ids import new_uuid
from pushjuju.core.model.offerurl import OfferUrl
from pushjuju.core.names import is_endpoint
from pushjuju.core.problems import Subject
from pushjuju.core.status import Life
from pushjuju.core.values import dataclass
from pushjuju.portable.jsontext import compact
from pushjuju.portable.names import is_application
from pushjuju.portable.quote import quote
from pushjuju.services.entities.application import applications
from pushjuju.services.entities.basis import users as people
from pushjuju.services.entities.basis.context import DEFAULT_USER, Context
from pushjuju.services.entities.model import models
from pushjuju.services.entities.relation import relations, remote_applications
from pushjuju.services.entities.relation.remote_applications import End
from pushjuju.store.rows.records import Application, Model, Offer, Relation
from pushjuju.store.tx import ModelTx, Tx

EVERYONE = people.EVERYONE
ADMIN = people.LEVELS[people.Kind.OFFER][-1]


# --- reading ----------------------------------------------------------------------------------------------


def of_application(tx: ModelTx, application: str) -> list[Offer]:
    """Return the offers of an application, in the order of their names."""
    return tx.list(Offer, "offer_of_application", application=application)


def of_model(tx: ModelTx) -> list[Offer]:
    """Return the offers of a model, in the order of their names."""
    return tx.list(Offer, "offer_list")


def connections(tx: Tx, offer: Offer) -> list[Relation]:
    """Return the relations to an offer, in the order of their ids."""
    return tx.list(Relation, "relation_by_offer", offer=offer.uuid)


def endpoints(tx: ModelTx, offer: Offer) -> list[tuple[str, Endpoint]]:
    """Return (name in the offer, endpoint), sorted by name, without endpoints that the charm lost."""
    here = tx.beside(offer.model)
    charm = applications.current_charm(here, applications.get(here, offer.application))
    found = ((name, charm.meta.find_endpoint(own)) for name, own in sorted(offer.endpoints.items()))
    return [(name, endpoint) for name, endpoint in found if endpoint is not None]


def url_of(model: Model, offer: Offer) -> str:
    """Return the URL of an offer without its controller: `OWNER/MODEL.OFFER`."""
    return f"{model.qualified}.{offer.name}"


def users(tx: Tx, offer: Offer) -> dict[str, str]:
    """Return user -> access level: the admin, `everyone@external`, and every user who was granted access."""
    granted = people.access_to(tx, people.Kind.OFFER, offer.uuid)
    found = {DEFAULT_USER: "admin", EVERYONE: people.EVERYONES, **granted}
    return {user: level for user, level in found.items() if level}


def level_of(ctx: Context, tx: Tx, model: Model, offer: Offer) -> str:
    """Return the user's level of access to an offer, or an empty text for no access."""
    if models.may_access(tx, ctx.user, model, "admin"):
        return ADMIN
    return people.effective_level(tx, ctx.user, people.Kind.OFFER, offer.uuid)


def resolve(ctx: Context, tx: Tx, url: OfferUrl) -> tuple[Model, Offer]:
    """Return the model and the offer that a URL names, or raise NotFound."""
    if url.controller not in ("", ctx.controller.name):
        raise NotFound(
            f"controller {quote(url.controller)} is not this controller, {quote(ctx.controller.name)}",
            hint="models of one controller can be related to each other",
        )
    owner = url.owner or ctx.user
    model = tx.find(Model, "model_by_name", owner=owner, name=url.model)
    if model is None:
        raise NotFound(f"model {quote(f'{owner}/{url.model}')} not found")
    offer = tx.find(Offer, "offer_get", model=model.uuid, name=url.offer)
    if offer is None:
        name = f"{model.qualified}.{url.offer}"
        raise NotFound(f"application offer {quote(name)} not found", subject=Subject("offer", name))
    return model, offer


def visible(ctx: Context, tx: Tx, url: OfferUrl) -> tuple[Model, Offer, str]:
    """Return model and offer of a URL, and the user's level of access to the offer.

    Raises:
        NotFound: The offer does not exist, or the user may not see it; the message is the same.
    """
    try:
        model, offer = resolve(ctx, tx, url)
        level = level_of(ctx, tx, model, offer)
    except NotFound:
        level = ""
    if not level:
        name = f"{url.owner or ctx.user}/{url.model}.{url.offer}"
        raise NotFound(f"application offer {quote(name)} not found", subject=Subject("offer", name))
    return model, offer, level


# --- offering ---------------------------------------------------------------------------------------------


def offer_in(ctx: Context, tx: ModelTx, application: str, wanted: Mapping[str, str], name: str) -> Offer:
    """Offer endpoints (name in the offer -> endpoint) or change the offer of this name, as `offer` does."""
    present = tx.find(Offer, "offer_get", name=name)
    doing = "update" if present else "add"
    try:
        models.require_alive(tx)
        made = _checked(ctx, tx, application, wanted, name)
        if present is None:
            _insert(tx, made)
            return made
        return _update(tx, present, made)
    except (NotFound, NotValid, Conflict) as error:
        what = f"cannot {doing} application offer {quote(name)}"
        raise type(error)(f"{what}: {error.message}", subject=error.subject) from None


def _checked(ctx: Context, tx: ModelTx, application: str, wanted: Mapping[str, str], name: str) -> Offer:
    if not is_application(name):
        raise NotValid(f"offer name {quote(name)} not valid")
    found = applications.get(tx, application)
    if found.life != Life.ALIVE:
        raise NotValid(f"application {quote(application)} is not alive")
    charm = applications.current_charm(tx, found)
    for alias, item in wanted.items():
        _check_endpoint(charm, application, item)
        if not is_endpoint(alias):
            raise NotValid(f"endpoint name {quote(alias)} not valid")
    return Offer(
        uuid=new_uuid(), model=tx.model, name=name, application=application,
        endpoints=wanted, created=ctx.clock.now(),
    )  # fmt: skip


def _check_endpoint(charm: Charm, application: str, name: str) -> None:
    found = charm.meta.find_endpoint(name)
    if found is None:
        what = f"getting relation endpoint for relation {quote(name)} and application {quote(application)}"
        raise NotFound(f"{what}: application {quote(application)} has no {quote(name)} relation")
    if found.scope is not Scope.GLOBAL:
        raise NotValid(f"can only offer endpoints with global scope, provided scope {quote(found.scope)}")
    if name in charm.meta.peers:
        raise NotValid(f"cannot offer peer relation {quote(name)}")


def _insert(tx: Tx, made: Offer) -> None:
    tx.insert("offer", made)
    tx.run("application_set_offered", model=made.model, name=made.application)


def _update(tx: ModelTx, present: Offer, made: Offer) -> Offer:
    used = _used(tx, present)
    if used and made.application != present.application:
        raise Conflict(f"offer has {_count(len(connections(tx, present)), 'relation')}")
    kept = made.endpoints.items()
    if gone := sorted(alias for alias, own in present.endpoints.items() - kept if own in used):
        _refuse_gone(made, gone)
    ends = compact(dict(made.endpoints))
    tx.run("offer_update", uuid=present.uuid, application=made.application, endpoints=ends)
    tx.run("application_set_offered", model=made.model, name=made.application)
    remote_applications.retarget(
        tx, present, made.application, remote_applications.described(endpoints(tx, made))
    )
    return tx.get(Offer, "offer_by_uuid", "", uuid=present.uuid)


def _used(tx: ModelTx, item: Offer) -> set[str]:
    """Return the application's endpoints that have relations to an offer."""
    found = (relations.endpoints(tx.beside(item.model), relation.id) for relation in connections(tx, item))
    return {side.endpoint for sides in found for side in sides if side.application == item.application}


def _refuse_gone(made: Offer, gone: Sequence[str]) -> None:
    what = f"updating offer {made.application}:{', '.join(sorted(made.endpoints))} would remove"
    if len(gone) == 1:
        raise Conflict(f"{what} endpoint {quote(gone[0])} which has active consumers")
    raise Conflict(f"{what} endpoints {quote(', '.join(gone))} which have active consumers")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


# --- removing ---------------------------------------------------------------------------------------------


def remove(tx: ModelTx, item: Offer, end: End | None = None) -> None:
    """Remove an offer; the models that consume it see the offer as terminated.

    Args:
        end: Ends a relation to the offer, or None to refuse the removal while there are relations.
    """
    found = connections(tx, item)
    if found and end is None:
        what = f"cannot delete application offer {quote(item.name)}"
        raise Conflict(
            f"{what}: offer has {_count(len(found), 'relation')}",
            hint="--force ends them too; `pushjuju offers` shows them",
        )
    remote_applications.terminate(tx, item)
    for relation in found:
        if end is not None:
            end(relation)
    tx.run("access_forget", kind=people.Kind.OFFER, target=item.uuid)
    tx.run("offer_delete", uuid=item.uuid)


def remove_of_application(tx: ModelTx, application: Application, end: End | None) -> None:
    """Remove the offers of an application that is being removed."""
    found = of_application(tx.beside(application.model), application.name)
    if end is None and any(connections(tx, item) for item in found):
        what = f"cannot destroy application {quote(application.name)}"
        raise Conflict(
            f"{what}: application is used by {_count(len(found), 'offer')}",
            hint="`pushjuju offers` shows who is related to it; --force ends these relations",
        )
    for item in found:
        remove(tx, item, end)


# --- finding ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The conditions of a search for offers; an empty attribute is no condition."""

    name: str = ""  # the offer's whole name
    part: str = ""  # a part of the offer's name
    application: str = ""
    interface: str = ""
    consumer: str = ""  # a user who may consume the offer
    connected: str = ""  # a user with a relation to the offer
    active: bool = False  # True for offers with relations only


def matching(ctx: Context, tx: ModelTx, found: Iterable[Offer], wanted: Wanted) -> list[Offer]:
    """Return the offers among `found` that meet all conditions."""
    return [item for item in found if _fits(ctx, tx, item, wanted)]


def _fits(ctx: Context, tx: ModelTx, item: Offer, wanted: Wanted) -> bool:
    if wanted.name not in ("", item.name) or wanted.part not in item.name:
        return False
    if wanted.application not in ("", item.application):
        return False
    if wanted.interface and wanted.interface not in _interfaces(tx, item):
        return False
    if wanted.consumer and users(tx, item).get(wanted.consumer, "read") == "read":
        return False
    if wanted.connected not in ("", ctx.user):
        return False
    return not (wanted.active or wanted.connected) or bool(connections(tx, item))


def _interfaces(tx: ModelTx, item: Offer) -> Collection[str]:
    return {endpoint.interface for _, endpoint in endpoints(tx, item)}
