"""asyncssh, loaded without the programs that its import starts, and without what it cannot use.

asyncssh looks for two optional libraries with `ctypes.util.find_library`, which runs `ldconfig`, `gcc` and
`ld` with the PATH of the user, in the folder where the command was typed. That may be a charm's tree, of
which nothing may run; and every command would wait for these programs.

Where pyOpenSSL is missing, asyncssh does without X.509 certificates, but only after it has imported all that
`cryptography` knows of them.

asyncssh imports its SFTP and scp, which pushjuju never uses, and `typing_extensions` for names that `typing`
has by now: a tenth of its import. And Python evaluates each annotation of asyncssh, for type checkers alone:
another third.
"""

from __future__ import annotations

import builtins
import ctypes.util
import getpass
import importlib
import importlib.util
import os
import sys
import typing
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any

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
    start = f"lib{name}.so."
    return next((f"{at}/{file}" for at in _FOLDERS for file in _names(at) if file.startswith(start)), None)


class _Unused(ModuleType):
    """Stands for a part of asyncssh that nobody uses; each of its names is an empty class."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (Exception,), {})


class _Hint:
    """Stands for what is only used in annotations, such as `Optional`."""

    def __getitem__(self, _: object) -> _Hint:
        return self

    __or__ = __ror__ = __getitem__


class _Base:
    """Stands for `Generic` and `Protocol`, from which classes are derived."""

    def __class_getitem__(cls, _: object) -> type:
        return cls


class _Hints(ModuleType):
    """Stands for `typing` and `typing_extensions` in modules of asyncssh."""

    Generic = type("Generic", (_Base,), {})
    Protocol = type("Protocol", (_Base,), {})

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        if not hasattr(typing, name):
            return getattr(importlib.import_module("typing_extensions"), name)
        found = getattr(typing, name)
        return _hint if hasattr(found, "__getitem__") else found


_TYPING = ("typing", "typing_extensions")
_hint, _hints = _Hint(), _Hints("typing")


def _import(
    name: str, space: dict[str, Any] | None = None, _: object = None, wanted: Any = (), level: int = 0
) -> Any:
    """Import a module, as the statement `import` does; modules of asyncssh get `_hints` for `typing`."""
    if name in _TYPING and space and space["__name__"].startswith("asyncssh"):
        return _hints
    return _python_import(name, space, None, wanted, level)


def _stand_ins() -> dict[str, ModuleType | None]:
    """Return what stands in `sys.modules` for modules during the import of asyncssh; None lets it fail."""
    found: dict[str, ModuleType | None] = {
        "asyncssh.sftp": _Unused("asyncssh.sftp"),
        "asyncssh.scp": _Unused("asyncssh.scp"),
    }
    if importlib.util.find_spec("OpenSSL") is None:
        found["asyncssh.crypto.x509"] = None
    return {name: module for name, module in found.items() if name not in sys.modules}


_python_import = builtins.__import__


@contextmanager
def _instead(standing: dict[str, ModuleType | None]) -> Iterator[None]:
    """Let modules stand for others, and modules of asyncssh be imported by `_import`."""
    sys.modules.update(standing)  # type: ignore[arg-type] # None lets the import of a module fail
    builtins.__import__ = _import  # type: ignore[assignment] # Python calls it by position
    try:
        yield
    finally:
        builtins.__import__ = _python_import
        for name, module in standing.items():
            if sys.modules.get(name, ...) is module:
                del sys.modules[name]


def _load() -> ModuleType:
    """Import asyncssh with what stands for others, or as it is when a release of it needs them."""
    if "asyncssh" in sys.modules:
        return sys.modules["asyncssh"]
    try:
        with _instead(_stand_ins()):
            return importlib.import_module("asyncssh")
    except Exception:  # noqa: BLE001 - whatever it is, the plain import tells
        for name in [name for name in sys.modules if name.partition(".")[0] == "asyncssh"]:
            del sys.modules[name]
        return importlib.import_module("asyncssh")


def _name_user() -> None:
    """Name a user id without an account, as in containers: asyncssh connects nowhere without a name."""
    try:
        getpass.getuser()
    except (KeyError, OSError):  # OSError from Python 3.13 on
        os.environ["LOGNAME"] = str(os.getuid())


_name_user()
_original = ctypes.util.find_library
if sys.platform == "linux":
    ctypes.util.find_library = _find_library
try:
    _load()
finally:
    ctypes.util.find_library = _original

import asyncssh  # noqa: E402 - for type checkers, which see its names

__all__ = ["asyncssh"]
