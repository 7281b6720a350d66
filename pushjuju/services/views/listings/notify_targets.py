"""The documents of `notify list` and `notify events`."""

from __future__ import annotations

from typing import Any

from pushjuju.core.clock import to_iso
from pushjuju.services.entities.basis import notices
from pushjuju.services.entities.basis.context import Context
from pushjuju.store.rows.notify_records import TargetRow


def targets(ctx: Context) -> list[dict[str, Any]]:
    """Return each target by name: name, address (without secrets), body, events, models, waiting, state.

    `state` is `ok`, `failing`, or `partly` when receivers of the target refused the last event. A target that
    is not `ok` has `error`, a failing one also `next-attempt`.
    """
    with ctx.store.read() as tx:
        rows = tx.list(TargetRow, "notify_target_list")
        waiting = {row["target"]: row["waiting"] for row in tx.rows("notice_counts")}
    return [_document(row, waiting.get(row.name, 0)) for row in rows]


def _document(row: TargetRow, waiting: int) -> dict[str, Any]:
    document = {
        "name": row.name, "address": row.shown, "body": row.body, "events": list(row.events),
        "models": list(row.models), "waiting": waiting,
        "state": "failing" if row.attempts else "partly" if row.error else "ok",
    }  # fmt: skip
    if row.error:
        document["error"] = row.error
    if row.attempts and row.due is not None:
        document["next-attempt"] = to_iso(row.due)
    return document


def events() -> dict[str, str]:
    """Return each event -> when it comes."""
    return dict(notices.EVENTS)
