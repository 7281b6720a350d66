"""Loads the libraries of the extra `api`, which serve and ask the API, or says how to install them."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from pushjuju.core import extras
from pushjuju.core.errors import NotFound

EXTRA = "api"


def require() -> None:
    """Raise NotFound when a library of the extra is not installed."""
    for library in ("aiohttp", "nacl"):
        if find_spec(library) is None:
            text = f"the API needs the library {library}, which is not installed"
            raise NotFound(text, hint=extras.install_hint(EXTRA))


def websocket() -> ModuleType:
    """Return the module `pushjuju.client.websocket`, which imports these libraries."""
    require()
    return import_module("pushjuju.client.websocket")
