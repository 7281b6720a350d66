"""Serving the API: what serves it is loaded only for a command that does."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from pushjuju.core.errors import NotFound
from pushjuju.core.extras import install_hint

if TYPE_CHECKING:
    from pushjuju.cli.work.api_server import ApiServing

EXTRA = "api"


def serving() -> type[ApiServing]:
    """Return what serves the API.

    Raises:
        NotFound: The libraries of the extra `api` are not installed.
    """
    if find_spec("aiohttp") is None:
        raise NotFound("the API needs the library aiohttp, which is not installed", hint=install_hint(EXTRA))
    from pushjuju.cli.work.api_server import ApiServing  # aiohttp: for commands that serve the API

    return ApiServing
