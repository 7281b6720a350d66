"""What failed while a model was worked: the part that a command is about is its error."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

from pushjuju.cli.terminal.log_lines import Look, Selection, line
from pushjuju.cli.work import hints
from pushjuju.cli.work.subjects import EVERY_MACHINE, storage_subject
from pushjuju.core.clock import to_iso
from pushjuju.core.errors import HookFailed
from pushjuju.core.names import is_machine
from pushjuju.core.storage import DISK_OF
from pushjuju.portable.names import is_application, is_unit
from pushjuju.services.entities.application import units
from pushjuju.services.entities.basis import logs
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.storage import storage_instances
from pushjuju.services.views import hook_runs
from pushjuju.store.rows.records import Unit

if TYPE_CHECKING:
    from pushjuju.cli.syntax.command import Cli

_LINES = 10  # of the failed run's log that are shown from its start, and as many from its end
_MOST_LINES = 1000  # that are looked at
_MACHINE = re.compile(r"(?:storage \S+ on )?machine ([^: ]+)")


def judge(
    cli: Cli, ctx: Context, model: str, problems: Sequence[str], touched: Sequence[str] | None = None
) -> None:
    """Report failures; the arguments are those of `settle`.

    Raises:
        HookFailed: Something that was touched is in error.
    """
    if touched is not None:
        touched = (*touched, *around_of(ctx, model, touched))
    mine = [problem for problem in problems if _concerns(problem, touched)]
    for problem in problems:
        if problem not in mine:
            cli.console.warn(f"elsewhere in the model: {problem}")
    if mine:
        raise _failure(cli, ctx, model, mine)


def around_of(ctx: Context, model: str, names: Sequence[str]) -> Sequence[str]:
    """Return what applications and units have: their storage, their machines and the hosts of those."""
    found: list[Unit] = []
    with ctx.store.read() as tx:
        for name in names:
            if is_unit(name):
                found += filter(None, [tx.find(Unit, "unit_get", model=model, name=name)])
            elif is_application(name):
                found += units.of_application(tx, model, name)
        stored = [
            item for unit in found if unit.storage for item in storage_instances.of_unit(tx, model, unit.name)
        ]
    homes = {unit.machine for unit in found if unit.machine is not None}
    parts = [home.split("/") for home in homes.union(filter(is_machine, names))]
    hosts = sorted({"/".join(words[:end]) for words in parts for end in range(1, len(words) + 1, 2)})
    return [*hosts, *(storage_subject(item.storage) for item in stored)]


def _concerns(problem: str, touched: Sequence[str] | None) -> bool:
    """Return True when a problem is of what was touched; those of the model as a whole always are."""
    word, _, rest = problem.removeprefix(DISK_OF).partition(" ")
    name = re.split("[: ]", rest, maxsplit=1)[0]
    if touched is None or word not in ("unit", "machine", "storage"):
        return True
    if word == "storage":
        return storage_subject(name) in touched
    if word == "machine" and EVERY_MACHINE[0] in touched:
        return True
    return name in touched or (word == "unit" and name.partition("/")[0] in touched)


def _failure(cli: Cli, ctx: Context, model: str, problems: Sequence[str]) -> HookFailed:
    first, *others = sorted(problems, key=lambda problem: not problem.startswith("unit "))
    word, _, rest = first.partition(" ")
    unit = re.split("[: ]", rest, maxsplit=1)[0] if word == "unit" else ""
    detail = [*(_own_lines(ctx, model, unit) if unit else ()), *others]
    machine = _MACHINE.match(first)
    hint = hints.after_failure(cli, ctx, model, unit=unit, machine=machine[1] if machine else "")
    return HookFailed(first, detail="\n".join(detail), hint=hint)


def _own_lines(ctx: Context, model: str, unit: str) -> list[str]:
    """Return the log of the run that failed last on a unit, from its start; of a long one both ends."""
    with ctx.store.read() as tx:
        if not units.in_error(tx, model, unit):
            return []  # it was set aside; a hook that failed before has nothing to do with that
    now = ctx.clock.now()  # what is later was told while the clock was ahead
    runs = hook_runs.history(ctx, model, hook_runs.Wanted(units=(unit,), failed=True, until=now, most=1))
    if not runs:
        return []
    start, end = to_iso(runs[0].started), to_iso(now)
    selection = Selection(include=(unit,), level="INFO")
    among = logs.Among(levels=selection.levels(), entities=selection.tags())
    newest = islice(logs.newest_first(ctx.store, model, among), _MOST_LINES)
    found = [line(record, Look()) for record in newest if start <= record.time <= end][::-1]
    if len(found) <= 2 * _LINES:
        return found
    left = f"... {len(found) - 2 * _LINES} lines more: pushjuju debug-log --include {unit} --replay"
    return [*found[:_LINES], left, *found[-_LINES:]]
