"""Works on a model in this process, for commands that wait for their work."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pushjuju.cli.terminal.progress import progress, wants_output
from pushjuju.cli.work import failures, session
from pushjuju.core.errors import Conflict, StoreAway
from pushjuju.services.entities.basis import context
from pushjuju.services.entities.model import pools
from pushjuju.services.requests.model import settled as settled_model
from pushjuju.workers import driver as drivers

if TYPE_CHECKING:
    from pushjuju.cli.syntax.command import Cli
    from pushjuju.core.problems import Problem
    from pushjuju.services.entities.model.sessions import Session
    from pushjuju.workers.events import Tell

_POLL_S = 0.05


def settle(
    cli: Cli,
    ctx: context.Context,
    model: str,
    *,
    touched: Sequence[str] | None,
    routine: bool,
    leave: Callable[[], None],
) -> None:
    """Work on a model until it is at rest and show progress; the arguments are those of `drive.settle`.

    Args:
        touched: Entities that the command is about.
        routine: True to wait for slow update-status hooks too.
        leave: Called when some work is left to the background.
    """
    cli.working = True
    around = failures.around_of(ctx, model, touched or ())  # the work may end some of these
    begun = time.monotonic()
    with progress(cli.console) as report:
        watched = wants_output(cli.console)
        since = session.first_claim(cli)
        driver = drivers.Driver(ctx, model, tell=report, warn=cli.console.warn, watched=watched, since=since)
        settled = asyncio.run(driver.settle(routine=routine))
        if settled_model.tell(ctx, model, time.monotonic() - begun, settled.problems):
            asyncio.run(drivers.Driver(ctx, model, tell=report, warn=cli.console.warn).settle())
    if settled.left:
        leave()
    for problem in settled.elsewhere:
        cli.console.warn(f"in another model: {problem}")
    failures.judge(cli, ctx, model, settled.problems, None if touched is None else (*touched, *around))


def unworked(ctx: context.Context, model: str) -> tuple[str, str] | None:
    """Return a text and what to do next when neither this process nor another one works a model, or None."""
    return pools.unworked(ctx, model) if ctx.store.engine.locks_models else None


def attend(
    cli: Cli,
    opened: Session,
    look: Callable[[], bool],
    *,
    until: Callable[[], bool],
    patience: float,
    leave: Callable[[], None],
) -> Sequence[Problem]:
    """Work on the model and call `look` every 50 ms; the arguments are those of `waiting.attend`.

    Args:
        leave: Called when some work is left to the background.
    """

    async def go(report: Tell) -> Sequence[Problem]:
        watched = wants_output(cli.console)
        warn, since = cli.console.warn, session.first_claim(cli)
        driver = drivers.Driver(opened.ctx, opened.uuid, tell=report, warn=warn, watched=watched, since=since)
        working = asyncio.create_task(driver.settle(until), name="settle")
        busy = time.monotonic()
        try:
            while not working.done():
                await asyncio.wait({working}, timeout=_POLL_S)
                if not working.done() and not _looked(look):
                    busy = time.monotonic()
                if not working.done() and time.monotonic() - busy > patience:
                    leave()
                    return ()
            settled = working.result()
            if settled.left:
                leave()
            return settled.problems
        finally:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)

    if (nobody := unworked(opened.ctx, opened.uuid)) is not None:
        raise Conflict(nobody[0], hint=nobody[1])
    with progress(cli.console, lines=False) as report:
        problems = asyncio.run(go(report))
    look()
    return problems


def _looked(look: Callable[[], bool]) -> bool:
    """Return what `look` returns; False while the store is away, for which `Driver.settle` waits."""
    try:
        return look()
    except StoreAway:
        return False
