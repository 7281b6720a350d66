"""Removals that end by force at a given time: what waits for that, and until when."""

from __future__ import annotations

from pushjuju.services.entities.basis.context import Context
from pushjuju.store.rows.records import Cleanup, Relation, Unit
from pushjuju.store.tx import ModelTx


def forced_ends(ctx: Context, model: str) -> list[Cleanup]:
    """Return the forced ends that a model waits for, the first due first; not of what went by itself."""
    with ctx.read(model) as tx:
        return ends_ahead(tx)


def any_ahead(ctx: Context) -> bool:
    """Return True when any model of a controller has a forced removal that waits for its time."""
    with ctx.store.read() as tx:
        return any(ends_ahead(ctx.of(tx, row["model"])) for row in tx.rows("cleanup_models"))


def ends_ahead(tx: ModelTx) -> list[Cleanup]:
    """Return what `forced_ends` does, in a transaction."""
    ends = tx.list(Cleanup, "cleanup_list")
    if not ends:
        return []
    here = {unit.name for unit in tx.list(Unit, "unit_list")}
    here |= {f"machine {row['id']}" for row in tx.rows("machine_list")}
    here |= {f"relation {relation.id}" for relation in tx.list(Relation, "relation_list")}
    here |= {f"storage {row['id']}" for row in tx.rows("storage_instance_list")}
    return [end for end in ends if forced_subject(end.kind, end.entity) in here]


def forced_subject(kind: str, entity: str) -> str:
    """Return what a forced end is about: `web/0`, `machine 0`, `relation 3`."""
    noun = kind.removeprefix("force-")
    return entity if noun in ("unit", "remove-unit") else f"{noun} {entity}"
