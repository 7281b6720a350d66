"""The requests of annotate and annotations. Mirrors: juju state/annotations.go (3.6)"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pushjuju.core.errors import not_found
from pushjuju.services.entities.application import applications, units
from pushjuju.services.entities.basis import annotations as notes
from pushjuju.services.entities.basis.annotations import Kind
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.storage import storage_instances
from pushjuju.store.tx import ModelTx


def _require_model(tx: ModelTx, owner: str) -> None:
    if owner != tx.model:
        raise not_found("model", owner)


_REQUIRE: Mapping[Kind, Callable[[ModelTx, str], object]] = {
    Kind.MODEL: _require_model,
    Kind.APPLICATION: applications.get,
    Kind.MACHINE: machines.get,
    Kind.UNIT: units.get,
    Kind.STORAGE: storage_instances.get,
}


def annotate(ctx: Context, model: str, kind: Kind, owner: str, values: Mapping[str, str]) -> None:
    """Set annotations of an entity of a model, or of the model; an empty value deletes its key."""
    with ctx.change(model) as tx:
        _REQUIRE[kind](tx, owner)
        notes.put(tx, kind, owner, values)


def annotations_of(ctx: Context, model: str, kind: Kind, owner: str) -> dict[str, str]:
    """Return the annotations of an entity of a model, or of the model."""
    with ctx.read(model) as tx:
        _REQUIRE[kind](tx, owner)
        return notes.of_model(tx, kind).get(owner, {})
