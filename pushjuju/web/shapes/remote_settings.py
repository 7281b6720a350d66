"""Settings that come over the API: none may lead to a file of this host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.core.errors import NotValid

_WEB = ("http://", "https://", "mirror+http://", "mirror+https://")


def checked(values: Mapping[str, Any]) -> dict[str, object]:
    """Return settings; a store of charms in a folder is for commands on the host.

    Raises:
        NotValid: An address is none of the web.
    """
    for key, value in values.items():
        if key.endswith("url") and value and not str(value).startswith(_WEB):
            raise NotValid(f'{key}: "{value}" is not an address of the web, as the API takes them')
    return dict(values)
