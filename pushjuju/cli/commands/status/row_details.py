"""The pages about a row of `status --watch`: explain, log, hooks."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from pushjuju.cli.commands.hook import run_table
from pushjuju.cli.commands.status import explain
from pushjuju.cli.terminal import log_lines
from pushjuju.cli.work import session
from pushjuju.core.errors import PushjujuError
from pushjuju.portable.names import is_unit
from pushjuju.services.entities.basis import logs
from pushjuju.services.views import hook_runs
from pushjuju.services.views.listings import log_selection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pushjuju.cli.syntax.command import Cli
    from pushjuju.services.entities.model.sessions import Session

_LINES, _RUNS = 200, 100


def text(cli: Cli, model: str, page: str, name: str, *, utc: bool) -> str:
    """Return a page about an entity: what went wrong, when the entity is gone."""
    opened = session.open_model(cli, model)
    try:
        if page == "explain":
            return explain.table(cli, opened, (name,), utc=utc)
        return _log(cli, opened, name, utc=utc) if page == "log" else _hooks(cli, opened, name, utc=utc)
    except PushjujuError as error:
        return f"{error}\n"


def _units(opened: Session, name: str) -> Sequence[str]:
    """Return the units that a name stands for: the unit, or those of an application or machine."""
    if is_unit(name):
        return (name,)
    machines = hook_runs.machines_of_units(opened.ctx, opened.uuid)
    return [unit for unit, machine in machines.items() if machine == name or unit.startswith(f"{name}/")]


def _log(cli: Cli, opened: Session, name: str, *, utc: bool) -> str:
    units = _units(opened, name)
    selection = log_selection.Selection(include=(name, *units))
    shown, among = selection.predicate(), logs.Among(entities=selection.tags())
    newest = filter(shown, logs.newest_first(opened.ctx.store, opened.uuid, among))
    look = log_lines.Look(utc=utc, colour=cli.output.colour)
    found = [log_lines.line(record, look) for record in islice(newest, _LINES)]
    return "\n".join(found) or "no lines in the log"


def _hooks(cli: Cli, opened: Session, name: str, *, utc: bool) -> str:
    units = _units(opened, name)
    wanted = hook_runs.Wanted(units=units, most=_RUNS)
    runs = hook_runs.history(opened.ctx, opened.uuid, wanted) if units else []
    look = run_table.Look(utc=utc, colour=cli.output.colour)
    return run_table.runs_table(reversed(runs), look) if runs else "no hook runs"
