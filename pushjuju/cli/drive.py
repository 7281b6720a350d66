"""After a change: work until all is at rest, or leave it to a background process.

Layer: cli. The work itself is the workers'; here it is started, shown and judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pushjuju.cli import session
from pushjuju.cli.progress import progress, wants_output
from pushjuju.core.errors import HookFailed
from pushjuju.core.life import Life
from pushjuju.services.context import Context
from pushjuju.state.records import Machine

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
    first, *others = problems
    word, _, rest = first.partition(" ")
    unit = rest.partition(":")[0] if word == "unit" else ""
    detail = [*others, *(_last_lines(ctx, model, unit) if unit else ())]
    hint = (
        f"{cli.program} debug-log --replay --include {unit}    shows its log\n"
        f"{cli.program} resolved {unit}    tries the hook again"
        if unit
        else _machine_hint(cli, ctx, model, rest.partition(":")[0] if word == "machine" else "")
    )
    return HookFailed(first, detail="\n".join(detail), hint=hint)


def _machine_hint(cli: Cli, ctx: Context, model: str, machine: str) -> str:
    """Return what a person can do for a machine that could not be started or reached."""
    from pushjuju.services import machines, models, validity

    with ctx.store.read() as tx:
        found = models.get(tx, model)
        suspended = bool(validity.reason(tx, found))
        given_up = machine in machines.not_started(tx, model)
        going = tx.find(Machine, "machine_get", model=model, id=machine)
        inside = [item.id for item in machines.containers_on(tx, model, machine)]
    if suspended:
        cloud = f"{found.cloud} {found.credential}"
        return f"{cli.program} update-credential {cloud}    lets the machines be tried again"
    if given_up:
        return f"{cli.program} retry-provisioning {machine}    tries it again"
    if going is not None and going.life != Life.ALIVE:
        stuck = " ".join(inside or [machine])
        return (
            f"{cli.program} explain {stuck}    tells what it waits for, and who works on it\n"
            f"{cli.program} remove-machine {stuck} --force    puts it out of the model, whatever is left"
        )
    return "\n".join(_again(cli, ctx, model, machine))


def _again(cli: Cli, ctx: Context, model: str, machine: str) -> list[str]:
    """Return how work that failed goes on: when a process tries it again, or that somebody must."""
    from pushjuju.cli.formatters.times import clock_text
    from pushjuju.services import machine_work
    from pushjuju.state.work import SqliteWorkQueue, machine_key

    why = " ".join(word for word in ("explain", machine) if word)
    waiting = machine_work.waiting_process(ctx)
    if not waiting:
        return [
            f"{cli.program} update-status    tries it again; nobody is working on it",
            f"{cli.program} {why}    tells what is known",
        ]
    items = SqliteWorkQueue(ctx.store, "").items(machine_key(model, machine)) if machine else []
    due = next((item.due for item in items if item.due and item.key == machine_key(model, machine)), None)
    at = f" at {clock_text(due, utc=False)}" if due else ""
    return [f"{cli.program} {why}    tells what is known; process {waiting} tries it again{at}"]


def _last_lines(ctx: Context, model: str, unit: str) -> list[str]:
    """Return the newest lines of a unit's log, oldest first."""
    from itertools import islice

    from pushjuju.cli.formatters.loglines import Look, Selection, line
    from pushjuju.services import logs

    selection = Selection(include=(unit,), level="INFO")
    among = logs.Among(levels=selection.levels(), entities=selection.tags())
    newest = islice(logs.newest_first(ctx.store, model, among), _LINES)
    return [line(record, Look()) for record in reversed(list(newest))]
