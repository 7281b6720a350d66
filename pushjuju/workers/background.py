"""A controller process in the background, started by a command that does not wait.

Each controller has at most one such process. The process holds a lock file, does due work, waits a little
for more work, and ends by itself; `serving` does the work.
"""

from __future__ import annotations

import fcntl
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO

from pushjuju.core import children
from pushjuju.store.datadir import ControllerDir

_TRY_AGAIN_S = 0.01


@contextmanager
def only_one(controller: ControllerDir, *, tries: int = 1) -> Iterator[bool]:
    """Hold the lock of the background process; yield False when another process holds the lock.

    Args:
        tries: More than 1 for a process that is going to work, since `running` holds the lock for a moment.
    """
    path = controller.root / "background.lock"
    with path.open("a") as stream:
        free = _try_lock(stream)
        while not free and (tries := tries - 1) > 0:
            time.sleep(_TRY_AGAIN_S)
            free = _try_lock(stream)
        yield free


def _try_lock(stream: IO[str]) -> bool:
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def running(controller: ControllerDir) -> bool:
    """Return True when a background process works for a controller."""
    with only_one(controller) as free:
        return not free


def ensure(controller: ControllerDir, data: str, environ: Mapping[str, str]) -> None:
    """Start a background process unless one runs; its own session lets it outlive the command."""
    if running(controller):
        return
    controller.background_log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    argv = [
        sys.executable,
        "-m",
        "pushjuju.cli",
        "controller",
        "run",
        "--until-idle",
        "--controller",
        controller.name,
    ]
    with controller.background_log.open("ab") as log:
        environ = {**environ, "PUSHJUJU_DATA": data}
        children.start(argv, environ=environ, stdout=log, stderr=log, own_session=True)
