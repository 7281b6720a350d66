"""Lets plugins of API 1.5 import modules and names of core by their former paths."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from importlib.machinery import ModuleSpec

TYPE_CHECKING = False  # importing `typing` would slow down the start of every command
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

_NAMES = ("offerurl", "placement", "ports", "secrets", "series", "tasks", "zones")
_MOVED = {
    **{f"pushjuju.core.{name}": f"pushjuju.core.model.{name}" for name in _NAMES},
    "pushjuju.core.life": "pushjuju.core.status",
    "pushjuju.core.model.life": "pushjuju.core.status",
    "pushjuju.core.channel": "pushjuju.core.base",
}
_MOVED_NAMES = {("pushjuju.core.errors", "HubError"): "pushjuju.core.charmstore"}


class _Moved:
    """An import finder and loader that finds modules by their old names and loads the renamed modules."""

    @staticmethod
    def find_spec(name: str, *_: Any) -> ModuleSpec | None:
        """Return the spec of a renamed module, or None for any other name."""
        return ModuleSpec(name, _Moved()) if name in _MOVED else None  # type: ignore[arg-type]

    @staticmethod
    def create_module(_spec: ModuleSpec) -> None:
        """Leave the making of an empty module to Python; `exec_module` replaces the module."""

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Put the renamed module in the place of the empty one, and warn."""
        new = _MOVED[module.__name__]
        warnings.warn(f"import {new} in place of {module.__name__}", DeprecationWarning, stacklevel=2)
        sys.modules[module.__name__] = import_module(new)


def install() -> None:
    """Add this finder to the end of Python's import path."""
    sys.meta_path.append(_Moved)


def attribute(module: str, name: str) -> object:
    """Return an object of core that API 1.5 has in another module, and warn."""
    new = _MOVED_NAMES.get((module, name))
    if new is None:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    warnings.warn(f"import {name} from {new} in place of {module}", DeprecationWarning, stacklevel=3)
    return getattr(import_module(new), name)
