"""Loads the server of the API, only for commands that serve it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from pushjuju.cli.lazy_imports import import_lazily
from pushjuju.client import libraries

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from pushjuju.cli.syntax.command import Cli
    from pushjuju.cli.work.api_server import ApiServing
    from pushjuju.cli.work.dashboard_server import DashboardServing
    from pushjuju.services.entities.basis.context import Context
    from pushjuju.workers.counts import Counts


def serving() -> type[ApiServing]:
    """Return the class that serves the API."""
    libraries.require()
    loaded = import_lazily("pushjuju.cli.work.api_server")  # here, because the module imports aiohttp
    return cast("type[ApiServing]", loaded.ApiServing)


def dashboard() -> type[DashboardServing]:
    """Return the class that serves the dashboard."""
    libraries.require()
    loaded = import_lazily("pushjuju.cli.work.dashboard_server")  # imports aiohttp
    return cast("type[DashboardServing]", loaded.DashboardServing)


def exporting(cli: Cli, ctx: Context, listen: str, counts: Counts) -> AbstractAsyncContextManager[object]:
    """Return the context that serves the metrics of this process."""
    libraries.require()
    loaded = import_lazily("pushjuju.cli.work.metrics_server")  # imports aiohttp
    return cast("AbstractAsyncContextManager[object]", loaded.serving(cli, ctx, listen, counts))
