"""The rows of `status --relations`: one for each relation.

Mirrors: juju cmd/juju/status/formatter.go processPeerRelations, processRelations (3.6)
"""

from __future__ import annotations

from pushjuju.core.status import StatusKind
from pushjuju.services.entities.basis import annotations as notes
from pushjuju.services.entities.basis.context import Context
from pushjuju.store.rows.records import Relation, RelationEndpoint

_SUBORDINATE = "container"


def relation_rows(ctx: Context, model: str) -> list[dict[str, object]]:
    """Return a row for each relation: id, provider, requirer, interface, type, status and message.

    Relations to an offer of the model are left out, as the consuming model shows them. A peer relation has
    its only endpoint on both sides.
    """
    with ctx.read(model) as tx:
        relations = tx.list(Relation, "relation_list")
        sides = tx.list(RelationEndpoint, "relation_endpoint_list")
        rows = tx.rows("status_of_kind", kind=str(StatusKind.RELATION))
    present = {int(row["entity"]): (str(row["status"]), str(row["message"])) for row in rows}
    by_relation: dict[int, list[RelationEndpoint]] = {}
    for side in sides:
        by_relation.setdefault(side.relation, []).append(side)
    return [
        _row(relation, by_relation[relation.id], present.get(relation.id, ("joining", "")))
        for relation in relations
        if relation.id in by_relation and not relation.offer
    ]


def places(ctx: Context, model: str) -> dict[str, tuple[float, float]]:
    """Return application -> the place in pictures of relations that people chose."""
    with ctx.read(model) as tx:
        return notes.places(tx)


def sides(ctx: Context, model: str, relation: int) -> list[tuple[str, RelationEndpoint]]:
    """Return (scope of the relation, endpoint) for each side of a relation."""
    with ctx.read(model) as tx:
        found = tx.get(Relation, "relation_get", f"relation {relation} not found", id=relation)
        ends = tx.list(RelationEndpoint, "relation_endpoints", relation=relation)
    return [(found.scope, end) for end in ends]


def _row(relation: Relation, sides: list[RelationEndpoint], status: tuple[str, str]) -> dict[str, object]:
    provider = next((side for side in sides if side.role != "requirer"), sides[0])
    requirer = next((side for side in sides if side.role == "requirer"), provider)
    if provider.role == "peer":
        kind = "peer"
    else:
        kind = "subordinate" if relation.scope == _SUBORDINATE else "regular"
    return {
        "id": relation.id,
        "provider": f"{provider.application}:{provider.endpoint}",
        "requirer": f"{requirer.application}:{requirer.endpoint}",
        "interface": provider.interface,
        "type": kind,
        "status": status[0],
        "message": status[1],
    }
