"""Lazy imports: what the command line and the services import is read when it is used for the first time.

So a help text costs what declares the command, and a run costs what the run uses. `from package import
module` is lazy; `from package.module import name` needs the name, and reads the module at once. Modules of
other rooms are read with all that they import.
"""

from __future__ import annotations

import importlib
import sys
import threading
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.abc import Loader

_OURS = "pushjuju."
_LAZY = ("pushjuju.cli.", "pushjuju.services.")


class _Thread(threading.local):
    """What a thread is reading."""

    lazy = False  # a module whose imports are lazy


_thread = _Thread()


class _Unread(ModuleType):
    """A module whose file is not read yet: the first use of an attribute reads the file."""

    def __getattribute__(self, name: str) -> Any:
        if name == "__dict__" or not name.startswith("__"):  # Python sets the other names without the file
            cast("_LazyLoader", self.__loader__).read(self)
        return ModuleType.__getattribute__(self, name)

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("__"):  # else the file would undo the change
            cast("_LazyLoader", self.__loader__).read(self)
        ModuleType.__setattr__(self, name, value)


class _LazyLoader:
    """Puts off the reading of one module, and lets one thread read it."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self._lock = threading.RLock()
        self._begun = False

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Return the module as the loader of the file makes it."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module unread."""
        module.__class__ = _Unread

    def read(self, module: ModuleType) -> None:
        """Read the file of the module; other threads wait until it is read."""
        with self._lock:
            if self._begun:  # another thread was faster, or the module itself asks while it is read
                return
            self._begun = True
            before, _thread.lazy = _thread.lazy, module.__name__.startswith(_LAZY)
            try:
                self._loader.exec_module(module)
            except BaseException:
                self._begun = False
                raise
            finally:
                _thread.lazy = before
            module.__class__ = ModuleType


class _LazyFinder:
    """Finds the modules that a lazy module imports; packages are read at once."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module that is read when it is used, or None to let Python read it now."""
        if not _thread.lazy or not name.startswith(_OURS):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None or spec.submodule_search_locations is not None:
            return None
        spec.loader = cast("Loader", _LazyLoader(spec.loader))
        return spec


def import_lazily(name: str) -> ModuleType:
    """Import a module of the command line; what that module imports is read when it is used."""
    if _LazyFinder not in sys.meta_path:
        sys.meta_path.insert(0, _LazyFinder)
    before, _thread.lazy = _thread.lazy, True
    try:
        module = importlib.import_module(name)
        vars(module)  # reads the module itself, while its imports stay lazy
    finally:
        _thread.lazy = before
    return module
