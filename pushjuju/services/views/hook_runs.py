"""The history of hook runs, read from the recorded operations: the data of `hooks`.

Rows are used as the database returns them, because importing the records would double the command's time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime, timedelta
from typing import Any

from pushjuju.core.clock import from_iso, to_iso
from pushjuju.core.errors import not_found
from pushjuju.core.values import dataclass
from pushjuju.portable.natural import natural_key
from pushjuju.services.entities.basis.context import Context
from pushjuju.store.engine import Row
from pushjuju.store.tx import ModelTx

_FOREVER = 2**62
_ROUTINE, _NEWEST, _MOST, _COUNTED = "update-status", 500, 5000, 20000
_AROUND = timedelta(seconds=30)
_KINDS = {"run-hook": "hook", "install": "charm", "upgrade": "charm", "run-action": "action"}
_UNDER_WAY = {"prepared": "running", "planned": "planned"}
_RESULTS = {"terminated": "killed", "gone": "forgotten"}


@dataclass(frozen=True, slots=True, kw_only=True)
class HookRun:
    """One run of a hook, or another operation of a unit."""

    unit: str
    hook: str
    kind: str  # `hook`, `charm` for bringing a charm to the machine, `action` or `commands`
    operation: str  # the id of the operation, which `replay` takes
    # `ok`, `missing` (the charm does not have the hook), `failed`, `killed`, `running`, or `planned` when it
    # was sent ahead and the operation before it is not committed yet
    result: str
    # the exit status of the program; None when no program ran, or a signal ended it
    exit_status: int | None = None
    signal: int | None = None
    message: str = ""
    started: datetime  # the time by the machine's clock, limited to the time between preparation and commit
    committed: datetime | None = None
    # seconds on the machine; None while it runs, or when the machine did not report the times
    took_s: float | None = None
    # what the hook changed: `relations`, `ports`, `state`, `storage`, `secrets`, `status`
    changes: Mapping[str, Any] = field(default_factory=dict)
    cause: str = ""  # the request that the run followed, as lines of the audit log name the request; or empty


@dataclass(frozen=True, slots=True, kw_only=True)
class Hour:
    """How many runs ended in an hour, or in several from its beginning, and how many of these failed."""

    begin: datetime
    runs: int
    failed: int
    hours: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """A contact with a machine that has ended; `result` is ok, failed or unreachable."""

    machine: str
    begun: datetime
    ended: datetime
    result: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The conditions for runs."""

    units: Sequence[str] = ()  # names of units; empty for all units of the model
    hooks: Sequence[str] = ()  # names of hooks; empty for all hooks
    failed: bool = False
    since: datetime | None = None  # the earliest time of preparation, or None
    until: datetime | None = None  # the latest time of preparation, or None
    most: int = 0  # the number of newest runs; 0 for all


def newest(ctx: Context, model: str, most: int, but: str = "") -> list[HookRun]:
    """Return the newest runs, oldest first, except those of a hook; read by index, however many are kept."""
    with ctx.read(model) as tx:
        rows = tx.rows("operations_under_way") + tx.rows("operations_newest", most=most, but=but)
    found = [_run(row) for row in rows if row["unit"] and row["name"] != but]
    found.sort(key=_order)
    return found[-most:]


def of_application(ctx: Context, model: str, application: str, most: int) -> list[HookRun]:
    """Return the newest runs of an application's units, oldest first."""
    with ctx.read(model) as tx:
        rows = tx.rows("operations_of_application", application=application, most=most)
    return sorted(map(_run, rows), key=_order)


def of_timeline(
    ctx: Context,
    model: str,
    units: Sequence[str],
    since: datetime | None,
    until: datetime | None = None,
    *,
    routine: bool,
    cause: str = "",
) -> list[HookRun]:
    """Return the runs that a timeline shows: the newest 500, or at most 5,000 since a time or of a request.

    Args:
        units: Names of units; empty for all units of the model.
        routine: True to show update-status, too.
        cause: Shows only the runs that followed this request.
    """
    if cause:
        found = of_request(ctx, model, cause)
        return [run for run in found if (not units or run.unit in units) and _began(run, since, until)]
    if not (units or since or until):
        return newest(ctx, model, _NEWEST, but="" if routine else _ROUTINE)
    found = history(ctx, model, Wanted(units=units, since=since, until=until))
    shown = [run for run in found if routine or run.hook != _ROUTINE]
    return shown[-(_MOST if since else _NEWEST) :]


def _began(run: HookRun, since: datetime | None, until: datetime | None) -> bool:
    return (since is None or run.started >= since) and (until is None or run.started <= until)


def of_request(ctx: Context, model: str, cause: str) -> list[HookRun]:
    """Return the newest 5,000 runs that followed a request, oldest first."""
    with ctx.read(model) as tx:
        rows = tx.rows("operations_of_cause", cause=cause, most=_MOST)
    return sorted(map(_run, rows), key=_order)


