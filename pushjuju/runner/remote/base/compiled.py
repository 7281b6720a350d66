"""The compiled modules of the program in one file: found and read at once, where Python opens 30 files.

``boot.py`` reads the file, and ``enter.py``, whose compiled code is in the file, too, runs this module's own
code. A module that is not in the file is imported in Python's usual way; the server adds the module to the
file at its end. The file lies in the directory of the program, so each version of the program has its own,
and its name holds the version of Python. The first four bytes of the file are a checksum: a file that is not
complete is not used.
"""

from __future__ import annotations

import marshal
import os
import sys
import zlib
from _frozen_importlib_external import MAGIC_NUMBER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SELF = "pushjuju/runner/remote/base/compiled"
_ENTER = "pushjuju/runner/remote/enter"  # run by ``boot.py``, never imported
_HEAD = 16  # bytes before the code in a file that Python compiled: magic number, flags, time, size


class Finder:
    """Imports modules from their compiled code."""

    def __init__(self, home: str, modules: dict[str, bytes]) -> None:
        self.home = home  # directory of the program
        self.modules = modules  # compiled code by the path of the module without its suffix

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> Any:
        """Return how a module is imported, or None when its code is not in the file."""
        path = name.replace(".", "/")
        is_package = path + "/__init__" in self.modules
        if not is_package and path not in self.modules:
            return None
        make: Any = type(sys.__spec__)
        spec = make(name, self, is_package=is_package)
        if is_package:
            spec.submodule_search_locations = [self.home + "/" + path]
            path += "/__init__"
        spec.loader_state = self.modules[path]
        return spec

    def create_module(self, _spec: object) -> None:
        """Let Python make the empty module."""

    def exec_module(self, module: Any) -> None:
        """Run the code of a module; ``__file__`` is set for hook tools of plugins."""
        ending = "/__init__.py" if hasattr(module, "__path__") else ".py"
        module.__file__ = "%s/%s%s" % (self.home, module.__name__.replace(".", "/"), ending)
        exec(marshal.loads(module.__spec__.loader_state), module.__dict__)  # noqa: S102 - the program's own


def file_name() -> str:
    """Return the name of the file for this Python."""
    return "compiled-%s-%x" % (sys.implementation.cache_tag, sys.hexversion)


def keep(home: str) -> None:
    """Write the file anew when Python has compiled modules since that are not in the file."""
    path = home + "/" + file_name()
    try:
        compiled = _compiled(home)
        if not compiled.keys() - _known():
            return
        code = {name: _code(file) for name, file in compiled.items()}
        with open(home + "/" + _ENTER + ".py", encoding="utf-8") as source:
            code[_ENTER] = marshal.dumps(compile(source.read(), "enter.py", "exec"))
        data = marshal.dumps((code[_SELF], code))
        with open(path + ".new", "wb") as file:
            file.write(zlib.crc32(data).to_bytes(4, "big") + data)
        os.rename(path + ".new", path)
    except (OSError, LookupError, ValueError, EOFError, TypeError):
        _remove(path + ".new")  # the disk is full, or a module is damaged: Python finds each module by itself


def _known() -> set[str]:
    for finder in sys.meta_path:
        if hasattr(finder, "modules"):
            return set(finder.modules)
    return set()


def _compiled(home: str) -> dict[str, str]:
    """Return the files that this Python has compiled, by the path of the module without its suffix."""
    ending = ".%s.pyc" % sys.implementation.cache_tag
    found = {}
    folders = [home]
    for folder in folders:
        for entry in os.scandir(folder):
            if entry.name.endswith(ending):
                module = os.path.join(os.path.dirname(folder), entry.name[: -len(ending)])
                found[module[len(home) + 1 :]] = entry.path
            elif entry.is_dir():
                folders.append(entry.path)
    return found


def _code(path: str) -> bytes:
    """Return the code of a compiled module.

    Raises:
        ValueError, EOFError, TypeError: The file is not complete, or another Python compiled the module.
    """
    with open(path, "rb") as file:
        data = file.read()
    if data[: len(MAGIC_NUMBER)] != MAGIC_NUMBER:
        raise ValueError(path)
    marshal.loads(data[_HEAD:])
    return data[_HEAD:]


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
