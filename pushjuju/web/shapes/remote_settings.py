"""Checks settings that come over the API: no setting may name a file of this host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.core.errors import NotValid

_WEB = ("http://", "https://", "mirror+http://", "mirror+https://")


def checked(values: Mapping[str, Any]) -> dict[str, object]:
    """Return the settings; a charm store in a local folder can be set only by commands on the host.

    Raises:
        NotValid: A URL is not an address of the web.
    """
    for key, value in values.items():
        if key.endswith("url") and value and not str(value).startswith(_WEB):
            raise NotValid(f'{key}: "{value}" is not an address of the web, as the API takes them')
    return dict(values)
