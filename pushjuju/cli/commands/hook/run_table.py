"""Formats hook runs for `hooks`. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pushjuju.cli.terminal.output import render
from pushjuju.cli.terminal.paint import CYAN, GRAY, GREEN, RED, YELLOW, paint
from pushjuju.cli.terminal.table import TabWriter, message
from pushjuju.cli.terminal.times import since_text
from pushjuju.core.values import dataclass
from pushjuju.services.views.listings.run_documents import of_run

if TYPE_CHECKING:
    from pushjuju.services.views.hook_runs import HookRun

_SHORT_ID = 8

_COLOURS = {"ok": GREEN, "missing": GRAY, "failed": RED, "killed": RED, "running": YELLOW, "planned": GRAY}


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How to format runs."""

    utc: bool = False
    colour: bool = False


def run_text(run: HookRun, form: str, look: Look) -> str:
    """Return a run that has ended, in the form of `--follow`."""
    if form == "tabular":
        return "  ".join(str(cell) for cell in _cells(run, look) if cell) + "\n"
    document = of_run(run)
    return render(form, document if form == "json" else [document])


def runs_table(runs: Iterable[HookRun], look: Look) -> str:
    table = TabWriter("Started", "Unit", "Hook", "Result", "Took", "Operation", "Changes", colour=look.colour)
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
    """Return a duration as `35ms`, `1.2s` or `3m20s`; empty when it is unknown."""
    if seconds is None:
        return ""
    if seconds < 1:
        return f"{seconds * 1000:.0f}ms"
    if seconds < 60:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m{rest:02}s" if minutes < 60 else f"{minutes // 60}h{minutes % 60:02}m"


def changes_text(changes: Mapping[str, Any]) -> str:
    """Return the changes of a run in one line."""
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
