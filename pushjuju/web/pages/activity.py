"""The pages of what happened: hooks on an axis of time, one run, and the log."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from typing import Any

from pushjuju.core.clock import to_iso
from pushjuju.core.errors import NotFound, PushjujuError
from pushjuju.services.entities.basis import logs
from pushjuju.services.pictures import svg, timeline_svg
from pushjuju.services.pictures import timeline as pictures
from pushjuju.services.views import decisions, hook_runs
from pushjuju.services.views.listings import audit_lines, log_selection, run_documents
from pushjuju.store.rows.records import LogRecord
from pushjuju.web.pages.visit import Content, Visit
from pushjuju.workers import deciding

_ROWS, _LINES = 500, 500
_SPANS = {
    "10m": timedelta(minutes=10),
    "1h": timedelta(hours=1),
    "6h": timedelta(hours=6),
    "24h": timedelta(days=1),
    "168h": timedelta(days=7),
}
_READ = 100_000  # lines of the log that a search reads at most
_FILTERS = {"entity": "include", "but": "exclude", "module": "include_module"}  # field -> of a Selection
_DIGITS = 18  # of the number of a line


def timeline(visit: Visit) -> Content:
    """Return the page of what ran when, newest first in the table."""
    routine, units = visit.query.get("all") == "yes", visit.query.get("units", "").split()
    span = _SPANS.get(visit.query.get("since", ""))
    window = _window(visit)
    since, until = window or (visit.now - span if span else None, None)
    cause = visit.query.get("cause", "")
    runs = hook_runs.of_timeline(
        visit.ctx, visit.model.uuid, units, since, until, routine=routine, cause=cause
    )
    machines = hook_runs.machines_of_units(visit.ctx, visit.model.uuid)
    picture = ""
    if runs:
        contacts = hook_runs.contacts(visit.ctx, visit.model.uuid, runs)
        found = pictures.of_runs(runs, machines, visit.now, contacts, grows=True)
        picture = svg.of_page(timeline_svg.draw(visit.model.name, found, visit.pages.entity))
    form = {"units": " ".join(units), "since": visit.query["since"] if span else "", "routine": routine}
    form |= dict(
        zip(("begin", "end"), (_utc(at)[:-1].replace("T", " ") for at in window or ()), strict=False)
    )
    words = _words(units, cause, window, str(form["since"]), routine=routine)
    values: dict[str, Any] = {
        "picture": picture,
        "runs": runs[: -_ROWS - 1 : -1],
        "form": form,
        "spans": _SPANS,
    }
    values |= {"window": window, "heat": "" if units or cause else _heat(visit, runs, routine=routine)}
    values |= {"cause": cause, "request": _request(visit, cause)}
    return Content(
        title="Timeline",
        command=visit.command(" ".join(words)),
        values=values,
        document=lambda: [run_documents.of_run(run) for run in runs],
    )


def _words(
    units: Sequence[str], cause: str, window: tuple[datetime, datetime] | None, span: str, *, routine: bool
) -> list[str]:
    """Return the words of the command that shows the same runs."""
    words = ["timeline", *map(shlex.quote, units), *(["--all"] if routine else [])]
    words += ["--cause", shlex.quote(cause)] if cause else []
    if window:
        return [*words, f"--since {_utc(window[0])} --until {_utc(window[1])}"]
    return [*words, "--since", span] if span else words


def _request(visit: Visit, cause: str) -> Mapping[str, Any] | None:
    """Return the line of a request in the audit log, when the user may see the line on the page History."""
    found = audit_lines.request(visit.ctx, visit.model.uuid, cause) if cause else None
    return found if found and (visit.may("admin") or found["user"] == visit.ctx.user) else None


def _window(visit: Visit) -> tuple[datetime, datetime] | None:
    """Return the times `from` and `to` of the address, or None when they are no times, or not there.

    Without `to`, the window ends at the time of the page.
    """
    try:
        begin = datetime.fromisoformat(visit.query["from"])
        end = datetime.fromisoformat(visit.query["to"]) if visit.query.get("to") else visit.now
        moments = (at.replace(tzinfo=at.tzinfo or UTC).astimezone(UTC) for at in (begin, end))
        return next(moments), next(moments)
    except (KeyError, ValueError, OverflowError):
        return None


def _utc(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _heat(visit: Visit, runs: Sequence[hook_runs.HookRun], *, routine: bool) -> str:
    """Return the heat line of the runs before those of the page; empty when there are none."""
    before = min((run.started for run in runs), default=visit.now)
    counted = hook_runs.earlier(visit.ctx, visit.model.uuid, before, routine=routine)
    if not (found := pictures.by_hours(counted)):
        return ""
    kept = {"all": "yes"} if routine else {}

    def address(hour: hook_runs.Hour) -> str:
        end = hour.begin + timedelta(hours=hour.hours)
        return visit.pages.page("timeline", **{"from": _utc(hour.begin), "to": _utc(end)}, **kept)

    return timeline_svg.heat(found, address)


def run(visit: Visit) -> Content:
    """Return the page of one run: how it ended, what it changed, and why it ran."""
    with visit.ctx.read(visit.model.uuid) as tx:
        operation = decisions.operation_by_id(tx, visit.path["id"])
    wanted = hook_runs.Wanted(units=(operation.unit,))
    of_unit = hook_runs.history(visit.ctx, visit.model.uuid, wanted)
    found = next((item for item in of_unit if item.operation == operation.id), None)
    if found is None:
        raise NotFound(f'operation "{operation.id}" not found')
    decided, lines = _decided(visit, operation.id), _lines_of(visit, found)

    def document() -> Mapping[str, Any]:
        replayed = deciding.document(*decided) if decided else {}
        return {**replayed, "run": run_documents.of_run(found), "log": list(map(asdict, lines))}

    return Content(
        title=f"{found.hook} of {found.unit}",
        command=visit.command(f"replay {found.operation[:8]}"),
        values={
            "run": found,
            "replayed": decided and decided[1],
            "lines": lines,
            "request": _request(visit, found.cause),
        },
        crumbs=((found.unit, visit.pages.entity("unit", found.unit)),),
        document=document,
    )


def _lines_of(visit: Visit, found: hook_runs.HookRun) -> list[LogRecord]:
    """Return the lines that a unit logged while a hook ran, oldest first, at most 500."""
    begun, over = to_iso(found.started), to_iso(found.committed or visit.now)
    among = logs.Among(entities=log_selection.Selection(include=(found.unit,)).tags())
    newest = islice(logs.newest_first(visit.ctx.store, visit.model.uuid, among), _READ)
    since = takewhile(lambda line: line.time >= begun, newest)
    return list(islice((line for line in since if line.time <= over), _LINES))[::-1]


def _decided(visit: Visit, operation: str) -> tuple[decisions.Decided, deciding.Replayed] | None:
    """Return the decision that led to a run, and the decision made again; None when it was not kept."""
    try:
        kept = decisions.find(visit.ctx, visit.model.uuid, operation)
        return kept, deciding.replayed(kept.record)
    except PushjujuError:
        return None


def log(visit: Visit) -> Content:
    """Return the page of the log: the newest lines that match a form, or those before a line."""
    form = {key: visit.query.get(key, "").strip() for key in ("level", "text", *_FILTERS)}
    form["level"] = form["level"] if form["level"] in log_selection.CHOICES else ""
    filters = {name: form[key].split() for key, name in _FILTERS.items()}
    selection = log_selection.Selection(level=form["level"], **filters)
    before = visit.query.get("before", "")
    last = int(before) if before.isdecimal() and len(before) < _DIGITS else logs.LAST
    found = _matching(visit, selection, form["text"], last)
    first = str(found[0].id) if len(found) == _LINES else ""
    kept = {key: text for key, text in form.items() if text}
    values: dict[str, Any] = {
        "lines": found,
        "form": form,
        "levels": log_selection.CHOICES,
        "earlier": last != logs.LAST,
        "older": visit.pages.page("log", **kept, before=first) if first else "",
        "newest": visit.pages.page("log", **kept),
    }
    line = visit.command(" ".join(["debug-log", "--limit", str(_LINES), *_flags(form["level"], filters)]))
    return Content(title="Log", command=line, values=values, document=lambda: list(map(asdict, found)))


def _matching(visit: Visit, selection: log_selection.Selection, text: str, before: int) -> list[LogRecord]:
    """Return the newest lines before a line that a form asks for, oldest first."""
    among = logs.Among(levels=selection.levels(), entities=selection.tags())
    shown = selection.predicate()
    newest = logs.newest_first(visit.ctx.store, visit.model.uuid, among, before=before)
    found = (line for line in islice(newest, _READ) if shown(line) and text.lower() in line.message.lower())
    return list(islice(found, _LINES))[::-1]


def _flags(level: str, filters: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the flags of `debug-log` that choose the same lines."""
    words = [f"--level {level}"] if level else []
    return words + [
        f"--{name.replace('_', '-')} {shlex.quote(word)}"
        for name, chosen in filters.items()
        for word in chosen
    ]
