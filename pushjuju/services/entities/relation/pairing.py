"""Adds a relation between two applications of a model, after checking their endpoints.

Mirrors: juju state/state.go AddRelation (3.6)
"""

from __future__ import annotations

from collections.abc import Iterable

from pushjuju.charms.values.endpoints import Bound, Pair, RelationFacts, Side, check_relation, relation_key
from pushjuju.core.base import Base
from pushjuju.core.status import Life
from pushjuju.services.entities.basis import wake
from pushjuju.services.entities.charm import charms
from pushjuju.services.entities.relation import relations
from pushjuju.store.rows.records import Application, Relation
from pushjuju.store.tx import ModelTx


def side_of(tx: ModelTx, name: str) -> Side | None:
    """Return an application as a side of a relation, or None when the model does not have the application."""
    found = tx.find(Application, "application_get", name=name)
    if found is None:
        return None
    charm = charms.get(tx, found.charm_url)
    base = None if found.subordinate else Base.parse(found.base)
    return Side.of(name, charm.meta, bases=charm.bases(), base=base, alive=found.life == Life.ALIVE)


def checked(tx: ModelTx, pair: Pair) -> Pair:
    """Return a pair of endpoints in stored order, or raise an error when they cannot be related."""
    return check_relation(pair, _facts(tx, pair))


def _facts(tx: ModelTx, pair: Pair) -> RelationFacts:
    names = {item.side.application for item in pair}
    existing = {item.key: item for name in names for item in relations.of_application(tx, name)}
    counts = {str(item): _count(tx, item, existing.values()) for item in pair}
    return RelationFacts(
        counts=counts, existing={key: item.life == Life.ALIVE for key, item in existing.items()}
    )


def _count(tx: ModelTx, item: Bound, existing: Iterable[Relation]) -> int:
    count = 0
    for relation in existing:
        if not relation.suspended:
            sides = relations.endpoints(tx, relation.id)
            count += any(f"{side.application}:{side.endpoint}" == str(item) for side in sides)
    return count


def add(tx: ModelTx, pair: Pair, egress: str) -> Relation:
    """Record a relation, and wake the machines of both applications.

    Args:
        egress: Subnets from which the requirer's traffic comes, separated by commas; empty by default.
    """
    sides = [(item.side.application, item.endpoint) for item in pair]
    relation = relations.add(tx, relation_key(pair), sides, egress)
    for application, _ in sides:
        wake.application(tx, application, f"relation {relation.id}")
    return relation
