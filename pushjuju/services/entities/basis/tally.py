"""Counts for metrics what happens in a model, in the transaction in which it happens."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pushjuju.portable.jsontext import compact

if TYPE_CHECKING:
    from pushjuju.store.tx import ModelTx

BOUNDS_MS = (100, 500, 1_000, 5_000, 15_000, 60_000, 300_000, 1_800_000)
"""The upper bounds of the durations that are counted together."""

TASKS, CONTACTS, TRANSFER = "tasks", "contacts", "transfer_bytes"


def bound_of(milliseconds: int) -> int:
    """Return the bound under which a duration is counted; 0 for durations above all bounds."""
    place = bisect_left(BOUNDS_MS, milliseconds)
    return BOUNDS_MS[place] if place < len(BOUNDS_MS) else 0


def count(tx: ModelTx, metric: str, labels: tuple[str, ...], seconds: float | None = None) -> None:
    """Count one event.

    Args:
        labels: Few different values, without names of units or machines.
        seconds: How long the event took, for a histogram.
    """
    milliseconds = max(int((seconds or 0.0) * 1000), 0)
    bound = 0 if seconds is None else bound_of(milliseconds)
    _add(tx, metric, labels, bound_ms=bound, milliseconds=milliseconds)


def count_contact(tx: ModelTx, result: str, seconds: float, sent: int, received: int) -> None:
    """Count a contact with a machine, and the bytes to and from the machine."""
    count(tx, CONTACTS, (result,), seconds)
    for direction, size in (("sent", sent), ("received", received)):
        if size:
            _add(tx, TRANSFER, (direction,), number=size)


def _add(
    tx: ModelTx,
    metric: str,
    labels: tuple[str, ...],
    *,
    number: int = 1,
    bound_ms: int = 0,
    milliseconds: int = 0,
) -> None:
    tx.run(
        "tally_add", metric=metric, labels=compact(list(labels)), bound_ms=bound_ms, number=number,
        milliseconds=milliseconds,
    )  # fmt: skip


if TYPE_CHECKING:
    from pushjuju.store.rows.records import Operation
    from pushjuju.store.tx import Tx

_RESULTS = {"ok": "ok", "missing": "missing", "terminated": "killed"}


def seconds_of(result: Mapping[str, Any]) -> float:
    """Return how long an operation ran by its result, in seconds; 0.0 when the result does not say it."""
    return float(max((result.get("ended") or 0) - (result.get("started") or 0), 0))


def count_hook(tx: Tx, operation: Operation, outcome: str, result: Mapping[str, Any], now: datetime) -> None:
    """Count a committed operation when the operation is a hook.

    Args:
        outcome: The outcome of the operation, as its row has it.
        result: The result; its `started` and `ended`, in seconds of the machine's clock, may be missing.
    """
    document = operation.document.get("operation") or {}
    if document.get("name") != "run-hook":
        return
    most = max((now - operation.prepared).total_seconds(), 0.0)  # the machine's clock may have jumped
    milliseconds = int(min(seconds_of(result), most) * 1000)
    tx.run(
        "hook_tally_add",
        model=operation.model,
        application=operation.unit.partition("/")[0],
        hook=document["hook"]["kind"],
        result=_RESULTS.get(outcome, "failed"),
        bound_ms=bound_of(milliseconds),
        milliseconds=milliseconds,
    )
