"""Finds the removals that are forced at a given time when the entity still exists then."""

from __future__ import annotations

from pushjuju.services.entities.basis.context import Context
from pushjuju.store.rows.records import Cleanup, Relation, Unit
from pushjuju.store.tx import ModelTx


def forced_ends(ctx: Context, model: str) -> list[Cleanup]:
    """Return the forced ends of a model whose entity still exists, the first due first."""
    with ctx.read(model) as tx:
        return ends_ahead(tx)


def any_ahead(ctx: Context) -> bool:
    """Return True when a forced end is planned in any model of a controller."""
    with ctx.store.read() as tx:
        return any(ends_ahead(ctx.of(tx, row["model"])) for row in tx.rows("cleanup_models"))


def ends_ahead(tx: ModelTx) -> list[Cleanup]:
    """Return the same as `forced_ends`, inside a transaction."""
    ends = tx.list(Cleanup, "cleanup_list")
    if not ends:
        return []
    here = {unit.name for unit in tx.list(Unit, "unit_list")}
    here |= {f"machine {row['id']}" for row in tx.rows("machine_list")}
    here |= {f"relation {relation.id}" for relation in tx.list(Relation, "relation_list")}
    here |= {f"storage {row['id']}" for row in tx.rows("storage_instance_list")}
    return [end for end in ends if forced_subject(end.kind, end.entity) in here]


def forced_subject(kind: str, entity: str) -> str:
    """Return the entity of a forced end as text: `web/0`, `machine 0`, `relation 3`."""
    noun = kind.removeprefix("force-")
    return entity if noun in ("unit", "remove-unit") else f"{noun} {entity}"
