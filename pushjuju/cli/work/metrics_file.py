"""Keeps a file with the metrics up to date, for node_exporter: `--metrics-file`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from pushjuju.core.errors import PushjujuError
from pushjuju.services.entities.basis.context import Context, open_context
from pushjuju.services.views.metrics import exposition
from pushjuju.services.views.metrics.reading import Sample

EVERY_S = 15.0


def write(ctx: Context, file: str, more: Sequence[Sample] = ()) -> None:
    """Write the metrics of a controller and `more` of this process into a file, as `metrics -o` does."""
    exposition.write(Path(file).expanduser(), exposition.text(ctx, more))


@asynccontextmanager
async def kept(
    ctx: Context, file: str, own: Callable[[], Sequence[Sample]], warn: Callable[[str], None]
) -> AsyncIterator[None]:
    """Write the file now, each 15 seconds while the block runs, and at its end.

    Args:
        own: Returns the metrics of this process; called in the event loop.
        warn: Called once when the file cannot be written any more; the work goes on.
    """
    await asyncio.to_thread(_write, ctx, file, own())
    stop = asyncio.Event()
    task = asyncio.create_task(_rewrite(ctx, file, own, warn, stop))
    try:
        yield
    finally:
        stop.set()
        await task


async def _rewrite(
    ctx: Context,
    file: str,
    own: Callable[[], Sequence[Sample]],
    warn: Callable[[str], None],
    stop: asyncio.Event,
) -> None:
    failed = False
    while True:
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), EVERY_S)
        last = stop.is_set()  # before the file is written, so that the file has the end
        try:
            await asyncio.to_thread(_write, ctx, file, own())
            failed = False
        except (PushjujuError, OSError) as error:
            if not failed:
                warn(f"the metrics cannot be written to {file}: {error}")
            failed = True
        if last:
            return


def _write(ctx: Context, file: str, more: Sequence[Sample]) -> None:
    """Do the same as `write` with a store of its own, in a thread: the work goes on meanwhile."""
    opened = open_context(ctx.datadir, ctx.controller.name, clock=ctx.clock, environ=ctx.environ)
    try:
        write(opened, file, more)
    finally:
        opened.close()
