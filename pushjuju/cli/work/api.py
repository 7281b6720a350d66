"""Loads the server of the API, only for commands that serve it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pushjuju.client import libraries

if TYPE_CHECKING:
    from pushjuju.cli.work.api_server import ApiServing


def serving() -> type[ApiServing]:
    """Return the class that serves the API.

    Raises:
        NotFound: The libraries of the extra `api` are not installed.
    """
    libraries.require()
    from pushjuju.cli.work.api_server import ApiServing  # imported here: imports aiohttp

    return ApiServing
