"""Loads the server of the API, only for commands that serve it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from pushjuju.cli.lazy_imports import import_lazily
from pushjuju.client import libraries

if TYPE_CHECKING:
    from pushjuju.cli.work.api_server import ApiServing
    from pushjuju.cli.work.dashboard_server import DashboardServing


def serving() -> type[ApiServing]:
    """Return the class that serves the API.

    Raises:
        NotFound: The libraries of the extra `api` are not installed.
    """
    libraries.require()
    loaded = import_lazily("pushjuju.cli.work.api_server")  # here, because the module imports aiohttp
    return cast("type[ApiServing]", loaded.ApiServing)


def dashboard() -> type[DashboardServing]:
    """Return the class that serves the dashboard.

    Raises:
        NotFound: The libraries of the extra `api` are not installed.
    """
    libraries.require()
    loaded = import_lazily("pushjuju.cli.work.dashboard_server")  # imports aiohttp
    return cast("type[DashboardServing]", loaded.DashboardServing)