def contacts(ctx: Context, model: str, runs: Sequence[HookRun]) -> list[Contact]:
    """Return the newest 5,000 contacts with machines around the time of some runs."""
    if not runs:
        return []
    since = min(run.started for run in runs) - _AROUND
    until = max(run.committed or ctx.clock.now() for run in runs) + _AROUND
    with ctx.read(model) as tx:
        rows = tx.rows("contacts_between", since=to_iso(since), until=to_iso(until), most=_MOST)
    return [
        Contact(
            machine=row["machine"],
            begun=from_iso(row["begun"]),
            ended=from_iso(row["ended"]),
            result=row["result"],
        )
        for row in rows
    ]


def counts_by_request(ctx: Context, model: str, since: str) -> dict[str, tuple[int, int]]:
    """Return the number of runs, and of failed runs, that followed each request from `since` on."""
    with ctx.read(model) as tx:
        rows = tx.rows("operations_by_cause", since=since)
    return {row["cause"]: (row["runs"], row["failed"]) for row in rows}


def earlier(ctx: Context, model: str, before: datetime, *, routine: bool) -> list[Hour]:
    """Return how many of the newest 20,000 runs before a time ended in which hour, the oldest hour first."""
    with ctx.read(model) as tx:
        rows = tx.rows(
            "operations_by_hour", before=to_iso(before), but="" if routine else _ROUTINE, most=_COUNTED
        )
    return [
        Hour(begin=datetime.fromisoformat(f"{row['hour']}:00+00:00"), runs=row["runs"], failed=row["failed"])
        for row in rows
    ]


def history(ctx: Context, model: str, wanted: Wanted) -> list[HookRun]:
    """Return the runs that meet the conditions, oldest first."""
    with ctx.read(model) as tx:
        if wanted.units:
            for name in wanted.units:
                if tx.row("unit_get", name=name) is None:
                    raise not_found("unit", name)
            names = list(wanted.units)
        else:
            names = [row["name"] for row in tx.rows("unit_list")]
        asked = [
            (name, hook) for name in dict.fromkeys(names) for hook in dict.fromkeys(wanted.hooks or [""])
        ]
        found = [run for name, hook in asked for run in _of_unit(tx, name, hook, wanted)]
    found.sort(key=_order)
    return found[-wanted.most :] if wanted.most else found


def machines_of_units(ctx: Context, model: str) -> dict[str, str]:
    """Return unit -> machine, for the units that have one."""
    with ctx.read(model) as tx:
        return {row["name"]: row["machine"] for row in tx.rows("unit_list") if row["machine"]}


def _of_unit(tx: ModelTx, name: str, hook: str, wanted: Wanted) -> list[HookRun]:
    rows = tx.rows(
        "operation_history",
        unit=name,
        since=to_iso(wanted.since) if wanted.since else "",
        until=to_iso(wanted.until) if wanted.until else "",
        name=hook,
        failed=wanted.failed,
        most=wanted.most or _FOREVER,
    )
    return [_run(row) for row in rows]


def _run(row: Row) -> HookRun:
    result, begun = json.loads(row["result"]), from_iso(row["prepared"])
    over = from_iso(row["committed"]) if row["committed"] else None
    operation = json.loads(row["document"]).get("operation", {}).get("name", "")
    return HookRun(
        unit=row["unit"],
        hook=row["name"],
        kind=_KINDS.get(operation, "commands"),
        operation=row["id"],
        result=_RESULTS.get(row["outcome"], row["outcome"] or "ok")
        if over
        else _UNDER_WAY.get(row["state"], "running"),
        exit_status=result.get("exit"),
        signal=result.get("signal"),
        message=str(result.get("message") or ""),
        started=_within(result.get("started"), begun, over),
        committed=over,
        took_s=_seconds(result, over - begun if over else None),
        changes=result.get("changes", {}),
        cause=row["cause"],
    )


def _order(run: HookRun) -> tuple[object, ...]:
    return run.started, natural_key(run.unit), run.operation


def _within(seconds: float | None, begun: datetime, over: datetime | None) -> datetime:
    """Return when a hook began; a machine's clock is trusted only between preparation and commit."""
    if seconds is None or over is None:
        return begun
    return min(max(datetime.fromtimestamp(seconds, UTC), begun), over)


def _seconds(result: Mapping[str, Any], longest: timedelta | None) -> float | None:
    """Return how many seconds a hook ran, at most until its commit, as a clock may have jumped; or None."""
    started, ended = result.get("started"), result.get("ended")
    if started is None or ended is None:
        return None
    took: float = max(ended - started, 0.0)
    if longest is not None and longest > timedelta(0):
        took = min(took, longest.total_seconds())
    return round(took, 3)
