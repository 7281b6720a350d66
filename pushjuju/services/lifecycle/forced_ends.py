"""Finds the removals that are forced at a given time when the entity still exists then."""

from __future__ import annotations

from pushjuju.services.entities.basis.context import Context
from pushjuju.store.rows.records import Cleanup
from pushjuju.store.tx import ModelTx


def forced_ends(ctx: Context, model: str) -> list[Cleanup]:
    """Return the forced ends of a model whose entity still exists, the first due first."""
    with ctx.read(model) as tx:
        return ends_ahead(tx)


def any_ahead(ctx: Context) -> bool:
    """Return True when a forced end is planned in any model of a controller."""
    with ctx.store.read() as tx:
        models = [ctx.of(tx, row["model"]) for row in tx.rows("cleanup_models")]
        return any(_exists(model, end) for model in models for end in model.list(Cleanup, "cleanup_list"))


def ends_ahead(tx: ModelTx) -> list[Cleanup]:
    """Return the same as `forced_ends`, inside a transaction."""
    return [end for end in tx.list(Cleanup, "cleanup_list") if _exists(tx, end)]


def _exists(tx: ModelTx, end: Cleanup) -> bool:
    """Return True when the entity of a forced end still exists."""
    match end.kind.removeprefix("force-"):
        case "machine":
            found = tx.row("machine_get", id=end.entity)
        case "relation":
            found = tx.row("relation_get", id=int(end.entity))
        case "storage":
            found = tx.row("storage_instance_get", id=end.entity)
        case _:
            found = tx.row("unit_get", name=end.entity)
    return found is not None


def forced_subject(kind: str, entity: str) -> str:
    """Return the entity of a forced end as text: `web/0`, `machine 0`, `relation 3`."""
    noun = kind.removeprefix("force-")
    return entity if noun in ("unit", "remove-unit") else f"{noun} {entity}"
