"""The list of controller processes on this computer that wait for due work.

The lease of a key names the process that works on it. A process that waits for due work holds no lease, so it
adds its name to a file; a name counts as long as its process lives.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from pushjuju.store.files.private import explained
from pushjuju.store.queue import owner_alive, process_owner

_FILE = "processes"


def enlist(root: Path) -> None:
    """Add this process to the list of a controller's directory."""
    path = root / _FILE
    with explained(path), os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        names = [*_living(stream.read()), process_owner()]
        stream.seek(0)
        stream.write("".join(f"{name}\n" for name in dict.fromkeys(names)))
        stream.truncate()  # last, so that a full disk does not lose other names


def waiting(root: Path) -> str:
    """Return the name of a living process that does the work that becomes due, or ""."""
    try:
        names = _living((root / _FILE).read_text())
    except (OSError, UnicodeDecodeError):
        return ""
    return names[0] if names else ""


def _living(text: str) -> list[str]:
    """Return the names of living processes on this computer."""
    host = os.uname().nodename
    return [name for name in text.split() if name.startswith(f"{host}:") and owner_alive(name)]
