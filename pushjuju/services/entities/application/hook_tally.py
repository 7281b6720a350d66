"""Counts hooks for metrics: how many ran with which result, and how long they took."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pushjuju.services.entities.basis.tally import bound_of

if TYPE_CHECKING:
    from pushjuju.store.rows.records import Operation
    from pushjuju.store.tx import Tx

_RESULTS = {"ok": "ok", "missing": "missing", "terminated": "killed"}


def count(tx: Tx, operation: Operation, outcome: str, result: Mapping[str, Any], now: datetime) -> None:
    """Count a committed operation when the operation is a hook.

    Args:
        outcome: The outcome of the operation, as its row has it.
        result: The result; its `started` and `ended`, in seconds of the machine's clock, may be missing.
    """
    document = operation.document.get("operation") or {}
    if document.get("name") != "run-hook":
        return
    most = max((now - operation.prepared).total_seconds(), 0.0)  # the machine's clock may have jumped
    seconds = min(max((result.get("ended") or 0) - (result.get("started") or 0), 0.0), most)
    milliseconds = int(seconds * 1000)
    tx.run(
        "hook_tally_add",
        model=operation.model,
        application=operation.unit.partition("/")[0],
        hook=document["hook"]["kind"],
        result=_RESULTS.get(outcome, "failed"),
        bound_ms=bound_of(milliseconds),
        milliseconds=milliseconds,
    )
