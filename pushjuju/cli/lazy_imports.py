"""Lazy imports: Python executes the modules of pushjuju that a command imports at their first use.

So a help text imports only the module of its command, and a run only the modules that it uses. `from package
import module` is lazy; `from package.module import name` executes the module at once.

So are some modules of Python and asyncio that these import, and that few commands use.

Modules are found and read with a third of the work of Python's own finder and loader.
Python lists the folder of a package, asks for the kind of each file that may be the module, and computes the
name of its compiled file twice. Here a module is the file of its name, and its compiled file is used when its
header has the time and the size of the source. In all other cases Python's own do the work.
"""

from __future__ import annotations

import importlib
import marshal
import os
import sys
import threading
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import MAGIC_NUMBER, cache_from_source
from io import FileIO
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.abc import Loader

_LIMIT = 0xFFFFFFFF  # of the numbers in the header
_OURS = "pushjuju."
_LARGE = (
    "asyncio.",
    "asyncssh.",
    "click.",
    "cryptography.",
    "pluggy.",
)  # many modules: found quickly, read at once
_SELDOM = {
    "argparse", "ast", "asyncio.sslproto", "hashlib", "inspect", "ipaddress", "locale", "ntpath", "platform",
    "random", "shutil", "ssl", "stringprep", "tempfile", "tokenize", "tomllib", "traceback", "uuid",
}  # fmt: skip


def _places() -> tuple[str, str]:
    """Return the folder of compiled files, relative to that of the source or absolute, and their suffix."""
    suffix = os.path.basename(cache_from_source("/name.py")).removeprefix("name")  # noqa: PTH119 - start-up time
    return (sys.pycache_prefix or ""), suffix


class _QuickLoader(SourceFileLoader):
    """Reads one module.

    Args:
        compiled: Its compiled file, which need not be there.
        found: The state of its source.
    """

    def __init__(self, name: str, path: str, compiled: str, found: os.stat_result) -> None:
        super().__init__(name, path)
        self._compiled = compiled
        self._found = found

    def get_code(self, fullname: str) -> CodeType | None:
        return self._read() or super().get_code(fullname)

    def _read(self) -> CodeType | None:
        """Return the code in the compiled file, or None when Python must look closer."""
        try:
            with FileIO(self._compiled) as file:
                data = file.readall()
        except OSError:
            return None
        numbers = (0, int(self._found.st_mtime) & _LIMIT, self._found.st_size & _LIMIT)
        header = MAGIC_NUMBER + b"".join(number.to_bytes(4, "little") for number in numbers)
        if not data.startswith(header):
            return None
        try:
            code = marshal.loads(memoryview(data)[len(header) :])  # noqa: S302 - as Python itself does
        except (EOFError, TypeError, ValueError):
            return None
        return code if isinstance(code, CodeType) and code.co_filename == self.path else None


class Finder:
    """Finds modules inside packages that have one folder."""

    def __init__(self) -> None:
        self._prefix, self._suffix = _places()

    def find(self, name: str, path: Sequence[str] | None) -> ModuleSpec | None:
        """Return the spec of a module of a package's folders, or None when Python must look closer."""
        if path is None or len(path) != 1 or not path[0].startswith("/"):
            return None
        folder, stem = path[0], name.rpartition(".")[2]
        source = f"{folder}/{stem}.py"
        try:
            found = os.stat(source)  # noqa: PTH116 - start-up time
        except OSError:
            return None
        place = f"{self._prefix}{folder}" if self._prefix else f"{folder}/__pycache__"
        compiled = f"{place}/{stem}{self._suffix}"
        spec = ModuleSpec(name, _QuickLoader(name, source, compiled, found), origin=source)
        spec.cached, spec.has_location = compiled, True
        return spec


class _NoSocket:
    """Stands for the sockets of a module that nobody has used, to which no socket belongs."""


# What a module that many commands import asks of a module that few commands use: name -> the two, the answer.
_ANSWERS: dict[str, tuple[str, str, object]] = {
    "system": ("uuid", "platform", lambda: os.uname().sysname),
    "SSLSocket": ("asyncio.base_events", "ssl", _NoSocket),
}


class _Thread(threading.local):
    """The state of a thread while a module is executed."""

    lazy = False  # True while the thread executes a module whose imports are lazy


_thread = _Thread()
_finder = Finder()


class _Unread(ModuleType):
    """A module that is not executed yet: the first use of an attribute executes its file."""

    def __getattribute__(self, name: str) -> Any:
        if name in _ANSWERS:
            *between, answer = _ANSWERS[name]
            if between == [sys._getframe(1).f_globals.get("__name__"), self.__name__]:
                return answer
        if name == "__dict__" or not name.startswith("__"):  # Python itself sets dunder names
            cast("_LazyLoader", self.__loader__).read(self)
        return ModuleType.__getattribute__(self, name)

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("__"):  # else executing the file would undo the change
            cast("_LazyLoader", self.__loader__).read(self)
        ModuleType.__setattr__(self, name, value)


class _LazyLoader:
    """Puts off the execution of one module, and lets a single thread execute it."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self._lock = threading.RLock()
        self._begun = False

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Return the module as the loader of the file makes it."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module unexecuted."""
        module.__class__ = _Unread

    def read(self, module: ModuleType) -> None:
        """Execute the file of the module; other threads wait until this is done."""
        with self._lock:
            if self._begun:  # another thread was faster, or the module uses itself during its execution
                return
            self._begun = True
            before, _thread.lazy = _thread.lazy, True
            try:
                self._loader.exec_module(module)
            except BaseException:
                self._begun = False
                raise
            finally:
                _thread.lazy = before
            module.__class__ = ModuleType


class _LazyFinder:
    """Finds the modules that a lazy module imports; most packages are executed at once."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module to execute at its first use, or None to let Python execute it now."""
        if not _thread.lazy:
            return None
        if not (name.startswith(_OURS) or name in _SELDOM):
            return _finder.find(name, path) if name.startswith(_LARGE) else None
        spec = _finder.find(name, path) or PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return None
        if spec.submodule_search_locations is not None and name not in _SELDOM:
            return None
        spec.loader = cast("Loader", _LazyLoader(spec.loader))
        return spec


def import_lazily(name: str) -> ModuleType:
    """Import a module of the command line, whose own imports are executed at their first use."""
    if _LazyFinder not in sys.meta_path:
        sys.meta_path.insert(0, _LazyFinder)
    before, _thread.lazy = _thread.lazy, True
    try:
        module = importlib.import_module(name)
        vars(module)  # executes the module itself, while its imports stay lazy
    finally:
        _thread.lazy = before
    return module
