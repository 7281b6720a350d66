"""asyncssh, loaded without the programs that its import starts, and without what it cannot use.

asyncssh looks for two optional libraries with `ctypes.util.find_library`, which runs `ldconfig`, `gcc` and
`ld` with the PATH of the user, in the folder where the command was typed. That may be a charm's tree, of
which nothing may run; and every command would wait for these programs.

Where pyOpenSSL is missing, asyncssh does without X.509 certificates, but only after it has imported all that
`cryptography` knows of them.
"""

from __future__ import annotations

import ctypes.util
import importlib.util
import os
import sys
from functools import cache

_FOLDERS = (
    f"/usr/lib/{getattr(sys.implementation, '_multiarch', 'none')}",  # Debian
    "/usr/lib64",
    "/usr/lib",
)
_X509 = "asyncssh.crypto.x509"


@cache
def _names(folder: str) -> list[str]:
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else []  # noqa: PTH208, PTH112 - start-up time


def _find_library(name: str) -> str | None:
    """Return the path of a shared library, or None when it is not found."""
    paths = (f"{folder}/{file}" for folder in _FOLDERS for file in _names(folder))
    return next((path for path in paths if path.rpartition("/")[2].startswith(f"lib{name}.so.")), None)


_original = ctypes.util.find_library
if sys.platform == "linux":
    ctypes.util.find_library = _find_library
if importlib.util.find_spec("OpenSSL") is None:
    sys.modules[_X509] = None  # type: ignore[assignment] # lets the import of this module fail
try:
    import asyncssh
finally:
    ctypes.util.find_library = _original
    if sys.modules.get(_X509, ...) is None:
        del sys.modules[_X509]

__all__ = ["asyncssh"]
