"""Relating applications, and ending relations. Layer: services.

Mirrors: juju apiserver/facades/client/application AddRelation, DestroyRelation, SetRelationsSuspended (3.6)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from pushjuju.charms.endpoints import (
    Bound,
    Pair,
    RelationFacts,
    Side,
    check_relation,
    infer_endpoints,
    parse_endpoint,
    relation_key,
)
from pushjuju.charms.goform import quote
from pushjuju.charms.model import Endpoint, Role
from pushjuju.core.base import Base
from pushjuju.core.clock import to_iso
from pushjuju.core.errors import NotFound, NotValid
from pushjuju.core.life import Life
from pushjuju.core.status import StatusKind
from pushjuju.services import charms, models, relations, removal, statuses, touch
from pushjuju.services.context import Context
from pushjuju.state.records import Application, Relation, RelationEndpoint
from pushjuju.state.store import Tx

_MOST = 2**63 - 1  # the store has no greater numbers
_DIGITS = 20  # Python reads no number of thousands of digits


def integrate(ctx: Context, model: str, first: str, second: str, *, via: Sequence[str] = ()) -> int:
    """Relate two applications; return the id of the relation.

    Args:
        first: `APP[:ENDPOINT]`.
        second: The other one.
        via: Subnets that the requirer's traffic comes from.

    Raises:
        NotFound: An application or endpoint is missing, or nothing fits.
        NotValid, Conflict, AlreadyExists: A rule forbids it; the messages are Juju's.
    """
    with ctx.store.write() as tx:
        models.require_alive(tx, model)
        return relate(tx, model, first, second, via=via, now=ctx.clock.now())


def relate(tx: Tx, model: str, first: str, second: str, *, via: Sequence[str] = (), now: datetime) -> int:
    """Relate two applications inside a transaction; as `integrate`."""
    pair = infer_endpoints(first, second, lambda name: _side(tx, model, name))
    pair = check_relation(pair, _facts(tx, model, pair))
    return _add(tx, model, pair, ",".join(via), now)


def _side(tx: Tx, model: str, name: str) -> Side | None:
    found = tx.find(Application, "application_get", model=model, name=name)
    if found is None:
        return None
    charm = charms.get(tx, model, found.charm_url)
    return Side(
        application=name,
        provides=charm.meta.provides,
        requires=charm.meta.requires,
        peers=charm.meta.peers,
        subordinate=charm.meta.subordinate,
        alive=found.life == Life.ALIVE,
        bases=charm.bases(),
        base=None if found.subordinate else Base.parse(found.base),
    )


def _facts(tx: Tx, model: str, pair: Pair) -> RelationFacts:
    names = {item.side.application for item in pair}
    existing = {item.key: item for name in names for item in relations.of_application(tx, model, name)}
    counts = {str(item): _count(tx, model, item, existing.values()) for item in pair}
    return RelationFacts(
        counts=counts, existing={key: item.life == Life.ALIVE for key, item in existing.items()}
    )


def _count(tx: Tx, model: str, item: Bound, existing: Iterable[Relation]) -> int:
    count = 0
    for relation in existing:
        if not relation.suspended:
            sides = relations.endpoints(tx, model, relation.id)
            count += any(f"{side.application}:{side.endpoint}" == str(item) for side in sides)
    return count


def _add(tx: Tx, model: str, pair: Pair, egress: str, now: datetime) -> int:
    relation = Relation(
        model=model,
        id=tx.next(model, "relation"),
        key=relation_key(pair),
        life=Life.ALIVE,
        scope=pair[0].endpoint.scope,
        egress=egress,
        created=to_iso(now),
    )
    tx.insert("relation", relation)
    for item in pair:
        tx.insert("relation_endpoint", _endpoint_row(model, relation.id, item.side, item.endpoint))
        relations.put_bag(tx, model, relation.id, item.side.application, {})
        touch.application(tx, model, item.side.application, now, f"relation {relation.id}")
    statuses.set_status(tx, model, StatusKind.RELATION, str(relation.id), "joining", now=now)
    return relation.id


def _endpoint_row(model: str, relation: int, side: Side, endpoint: Endpoint) -> RelationEndpoint:
    return RelationEndpoint(
        model=model,
        relation=relation,
        application=side.application,
        endpoint=endpoint.name,
        role=endpoint.role,
        interface=endpoint.interface,
        capacity=endpoint.limit,
    )


# --- finding and ending -----------------------------------------------------------------------------------


def find(tx: Tx, model: str, arguments: Sequence[str]) -> Relation:
    """Return the relation that a person names: its id, or two `APP[:ENDPOINT]`.

    Raises:
        NotFound: There is no such relation.
        NotValid: Several fit, or the arguments make no sense; the messages are Juju's.
    """
    if len(arguments) == 1:
        return by_id(tx, model, arguments[0])
    wanted = [parse_endpoint(text) for text in arguments]
    some = relations.of_application(tx, model, wanted[0][0])
    found = [item for item in some if _fits(tx, item, wanted)]
    names = quote(" ".join(arguments))
    if not found:
        raise NotFound(f"relation matching {names} not found")
    if len(found) > 1:
        keys = "; ".join(quote(key) for key in sorted(item.key for item in found))
        raise NotValid(f"ambiguous relation: {names} could refer to {keys}")
    return found[0]


def is_id(text: str) -> bool:
    """Tell whether a text can be the id of a relation."""
    return text.isascii() and text.isdigit() and len(text) < _DIGITS and int(text) <= _MOST


def by_id(tx: Tx, model: str, text: str) -> Relation:
    """Return a relation by its id.

    Raises:
        NotValid: It is no number.
        NotFound: No such relation.
    """
    if not is_id(text):
        raise NotValid(f"relation ID {quote(text)} not valid")
    return tx.get(Relation, "relation_get", f"relation {text} not found", model=model, id=int(text))


def _fits(tx: Tx, relation: Relation, wanted: Sequence[tuple[str, str]]) -> bool:
    sides = relations.endpoints(tx, relation.model, relation.id)
    if len(sides) == 1:
        sides = [sides[0], sides[0]]
    orders = ((sides[0], sides[1]), (sides[1], sides[0]))
    return any(all(_is(side, *want) for side, want in zip(order, wanted, strict=True)) for order in orders)


def _is(side: RelationEndpoint, application: str, endpoint: str) -> bool:
    return side.application == application and endpoint in ("", side.endpoint)


def remove_relation(
    ctx: Context, model: str, arguments: Sequence[str], force: removal.Force | None = None
) -> list[str]:
    """End a relation: at once when no unit is in it, else by way of the hooks of its members.

    Returns:
        The applications that it ties.

    Raises:
        NotFound: There is no such relation.
        NotValid: It is a peer relation, or several fit.
    """
    now = ctx.clock.now()
    with ctx.store.write() as tx:
        relation = find(tx, model, arguments)
        sides = relations.endpoints(tx, model, relation.id)
        if relations.is_peer(sides):
            raise NotValid(f"cannot destroy relation {quote(relation.key)}: is a peer relation")
        removal.destroy_relation(tx, relation, now, force)
        return [side.application for side in sides]


# --- suspending -------------------------------------------------------------------------------------------


def set_suspended(
    ctx: Context, model: str, ids: Sequence[str], *, suspended: bool, reason: str = ""
) -> list[str]:
    """Suspend relations or let them go on; all of them or none.

    Returns:
        The applications that they tie.

    Raises:
        NotFound: There is no such relation.
        NotValid: A peer relation, or one that is going away.
    """
    now, touched = ctx.clock.now(), set()
    with ctx.store.write() as tx:
        for text in ids:
            relation = by_id(tx, model, text)
            sides = relations.endpoints(tx, model, relation.id)
            _set_suspended(tx, relation, sides, suspended=suspended, reason=reason, now=now)
            touched |= {side.application for side in sides}
    return sorted(touched)


def _set_suspended(
    tx: Tx,
    relation: Relation,
    sides: Sequence[RelationEndpoint],
    *,
    suspended: bool,
    reason: str,
    now: datetime,
) -> None:
    if any(side.role == Role.PEER for side in sides):
        raise NotValid(f"cannot suspend relation {quote(relation.key)}: is a peer relation")
    if relation.life != Life.ALIVE:
        raise NotValid(f"relation {quote(relation.key)} is not alive")
    if bool(relation.suspended) == suspended:
        return
    tx.run(
        "relation_set_suspended",
        model=relation.model,
        id=relation.id,
        suspended=int(suspended),
        reason=reason,
    )
    statuses.set_status(
        tx,
        relation.model,
        StatusKind.RELATION,
        str(relation.id),
        "suspending" if suspended else "joining",
        reason if suspended else "",
        now=now,
    )
    for side in sides:
        touch.application(tx, relation.model, side.application, now, "relation suspended or resumed")
