"""The import path of the public types for plugins of API 1.5; the types are now in `pushjuju.plugins.api`."""

from __future__ import annotations

import importlib
import warnings

_HOMES = (  # each before the modules that import from it: the first with a name wins
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
    """Return a public type with a warning, which Python shows once for each importing line."""
    for home in () if name.startswith("_") else _HOMES:
        module = importlib.import_module(f"pushjuju.plugins.api.{home}")
        if hasattr(module, name):
            text = f"import {name} from pushjuju.plugins.api: {module.__name__}"
            warnings.warn(text, DeprecationWarning, stacklevel=2)
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
