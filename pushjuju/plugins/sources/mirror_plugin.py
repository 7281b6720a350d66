"""The built-in plugin `charm-mirror`: mirrors of charms, in a directory or on a web server."""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.plugins.api.sources import CharmSourceType, CharmStore, SourceKind, SourceServices
from pushjuju.plugins.hookspecs import PLUGIN_API, hookimpl

PUSHJUJU_API = PLUGIN_API
TYPE = "mirror"
_PREFIX = "mirror+"


def _accepts(address: str) -> bool:
    return address.startswith((f"{_PREFIX}http://", f"{_PREFIX}https://", "file:///"))


@hookimpl
def pushjuju_charm_sources() -> Sequence[CharmSourceType]:
    return [
        CharmSourceType(
            name=TYPE,
            kind=SourceKind.STORE,
            summary="a directory that `pushjuju mirror` wrote, or a web server that offers it",
            accepts=_accepts,
        )
    ]


@hookimpl
def pushjuju_open_charm_source(type_name: str, address: str, services: SourceServices) -> CharmStore | None:
    """Return the mirror at an address, or None for another type."""
    if type_name != TYPE:
        return None
    from pushjuju.plugins.sources.mirror import (
        Mirror,  # imports the HTTP client, which most commands do not need
    )

    return Mirror(address, services)
