"""The controller processes that wait for work on this computer.

A process that works a key is named in that key's lease. One that waits for what becomes due holds no lease:
it writes its name into a file, and a name counts as long as that process lives.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from pushjuju.store.files.private import explained
from pushjuju.store.queue import owner_alive, process_owner

_FILE = "processes"


def enlist(root: Path) -> None:
    """Name this process as one that works what becomes due for the controller of a directory."""
    path = root / _FILE
    with explained(path), os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        names = [*_living(stream.read()), process_owner()]
        stream.seek(0)
        stream.write("".join(f"{name}\n" for name in dict.fromkeys(names)))
        stream.truncate()  # last: a full disk keeps the names of others


def waiting(root: Path) -> str:
    """Return a living process that works what becomes due; empty when no such process runs."""
    try:
        names = _living((root / _FILE).read_text())
    except (OSError, UnicodeDecodeError):
        return ""
    return names[0] if names else ""


def _living(text: str) -> list[str]:
    """Return the processes of a list that live; those of another computer are not known to."""
    host = os.uname().nodename
    return [name for name in text.split() if name.startswith(f"{host}:") and owner_alive(name)]
