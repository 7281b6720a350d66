"""asyncssh, loaded without the programs that its import starts, and without what it cannot use.

asyncssh looks for two optional libraries with `ctypes.util.find_library`, which runs `ldconfig`, `gcc` and
`ld` with the PATH of the user, in the folder where the command was typed. That may be a charm's tree, of
which nothing may run; and every command would wait for these programs.

Where pyOpenSSL is missing, asyncssh does without X.509 certificates, but only after it has imported all that
`cryptography` knows of them.

asyncssh imports its SFTP and scp, which pushjuju never uses, and `typing_extensions` for names that `typing`
has by now: a tenth of its import.
"""

from __future__ import annotations

import ctypes.util
import importlib
import importlib.util
import os
import sys
import typing
from functools import cache
from types import ModuleType

_FOLDERS = (
    f"/usr/lib/{getattr(sys.implementation, '_multiarch', 'none')}",  # Debian
    "/usr/lib64",
    "/usr/lib",
)


@cache
def _names(folder: str) -> list[str]:
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else []  # noqa: PTH208, PTH112 - start-up time


def _find_library(name: str) -> str | None:
    """Return the path of a shared library, or None when it is not found."""
    paths = (f"{folder}/{file}" for folder in _FOLDERS for file in _names(folder))
    return next((path for path in paths if path.rpartition("/")[2].startswith(f"lib{name}.so.")), None)


class _Unused(ModuleType):
    """Stands for a part of asyncssh that nobody uses; each of its names is an empty class."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (Exception,), {})


class _Typing(ModuleType):
    """Stands for `typing_extensions`, whose names it takes from `typing` where they are there."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        if not hasattr(typing, name):
            sys.modules.pop(self.__name__, None)
            return getattr(importlib.import_module(self.__name__), name)
        return getattr(typing, name)


def _stand_ins() -> dict[str, ModuleType | None]:
    """Return what stands in `sys.modules` for modules during the import of asyncssh; None lets it fail."""
    found: dict[str, ModuleType | None] = {
        "asyncssh.sftp": _Unused("asyncssh.sftp"),
        "asyncssh.scp": _Unused("asyncssh.scp"),
        "typing_extensions": _Typing("typing_extensions"),
    }
    if importlib.util.find_spec("OpenSSL") is None:
        found["asyncssh.crypto.x509"] = None
    return {name: module for name, module in found.items() if name not in sys.modules}


_original = ctypes.util.find_library
if sys.platform == "linux":
    ctypes.util.find_library = _find_library
_standing = _stand_ins() if "asyncssh" not in sys.modules else {}
sys.modules.update(_standing)  # type: ignore[arg-type] # None lets the import of a module fail
try:
    import asyncssh
finally:
    ctypes.util.find_library = _original
    for _name, _module in _standing.items():
        if sys.modules.get(_name, ...) is _module:
            del sys.modules[_name]

__all__ = ["asyncssh"]
