"""Serves the metrics of this process for `controller run --metrics`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from pushjuju.services.entities.basis.context import Context
from pushjuju.web.exporter import exporting
from pushjuju.web.server import Address
from pushjuju.workers.counts import Counts

if TYPE_CHECKING:
    from pushjuju.cli.syntax.command import Cli


@asynccontextmanager
async def serving(cli: Cli, ctx: Context, listen: str, counts: Counts) -> AsyncIterator[None]:
    """Serve at HOST:PORT, or at a port of 127.0.0.1, until the block ends."""
    address = Address.parse(f"127.0.0.1:{listen}" if listen.isdecimal() else listen)
    async with exporting(ctx, address, lambda: counts.of_process(ctx)) as (host, port):
        cli.console.info(f"The metrics are at http://{host}:{port}/metrics")
        yield
