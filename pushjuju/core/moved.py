"""Modules and names of core under the addresses that plugins of API 1.5 know them by."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from importlib.machinery import ModuleSpec

TYPE_CHECKING = False  # `typing` is not for every start of a command
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

_NAMES = ("life", "offerurl", "placement", "ports", "secrets", "series", "tasks", "zones")
_MOVED = {f"pushjuju.core.{name}": f"pushjuju.core.model.{name}" for name in _NAMES}
_MOVED_NAMES = {("pushjuju.core.errors", "HubError"): "pushjuju.core.charmstore"}


class _Moved:
    """Finds modules by their old names, and loads today's in their place."""

    @staticmethod
    def find_spec(name: str, *_: Any) -> ModuleSpec | None:
        """Return what loads a module that moved."""
        return ModuleSpec(name, _Moved()) if name in _MOVED else None  # type: ignore[arg-type]

    @staticmethod
    def create_module(_spec: ModuleSpec) -> None:
        """Let Python make the module that is replaced at once."""

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Put today's module in the place of an old one, and warn."""
        new = _MOVED[module.__name__]
        warnings.warn(f"import {new} in place of {module.__name__}", DeprecationWarning, stacklevel=2)
        sys.modules[module.__name__] = import_module(new)


def install() -> None:
    """Find these modules from now on, after all others."""
    sys.meta_path.append(_Moved)


def attribute(module: str, name: str) -> object:
    """Return what a module had under a name in API 1.5, and warn.

    Raises:
        AttributeError: The module never had the name.
    """
    new = _MOVED_NAMES.get((module, name))
    if new is None:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    warnings.warn(f"import {name} from {new} in place of {module}", DeprecationWarning, stacklevel=3)
    return getattr(import_module(new), name)
