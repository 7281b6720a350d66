"""The documents of hook runs, as `hooks`, `timeline` and the pages of the dashboard show them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pushjuju.portable.gotypes import Moment, Struct

if TYPE_CHECKING:
    from pushjuju.services.views.hook_runs import HookRun


def struct(**fields: Any) -> Struct:
    """Return an ordered map without empty values; `_` in names becomes `-` in keys."""
    kept = ((key.replace("_", "-"), value) for key, value in fields.items())
    return Struct((key, value) for key, value in kept if value not in (None, "", [], {}, ()))


def moment_or_none(moment: datetime | None) -> Moment | None:
    """Return a moment as `2025-03-01T09:12:44Z`, or None when there is no moment."""
    return Moment(f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}") if moment is not None else None


def of_run(run: HookRun) -> Struct:
    """Return a run as a document."""
    document = struct(
        unit=run.unit,
        hook=run.hook,
        kind=run.kind,
        result=run.result,
        signal=run.signal,
        message=run.message,
        started=moment_or_none(run.started),
        committed=moment_or_none(run.committed),
        changes=dict(run.changes),
        operation=run.operation,
        cause=run.cause,
    )
    if run.exit_status is not None:
        document["exit-status"] = run.exit_status
    if run.took_s is not None:
        document["seconds"] = run.took_s
    return document
