"""After a change: work until all is at rest, or leave it to a background process.

Layer: cli. The work itself is the workers'; here it is started, shown and judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pushjuju.cli import session
from pushjuju.cli.progress import progress, wants_output
from pushjuju.core.errors import HookFailed
from pushjuju.services.context import Context

if TYPE_CHECKING:
    from pushjuju.cli.command import Cli

_LINES = 10  # of the failing unit's log
_NO_WAIT = ("0", "false", "no")


def waits(cli: Cli, *, no_wait: bool = False) -> bool:
    """Tell whether this call works in the foreground: not with `--no-wait` or `PUSHJUJU_WAIT=0`."""
    return not no_wait and not cli.rehearsal and cli.env.get("PUSHJUJU_WAIT", "").lower() not in _NO_WAIT


def settle(
    cli: Cli, ctx: Context, model: str, *, touched: Sequence[str] | None = None, no_wait: bool = False
) -> None:
    """Work a model until it is at rest, showing progress; or start a background process for it.

    Args:
        cli: The call.
        ctx: The controller.
        model: UUID.
        touched: Applications or units that this command is about: only their failures make it fail;
            None: all.
        no_wait: Record only.

    Raises:
        HookFailed: Something that was touched is in error.
    """
    if not waits(cli, no_wait=no_wait):
        background(cli, ctx)
        return
    import asyncio

    from pushjuju.workers.drive import Driver

    with progress(cli.console) as report:
        watched = wants_output(cli.console)
        since = session.first_claim(cli)
        driver = Driver(ctx, model, tell=report, warn=cli.console.warn, watched=watched, since=since)
        settled = asyncio.run(driver.settle())
    for problem in settled.elsewhere:
        cli.console.info(f"In error in another model: {problem}")
    judge(cli, ctx, model, settled.problems, touched)


def judge(
    cli: Cli, ctx: Context, model: str, problems: Sequence[str], touched: Sequence[str] | None = None
) -> None:
    """Tell what failed; the arguments are those of `settle`.

    Raises:
        HookFailed: Something that was touched is in error.
    """
    mine = [problem for problem in problems if _concerns(problem, touched)]
    for problem in problems:
        if problem not in mine:
            cli.console.info(f"Still in error: {problem}")
    if mine:
        raise _failure(cli, ctx, model, mine)


def background(cli: Cli, ctx: Context) -> None:
    """Start the background process of a controller unless it runs."""
    if cli.rehearsal:
        return
    from pushjuju.workers import background as process

    process.ensure(ctx.controller, str(ctx.datadir.root), cli.env)


def in_background(ctx: Context) -> bool:
    """Tell whether a background process works for a controller."""
    from pushjuju.workers import background as process

    return process.running(ctx.controller)


def _concerns(problem: str, touched: Sequence[str] | None) -> bool:
    """Tell whether a problem is of what was touched; machines always are."""
    word, _, rest = problem.partition(" ")
    if touched is None or word != "unit":
        return True
    unit = rest.partition(":")[0]
    return unit in touched or unit.partition("/")[0] in touched


def _failure(cli: Cli, ctx: Context, model: str, problems: Sequence[str]) -> HookFailed:
    from pushjuju.cli import hints

    first, *others = problems
    word, _, rest = first.partition(" ")
    unit = rest.partition(":")[0] if word == "unit" else ""
    detail = [*others, *(_last_lines(ctx, model, unit) if unit else ())]
    machine = rest.partition(":")[0] if word == "machine" else ""
    hint = hints.after_failure(cli, ctx, model, unit=unit, machine=machine)
    return HookFailed(first, detail="\n".join(detail), hint=hint)


def _last_lines(ctx: Context, model: str, unit: str) -> list[str]:
    """Return the newest lines of a unit's log, oldest first."""
    from itertools import islice

    from pushjuju.cli.formatters.loglines import Look, Selection, line
    from pushjuju.services import logs

    selection = Selection(include=(unit,), level="INFO")
    among = logs.Among(levels=selection.levels(), entities=selection.tags())
    newest = islice(logs.newest_first(ctx.store, model, among), _LINES)
    return [line(record, Look()) for record in reversed(list(newest))]
