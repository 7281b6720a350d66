"""The requests of integrate, remove-relation, suspend-relation and resume-relation.

Mirrors: juju apiserver/facades/client/application AddRelation, DestroyRelation, SetRelationsSuspended (3.6)
"""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.charms.values.endpoints import Side, infer_endpoints, parse_endpoint
from pushjuju.charms.values.model import Role
from pushjuju.core.errors import NotFound, NotValid
from pushjuju.core.model.offerurl import OfferUrl
from pushjuju.core.status import Life, StatusKind
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis import statuses, wake
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import models
from pushjuju.services.entities.relation import pairing, relations
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests.relation import cross_model
from pushjuju.store.rows.records import Relation, RelationEndpoint
from pushjuju.store.tx import ModelTx

_MOST = 2**63 - 1  # the largest number that the store can have
_DIGITS = 20  # a longer text is not an id; `int` raises for thousands of digits


def integrate(
    ctx: Context,
    model: str,
    first: str,
    second: str,
    *,
    via: Sequence[str] = (),
    offer: OfferUrl | None = None,
) -> int:
    """Relate two applications; return the id of the relation.

    Args:
        first: `APP[:ENDPOINT]`; the application may be a consumed application of another model.
        via: Subnets from which the traffic of this model comes, for a relation to another model.
        offer: An offer that is consumed first, under its own name, or None.

    Raises:
        NotValid, Conflict, AlreadyExists: A rule forbids it; the messages are Juju's.
    """
    with ctx.change(model) as tx:
        models.require_alive(tx)
        if offer is not None:
            cross_model.consume_in(ctx, tx, offer)
        return relate(tx, first, second, via=via)


def relate(tx: ModelTx, first: str, second: str, *, via: Sequence[str] = ()) -> int:
    """Relate two applications inside a transaction, as `integrate` does."""
    pair = infer_endpoints(first, second, lambda name: _side(tx, name))
    pair = pairing.checked(tx, pair)
    if via and not any(item.side.remote for item in pair):
        raise NotValid("integration via subnets for non cross model relations not supported")
    made = pairing.add(tx, pair, ",".join(via))
    cross_model.link(tx, made, pair)
    return made.id


def _side(tx: ModelTx, name: str) -> Side | None:
    found = pairing.side_of(tx, name)
    return found if found is not None else cross_model.side_of(tx, name)


# --- finding and removing ---------------------------------------------------------------------------------


def find(tx: ModelTx, arguments: Sequence[str]) -> Relation:
    """Return the relation that a user names by its id or by two `APP[:ENDPOINT]`.

    Raises:
        NotFound: The relation does not exist.
        NotValid: Several relations fit, or an argument is wrong; the messages are Juju's.
    """
    if len(arguments) == 1:
        return by_id(tx, arguments[0])
    wanted = [parse_endpoint(text) for text in arguments]
    some = relations.of_application(tx, wanted[0][0])
    found = [item for item in some if _fits(tx, item, wanted)]
    names = quote(" ".join(arguments))
    if not found:
        raise NotFound(f"relation matching {names} not found")
    if len(found) > 1:
        keys = "; ".join(quote(key) for key in sorted(item.key for item in found))
        raise NotValid(f"ambiguous relation: {names} could refer to {keys}")
    return found[0]


def is_id(text: str) -> bool:
    """Return True when a text can be a relation id."""
    return text.isascii() and text.isdigit() and len(text) < _DIGITS and int(text) <= _MOST


def by_id(tx: ModelTx, text: str) -> Relation:
    """Return a relation by its id."""
    if not is_id(text):
        raise NotValid(f"relation ID {quote(text)} not valid")
    return tx.get(Relation, "relation_get", f"relation {text} not found", id=int(text))


def _fits(tx: ModelTx, relation: Relation, wanted: Sequence[tuple[str, str]]) -> bool:
    sides = relations.endpoints(tx.beside(relation.model), relation.id)
    if len(sides) == 1:
        sides = [sides[0], sides[0]]
    orders = ((sides[0], sides[1]), (sides[1], sides[0]))
    return any(all(_is(side, *want) for side, want in zip(order, wanted, strict=True)) for order in orders)


def _is(side: RelationEndpoint, application: str, endpoint: str) -> bool:
    return side.application == application and endpoint in ("", side.endpoint)


def remove_relation(
    ctx: Context, model: str, arguments: Sequence[str], force: removal.Force | None = None
) -> list[str]:
    """Remove a relation: at once when no unit is in scope, else through the hooks of its units.

    Returns:
        The names of the related applications.
    """
    with ctx.change(model) as tx:
        relation = find(tx, arguments)
        sides = relations.endpoints(tx, relation.id)
        if relations.is_peer(sides):
            raise NotValid(f"cannot destroy relation {quote(relation.key)}: is a peer relation")
        removal.destroy_relation(tx, relation, force)
        return [side.application for side in sides]


# --- suspending -------------------------------------------------------------------------------------------


def set_suspended(
    ctx: Context, model: str, ids: Sequence[str], *, suspended: bool, reason: str = ""
) -> list[str]:
    """Suspend or resume relations; after an error, none is changed.

    Returns:
        The names of the related applications.
    """
    touched: set[str] = set()
    with ctx.change(model) as tx:
        for text in ids:
            relation = by_id(tx, text)
            sides = relations.endpoints(tx, relation.id)
            _set_suspended(tx, relation, sides, suspended=suspended, reason=reason)
            touched |= {side.application for side in sides}
    return sorted(touched)


def _set_suspended(
    tx: ModelTx, relation: Relation, sides: Sequence[RelationEndpoint], *, suspended: bool, reason: str
) -> None:
    if any(side.role == Role.PEER for side in sides):
        raise NotValid(f"cannot suspend relation {quote(relation.key)}: is a peer relation")
    if relation.life != Life.ALIVE:
        raise NotValid(f"relation {quote(relation.key)} is not alive")
    if relation.suspended == suspended:
        return
    if relation.far_model and not relation.offer:
        what = f"cannot set suspend status for {quote(relation.key)}"
        raise NotValid(
            f"{what} which is not associated with an offer", hint="suspend it in the model of the offer"
        )
    for item in (relation, relations.other_row(tx, relation)):
        if item is not None:
            _change(tx.beside(item.model), item, suspended=suspended, reason=reason)
    relations.wake_firewalls(tx, relation, "relation suspended or resumed")


def _change(tx: ModelTx, relation: Relation, *, suspended: bool, reason: str) -> None:
    """Suspend or resume the row of a relation in one model."""
    tx.run("relation_set_suspended", id=relation.id, suspended=suspended, reason=reason)
    word = "suspending" if suspended else "joining"
    statuses.set_status(
        tx.beside(relation.model), StatusKind.RELATION, str(relation.id), word, reason if suspended else ""
    )
    for side in relations.endpoints(tx.beside(relation.model), relation.id):
        wake.application(tx.beside(relation.model), side.application, "relation suspended or resumed")
