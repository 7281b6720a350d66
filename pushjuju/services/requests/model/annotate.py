"""The requests of annotate and annotations. Mirrors: juju state/annotations.go (3.6)"""

from __future__ import annotations

from collections.abc import Mapping

from pushjuju.services.entities.application import applications
from pushjuju.services.entities.basis import annotations as notes
from pushjuju.services.entities.basis.annotations import Kind
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import machines
from pushjuju.store.tx import ModelTx


def _require(tx: ModelTx, kind: Kind, owner: str) -> None:
    if kind is Kind.APPLICATION:
        applications.get(tx, owner)
    else:
        machines.get(tx, owner)


def annotate(ctx: Context, model: str, kind: Kind, owner: str, values: Mapping[str, str]) -> None:
    """Set annotations of an application or machine; an empty value deletes its key."""
    with ctx.write(model) as tx:
        _require(tx, kind, owner)
        notes.put(tx, kind, owner, values)


def annotations_of(ctx: Context, model: str, kind: Kind, owner: str) -> dict[str, str]:
    """Return the annotations of an application or machine."""
    with ctx.read(model) as tx:
        _require(tx, kind, owner)
        return notes.of_model(tx, kind).get(owner, {})
