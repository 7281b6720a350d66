"""The public clouds of pushjuju's own providers, which are known without loading a plugin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.plugins.providers.libcloud import kinds


def public_tables() -> Mapping[str, Mapping[str, Any]]:
    """Return the definition of each cloud that libcloud drives, by its name."""
    return {name: table for kind in kinds.KINDS for name, table in kind.public_clouds.items()}
