"""`show-relation` and `hooks` as documents and as text. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from pushjuju.cli.terminal.output import render
from pushjuju.cli.terminal.paint import CYAN, GRAY, GREEN, RED, YELLOW, paint
from pushjuju.cli.terminal.table import heads, message
from pushjuju.cli.terminal.tabwriter import TabWriter
from pushjuju.cli.terminal.times import rfc3339, since_text
from pushjuju.portable.gotypes import Moment, Struct

if TYPE_CHECKING:
    from pushjuju.services.views.hook_runs import HookRun
    from pushjuju.services.views.relation_view import Member, RelationSide, RelationView

_SHORT_ID = 8
_WIDEST = 48  # of a value in the table of data bags
_COLOURS = {"ok": GREEN, "missing": GRAY, "failed": RED, "killed": RED, "running": YELLOW, "planned": GRAY}


def struct(**fields: Any) -> Struct:
    """Return an ordered map without what is empty; `_` in names is `-` in keys."""
    kept = ((key.replace("_", "-"), value) for key, value in fields.items())
    return Struct((key, value) for key, value in kept if value not in (None, "", [], {}, ()))


def _time(moment: datetime | None) -> Moment | None:
    return Moment(rfc3339(moment)) if moment is not None else None


# --- show-relation ----------------------------------------------------------------------------------------


def relation_document(view: RelationView) -> Struct:
    """Return a relation as a document."""
    status = view.status
    told = (
        struct(current=status.status, message=status.message, since=_time(status.since)) if status else None
    )
    return struct(
        relation_id=view.id,
        key=view.key,
        scope=view.scope,
        life=view.life,
        suspended=view.suspended or None,
        relation_status=told,
        endpoints=[_side(side) for side in view.sides],
    )


def _side(side: RelationSide) -> Struct:
    return Struct(
        {
            **struct(
                application=side.application,
                endpoint=side.endpoint,
                role=side.role,
                interface=side.interface,
                remote=side.remote or None,
            ),
            "application-data": dict(side.data),
            "units": {unit.name: _member(unit) for unit in side.units},
        }
    )


def _member(unit: Member) -> Struct:
    return Struct(
        {
            "in-scope": unit.in_scope,
            **struct(leader=unit.leader or None, departing=unit.departing or None),
            "data": dict(unit.data),
        }
    )


def relation_table(document: Mapping[str, Any], *, colour: bool = False) -> str:
    """Return a relation as text: what it is, then the data of both sides beside each other."""
    status = document.get("relation-status", {})
    words = [document["scope"], document["life"], *(["suspended"] if document.get("suspended") else [])]
    head = TabWriter(colour=colour)
    head.row("Relation", f"{document['relation-id']}  {document['key']}")
    head.row("State", ", ".join(words))
    if status:
        head.row("Status", " ".join(filter(None, (status["current"], status.get("message", "")))))
    left, *others = document["endpoints"]
    return head.text() + "\n" + _beside(left, others[0] if others else None, colour=colour)


def _beside(left: Mapping[str, Any], right: Mapping[str, Any] | None, *, colour: bool) -> str:
    """Return two columns: each side's head, application data, units with their data."""
    columns = [_lines(left), _lines(right) if right else []]
    table = TabWriter(colour=colour)
    for one, other in zip_longest(*columns, fillvalue=""):
        table.row(one, other)
    return table.text()


def _lines(side: Mapping[str, Any]) -> list[str]:
    remote = ", in another model" if side.get("remote") else ""
    lines = [f"{side['application']}:{side['endpoint']}", f"  {side['role']} of {side['interface']}{remote}"]
    lines += ["  application", *_data(side["application-data"])]
    for name, unit in side["units"].items():
        words = [word for word in ("leader", "departing") if unit.get(word)]
        words += [] if unit["in-scope"] else ["left"]
        lines.append(f"  {name}{' (' + ', '.join(words) + ')' if words else ''}")
        lines += _data(unit["data"])
    return lines


def _data(data: Mapping[str, str]) -> list[str]:
    if not data:
        return ["    (no data)"]
    lines = []
    for key in sorted(data):
        value = data[key].replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")
        lines.append(f"    {key}: {value if len(value) <= _WIDEST else value[: _WIDEST - 3] + '...'}")
    return lines


# --- hooks ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How runs are shown."""

    utc: bool = False
    colour: bool = False


def run_document(run: HookRun) -> Struct:
    """Return a run as a document."""
    document = struct(
        unit=run.unit,
        hook=run.hook,
        kind=run.kind,
        result=run.result,
        signal=run.signal,
        message=run.message,
        started=_time(run.started),
        committed=_time(run.committed),
        changes=dict(run.changes),
        operation=run.operation,
    )
    if run.exit_status is not None:
        document["exit-status"] = run.exit_status
    if run.took_s is not None:
        document["seconds"] = run.took_s
    return document


def run_text(run: HookRun, form: str, look: Look) -> str:
    """Return one run that has ended, as `--follow` shows it."""
    if form == "tabular":
        return "  ".join(str(cell) for cell in _cells(run, look) if cell) + "\n"
    document = run_document(run)
    return render(form, document if form == "json" else [document])


def runs_table(runs: Iterable[HookRun], look: Look) -> str:
    """Return runs as a table."""
    table = TabWriter(colour=look.colour)
    table.row(*heads("Started", "Unit", "Hook", "Result", "Took", "Operation", "Changes"))
    for run in runs:
        table.row(*_cells(run, look))
    return table.text()


def _cells(run: HookRun, look: Look) -> tuple[str, ...]:
    words = [run.result]
    if run.result == "failed" and run.exit_status is not None:
        words.append(str(run.exit_status))
    hook = run.hook if run.kind in ("hook", "charm") else f"{run.kind} {run.hook}"
    told = run.message or changes_text(run.changes)
    return (
        since_text(run.started, utc=look.utc),
        run.unit,
        hook,
        paint(" ".join(words), _COLOURS.get(run.result, "")),
        took_text(run.took_s),
        paint(run.operation[:_SHORT_ID], CYAN),
        message(told.replace("\n", " ")),
    )


def took_text(seconds: float | None) -> str:
    """Return a duration: `35ms`, `1.2s`, `3m20s`; empty when it is not known."""
    if seconds is None:
        return ""
    if seconds < 1:
        return f"{seconds * 1000:.0f}ms"
    if seconds < 60:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m{rest:02}s" if minutes < 60 else f"{minutes // 60}h{minutes % 60:02}m"


def changes_text(changes: Mapping[str, Any]) -> str:
    """Return what a run changed, in one line."""
    words = []
    for number, sides in changes.get("relations", {}).items():
        keys = [*(f"{key} (app)" for key in sides.get("app", ())), *sides.get("unit", ())]
        words.append(f"relation {number}: {', '.join(keys)}")
    ports = changes.get("ports", {})
    words += [f"{verb} {', '.join(ports[verb])}" for verb in ("open", "close") if ports.get(verb)]
    if changes.get("state"):
        words.append(f"state {', '.join(changes['state'])}")
    words += [f"storage {name}+{count}" for name, count in changes.get("storage", {}).items()]
    words += [f"{count} secret {verb}" for verb, count in changes.get("secrets", {}).items()]
    if changes.get("status"):
        words.append(f"status {changes['status'][-1]}")
    return "; ".join(words)
