"""asyncssh, loaded without the programs that its import starts.

asyncssh looks for two optional libraries with `ctypes.util.find_library`, which runs `ldconfig`, `gcc` and
`ld` with the PATH of the user, in the folder where the command was typed. That may be a charm's tree, of
which nothing may run; and every command would wait for these programs.
"""

from __future__ import annotations

import ctypes.util
import sys
from pathlib import Path

_FOLDERS = (
    f"lib/{getattr(sys.implementation, '_multiarch', 'none')}",  # Debian
    "lib64",
    "lib",
)


def _find_library(name: str) -> str | None:
    """Return the path of a shared library, or None when it is not found."""
    paths = (path for folder in _FOLDERS for path in sorted(Path("/usr").glob(f"{folder}/lib{name}.so.*")))
    return next(map(str, paths), None)


_original = ctypes.util.find_library
if sys.platform == "linux":
    ctypes.util.find_library = _find_library
try:
    import asyncssh
finally:
    ctypes.util.find_library = _original

__all__ = ["asyncssh"]
