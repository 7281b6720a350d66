"""Keeping the decision behind an operation that failed, so that it can be decided again. Layer: uniter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from pushjuju.services import decided
from pushjuju.state.records import Operation as OperationRecord
from pushjuju.state.store import Tx
from pushjuju.uniter.resolver import (
    LocalState,
    Operation,
    OperationKind,
    Step,
    decide,
    from_wire,
    record_text,
)
from pushjuju.uniter.snapshot import look


def keep(tx: Tx, failed: OperationRecord, now: datetime) -> None:
    """Keep what led to an operation: as it was recorded, or rebuilt from the state that the failure left.

    A hook that travelled behind another one was decided ahead: the unit may hold the other decision.
    """
    text = decided.last_of(tx, failed) or _rebuilt(tx, failed)
    if text:
        decided.keep(tx, failed, text, now)


def _rebuilt(tx: Tx, failed: OperationRecord) -> str:
    """Return the record of a decision that leads to the operation from now; empty when none does."""
    view = look(tx, failed.model, failed.unit)
    if view is None or "operation" not in failed.document:
        return ""
    wanted = from_wire(Operation, failed.document["operation"])
    for local in _before(view.local, wanted):
        decision = decide(local, view.remote)
        made = decision.operation
        if made is not None and (made.name, made.hook) == (wanted.name, wanted.hook):
            return record_text(local, view.remote, decision)
    return ""


def _before(local: LocalState, operation: Operation) -> Iterator[LocalState]:
    """Yield the states that a unit may have been in: the hook was queued, or nothing was in progress."""
    if operation.hook is None or local.kind is not OperationKind.RUN_HOOK:
        return
    yield replace(local, step=Step.QUEUED, hook=operation.hook, hook_step=None)
    yield replace(local, kind=OperationKind.CONTINUE, step=Step.PENDING, hook=None, hook_step=None)
