"""The built-in plugin `charmhub`: Charmhub, and other stores with its protocol."""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.plugins.api.sources import CharmSourceType, CharmStore, SourceKind, SourceServices
from pushjuju.plugins.hookspecs import PLUGIN_API, hookimpl

PUSHJUJU_API = PLUGIN_API
TYPE = "charm-hub"


def _accepts(address: str) -> bool:
    return address.startswith(("https://", "http://"))


@hookimpl
def pushjuju_charm_sources() -> Sequence[CharmSourceType]:
    return [
        CharmSourceType(name=TYPE, kind=SourceKind.STORE, summary="Charmhub, or its like", accepts=_accepts)
    ]


@hookimpl
def pushjuju_open_charm_source(type_name: str, address: str, services: SourceServices) -> CharmStore | None:
    """Return the store at an address, or None for another type."""
    if type_name != TYPE:
        return None
    from pushjuju.plugins.sources.charmhub import (
        Charmhub,  # imports the HTTP client, which most commands do not need
    )

    return Charmhub(address, services)
