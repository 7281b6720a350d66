"""Loads the server of the API, only for commands that serve it; the flags of these commands."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from pushjuju.cli.syntax import flags
from pushjuju.core.errors import NotFound, UsageError
from pushjuju.core.extras import install_hint

if TYPE_CHECKING:
    from pushjuju.cli.work.api_server import ApiServing

EXTRA = "api"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingFlags:
    """The flags of the commands that serve the API."""

    controller: str
    cert: str = flags.text("cert", "A certificate with its chain (PEM), for clients that ask for its names")
    key: str = flags.text("key", "The key of --cert (PEM); by default in the same file")

    def check(self) -> None:
        """Raise UsageError when the command line has --key without --cert."""
        if self.key and not self.cert:
            raise UsageError("--key is the key of a certificate: name it with --cert")


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
