"""Where plugins of API 1.5 import the public types from; they stand in `pushjuju.plugins.api` now."""

from __future__ import annotations

import importlib
import warnings

_HOMES = (  # each before those that import from it
    "findings",
    "targets",
    "clouds",
    "storage_types",
    "sources",
    "hook_tools",
    "firewalls",
    "backends",
    "providers",
)


def __getattr__(name: str) -> object:
    """Return a public type, and warn: Python shows the warning once for each line that imports."""
    for home in () if name.startswith("_") else _HOMES:
        module = importlib.import_module(f"pushjuju.plugins.api.{home}")
        if hasattr(module, name):
            text = f"import {name} from pushjuju.plugins.api: {module.__name__}"
            warnings.warn(text, DeprecationWarning, stacklevel=2)
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
