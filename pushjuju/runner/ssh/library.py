"""asyncssh, loaded without the programs that its import starts.

asyncssh looks for two optional libraries with `ctypes.util.find_library`, which runs `ldconfig`, `gcc` and
`ld` with the PATH of the user, in the folder where the command was typed. That may be a charm's tree, of
which nothing may run; and every command would wait for these programs.
"""

from __future__ import annotations

import contextlib
import ctypes.util
import sys
from pathlib import Path

_FOLDERS = ("local/lib", "lib/*-linux-*", "lib64", "lib")


def _find_library(name: str) -> str | None:
    """Return the path of a shared library, or None when there is none that can be loaded."""
    for folder in _FOLDERS:
        for path in sorted(Path("/usr").glob(f"{folder}/lib{name}.so.*")):
            with contextlib.suppress(OSError):  # made for another kind of processor
                ctypes.CDLL(str(path))
                return str(path)
    return None


_original = ctypes.util.find_library
if sys.platform == "linux":
    ctypes.util.find_library = _find_library
try:
    import asyncssh
finally:
    ctypes.util.find_library = _original

__all__ = ["asyncssh"]
