"""Finds the stored decisions of units and operations, for `replay` to make again.

The row of a unit has its last decision, with all input of the decision. When the decision is to run an
operation, the operation's row also has the decision, compressed; it is deleted together with the operation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pushjuju.core.errors import NotFound, NotValid
from pushjuju.core.values import dataclass
from pushjuju.services.entities.application import units
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.basis.decision_text import unpacked
from pushjuju.store.rows.records import Operation, Unit
from pushjuju.store.tx import ModelTx

_SHORTEST = 4  # characters that are enough to name an operation by the beginning of its id


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A decision with its whole input."""

    subject: str  # the unit, or the id of the operation that the decision led to
    unit: str
    record: Mapping[str, Any]  # the document that `uniter.decide.record` writes
    operation: str = ""  # the id of the operation that followed, or empty when it is unknown
    title: str = ""  # the name of the hook, as users know it


def find(ctx: Context, model: str, name: str) -> Decided:
    """Return the decision of an operation, by the beginning of its id, or the last decision of a unit."""
    with ctx.read(model) as tx:
        return _of_unit(units.get(tx, name)) if "/" in name else _of_operation(tx, name)


def _of_unit(unit: Unit) -> Decided:
    record = json.loads(unit.decision)
    if not record:
        raise NotFound(f"unit {unit.name} has not decided anything yet")
    return Decided(subject=unit.name, unit=unit.name, record=record)


def _of_operation(tx: ModelTx, start: str) -> Decided:
    operation = operation_by_id(tx, start)
    return Decided(
        subject=operation.id, unit=operation.unit, record=_record(operation), operation=operation.id,
        title=operation.name,
    )  # fmt: skip


def _record(operation: Operation) -> Mapping[str, Any]:
    if operation.decided is None:
        raise _not_kept(operation)
    try:
        record: Mapping[str, Any] = json.loads(unpacked(operation.decided))
    except ValueError as error:
        raise NotValid(f"the record of operation {operation.id} cannot be read: {error}") from error
    return record


def _not_kept(operation: Operation) -> NotFound:
    if not operation.unit:
        return NotFound(f"operation {operation.id} is of machine {operation.machine}: no unit decided it")
    if operation.state == "planned":
        return NotFound(f"operation {operation.id} is decided when the hook before it has ended well")
    return NotFound(
        f"the decision behind operation {operation.id} was not kept: an older pushjuju ran it",
        hint=f"pushjuju replay {operation.unit}    decides the last decision of the unit again",
    )


def operation_by_id(tx: ModelTx, start: str) -> Operation:
    """Return the operation whose id begins with a text, or raise NotFound."""
    found = []
    if len(start) >= _SHORTEST and set(start) <= set("0123456789abcdef-"):
        found = [
            row for row in tx.list(Operation, "operation_by_start", start=start) if row.model == tx.model
        ]
    if len(found) == 1:
        return found[0]
    if found:
        raise NotFound(f'several operations begin with "{start}": write more of the id')
    raise NotFound(
        f'operation "{start}" not found',
        hint="pushjuju hooks    lists the operations of hooks with their ids",
    )
