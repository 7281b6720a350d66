"""Loads the server of the API, only for commands that serve it."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from pushjuju.core.errors import NotFound
from pushjuju.core.extras import install_hint

if TYPE_CHECKING:
    from pushjuju.cli.work.api_server import ApiServing

EXTRA = "api"


def serving() -> type[ApiServing]:
    """Return the class that serves the API.

    Raises:
        NotFound: The libraries of the extra `api` are not installed.
    """
    for library in ("aiohttp", "nacl"):
        if find_spec(library) is None:
            text = f"the API needs the library {library}, which is not installed"
            raise NotFound(text, hint=install_hint(EXTRA))
    from pushjuju.cli.work.api_server import ApiServing  # imported here: imports aiohttp

    return ApiServing
