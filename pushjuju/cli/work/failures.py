"""Reports failed work: an error for what the command is about, a warning for other failures."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

from pushjuju.cli.terminal.log_lines import Look, line
from pushjuju.cli.work import hints
from pushjuju.core.clock import to_iso
from pushjuju.core.errors import HookFailed
from pushjuju.core.names import is_machine
from pushjuju.core.problems import Problem, Subject
from pushjuju.services.entities.basis import logs
from pushjuju.services.views import hook_runs, next_steps
from pushjuju.services.views.listings import log_selection

if TYPE_CHECKING:
    from pushjuju.cli.syntax.command import Cli
    from pushjuju.services.entities.basis.context import Context

EVERY_MACHINE = ("every machine",)
"""Stands for all machines of the model in `touched`, also in that of `drive.settle`."""
_LINES = 10  # lines shown from the start of the failed run's log, and as many from its end
_MOST_LINES = 1000  # newest log lines that are read


def judge(
    cli: Cli, ctx: Context, model: str, problems: Sequence[Problem], touched: Sequence[str] | None = None
) -> None:
    """Report failures: raise an error, or warn; the arguments are those of `settle`."""
    if touched is not None:
        touched = (*touched, *around_of(ctx, model, touched))
    mine = [problem for problem in problems if _concerns(problem.subject, touched)]
    for problem in problems:
        if problem not in mine:
            cli.console.warn(f"elsewhere in the model: {problem}")
    if mine:
        raise _failure(cli, ctx, model, mine)


def around_of(ctx: Context, model: str, names: Sequence[str]) -> Sequence[str]:
    """Return the storage and the machines of applications and units, with the hosts of containers."""
    homes, stored = next_steps.homes_and_storage(ctx, model, names)
    parts = [home.split("/") for home in homes.union(filter(is_machine, names))]
    hosts = sorted({"/".join(words[:end]) for words in parts for end in range(1, len(words) + 1, 2)})
    return [*hosts, *(str(Subject("storage", name)) for name in stored)]


def _concerns(subject: Subject | None, touched: Sequence[str] | None) -> bool:
    """Return True when a problem concerns an entity of `touched`; a problem without a subject always does."""
    if touched is None or subject is None:
        return True
    if subject.kind == "storage":
        return str(subject) in touched
    if subject.kind == "unit":
        return subject.name in touched or subject.name.partition("/")[0] in touched
    return subject.name in touched or EVERY_MACHINE[0] in touched


def _unit_of(problem: Problem) -> str:
    return problem.subject.name if problem.subject and problem.subject.kind == "unit" else ""


def _failure(cli: Cli, ctx: Context, model: str, problems: Sequence[Problem]) -> HookFailed:
    first, *others = sorted(problems, key=lambda problem: not _unit_of(problem))
    unit = _unit_of(first)
    detail = [*(_own_lines(ctx, model, unit) if unit else ()), *map(str, others)]
    hint = hints.after_failure(cli, ctx, model, unit=unit, machine=first.machine)
    return HookFailed(str(first), detail="\n".join(detail), hint=hint)


def _own_lines(ctx: Context, model: str, unit: str) -> list[str]:
    """Return the log of the unit's last failed run; of a long log, its start and its end."""
    if not next_steps.waits_for_resolved(ctx, model, unit):
        return []  # the unit was set aside for another reason than a failed hook
    now = ctx.clock.now()  # a later time was written while the clock was wrong
    runs = hook_runs.history(ctx, model, hook_runs.Wanted(units=(unit,), failed=True, until=now, most=1))
    if not runs:
        return []
    start, end = to_iso(runs[0].started), to_iso(now)
    selection = log_selection.Selection(include=(unit,), level="INFO")
    among = logs.Among(levels=selection.levels(), entities=selection.tags())
    newest = islice(logs.newest_first(ctx.store, model, among), _MOST_LINES)
    found = [line(record, Look()) for record in newest if start <= record.time <= end][::-1]
    if len(found) <= 2 * _LINES:
        return found
    left = f"... {len(found) - 2 * _LINES} lines more: pushjuju debug-log --include {unit} --replay"
    return [*found[:_LINES], left, *found[-_LINES:]]
