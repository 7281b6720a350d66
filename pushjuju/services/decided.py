"""Decisions that led to something that failed, kept so that they can be decided again. Layer: services.

A unit's row holds its last decision with all that it depended on. When an operation fails, that record is
kept beside the operation: the newest few of each unit. A hook that runs well pays nothing for it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pushjuju.core.clock import to_iso
from pushjuju.core.errors import NotFound
from pushjuju.services import units
from pushjuju.services.context import Context
from pushjuju.state.records import Operation, Unit
from pushjuju.state.store import Tx

KEPT_PER_UNIT = 10
_SHORTEST = 4  # characters of an operation's id that name it


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A decision with all that it depended on.

    Attributes:
        subject: The unit, or the operation that it led to.
        record: As `uniter.resolver.record` writes it.
        operation: What it led to; empty when that is not known.
        title: The hook, as people know it.
    """

    subject: str
    unit: str
    record: Mapping[str, Any]
    operation: str = ""
    title: str = ""


def keep(tx: Tx, operation: Operation, record: str, now: datetime) -> None:
    """Keep the decision that led to an operation, among the newest of its unit."""
    here = {"model": operation.model, "unit": operation.unit}
    tx.run("decided_put", **here, operation=operation.id, kept=to_iso(now), record=record)
    tx.run("decided_trim", **here, most=KEPT_PER_UNIT)


def last_of(tx: Tx, operation: Operation) -> str:
    """Return the last decision of an operation's unit if it led to that operation, else an empty text."""
    text = str(tx.scalar("unit_decision", model=operation.model, name=operation.unit) or "")
    return text if text and _led_to(json.loads(text), operation) is not None else ""


def _led_to(record: Mapping[str, Any], operation: Operation) -> Mapping[str, Any] | None:
    """Return a record if its decision is the one that led to the operation."""
    led = record.get("decision", {}).get("operation")
    return record if led and led == operation.document.get("operation") else None


def find(ctx: Context, model: str, name: str) -> Decided:
    """Return the decision of an operation (its id or the start of it), or the last one of a unit.

    Raises:
        NotFound: There is no such thing, or nothing was kept of it.
    """
    with ctx.store.read() as tx:
        return _of_unit(units.get(tx, model, name)) if "/" in name else _of_operation(tx, model, name)


def _of_unit(unit: Unit) -> Decided:
    record = json.loads(unit.decision)
    if not record:
        raise NotFound(f"unit {unit.name} has not decided anything yet")
    return Decided(subject=unit.name, unit=unit.name, record=record)


def _of_operation(tx: Tx, model: str, start: str) -> Decided:
    operation = operation_by_id(tx, model, start)
    text = tx.scalar("decided_get", operation=operation.id)
    record = json.loads(text) if text else None
    if record is None and operation.unit:
        # Not over yet, or nothing was decided since: the unit still holds it.
        last = tx.scalar("unit_decision", model=model, name=operation.unit)
        newest = tx.scalar("operation_newest", model=model, unit=operation.unit)
        record = _led_to(json.loads(last), operation) if last and newest == operation.id else None
    if record is None:
        raise NotFound(
            f"the decision behind operation {operation.id} was not kept",
            detail=f"Kept are the last {KEPT_PER_UNIT} of each unit that led to a failure, and its last one.",
            hint=f"pushjuju replay {operation.unit}    decides the unit's last one again",
        )
    return Decided(
        subject=operation.id, unit=operation.unit, record=record, operation=operation.id,
        title=operation.name,
    )  # fmt: skip


def operation_by_id(tx: Tx, model: str, start: str) -> Operation:
    """Return the operation whose id begins so.

    Raises:
        NotFound: None does, or several do.
    """
    found = []
    if len(start) >= _SHORTEST and set(start) <= set("0123456789abcdef-"):
        found = [row for row in tx.list(Operation, "operation_by_start", start=start) if row.model == model]
    if len(found) == 1:
        return found[0]
    if found:
        raise NotFound(f'several operations begin with "{start}": write more of the id')
    raise NotFound(
        f'operation "{start}" not found',
        hint="pushjuju hooks    lists the operations of hooks with their ids",
    )
