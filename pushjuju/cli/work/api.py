"""Loads the server of the API, only for commands that serve it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

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
    from pushjuju.cli.work.api_server import ApiServing  # imported here: imports aiohttp

    return ApiServing


def dashboard() -> type[DashboardServing]:
    """Return the class that serves the dashboard.

    Raises:
        NotFound: The libraries of the extra `api` are not installed.
    """
    libraries.require()
    module = import_module("pushjuju.cli.work.dashboard_server")  # imports aiohttp
    found: type[DashboardServing] = module.DashboardServing
    return found
