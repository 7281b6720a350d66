"""Serves the metrics of this process for `controller run --metrics`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from pushjuju.core.clock import SystemClock
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.views.metrics.reading import Sample
from pushjuju.web.exporter import exporting
from pushjuju.web.server import Address
from pushjuju.workers.counts import Counts

if TYPE_CHECKING:
    from pushjuju.cli.syntax.command import Cli


@asynccontextmanager
async def serving(cli: Cli, ctx: Context, listen: str, counts: Counts) -> AsyncIterator[None]:
    """Serve until the block ends.

    Args:
        listen: HOST:PORT, or the port on 127.0.0.1.

    Raises:
        NotValid: `listen` is no address, or the server cannot listen there.
    """
    address = Address.parse(f"127.0.0.1:{listen}" if listen.isdecimal() else listen)

    def own() -> list[Sample]:
        if ctx.store.engine.clock() is None:
            return counts.samples()
        apart = (SystemClock().now() - ctx.clock.now()).total_seconds()
        return [*counts.samples(), Sample("clock_offset_seconds", (), apart)]

    async with exporting(ctx, address, own) as (host, port):
        cli.console.info(f"The metrics are at http://{host}:{port}/metrics")
        yield
