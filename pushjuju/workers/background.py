"""A controller process in the background: started when a command does not wait.

One per controller: a lock file says that it runs. It works what is due, lingers a little, and ends by itself.
"""

from __future__ import annotations

import asyncio
import fcntl
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO

from pushjuju.core import children
from pushjuju.services.entities.basis.context import Context
from pushjuju.store import processes
from pushjuju.store.datadir import ControllerDir
from pushjuju.workers.driver import Driver
from pushjuju.workers.events import Tell, silent

LINGER_S = 10.0  # how long a background process waits for more work
_TRIES = 20
_TRY_AGAIN_S = 0.01


@contextmanager
def only_one(controller: ControllerDir, *, tries: int = 1) -> Iterator[bool]:
    """Hold the lock of the background process; yield False when another process holds the lock.

    Args:
        tries: More than 1 for a process that wants to stay: `running` holds the lock for a moment.
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
    """Start a background process unless one runs; it has its own session and outlives us."""
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


async def serve(
    ctx: Context, *, tell: Tell = silent, warn: Callable[[str], None] | None = None, until_idle: bool = False
) -> bool:
    """Work everything of a controller until told to stop (SIGTERM, SIGINT), or until idle.

    A process that works for ever may run beside others; one that ends when idle leaves the work to another.

    Returns:
        False when another process works for the controller, so this one has nothing to do.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if not until_idle:
        processes.enlist(ctx.controller.root)
        with only_one(ctx.controller, tries=_TRIES):
            await Driver(ctx, tell=tell, warn=warn).run(stop)
        return True
    return await _serve_until_idle(ctx, stop, tell, warn)


async def _serve_until_idle(
    ctx: Context, stop: asyncio.Event, tell: Tell, warn: Callable[[str], None] | None
) -> bool:
    """Hold the lock while there is work; look once more after letting it go.

    A command that comes while the lock is held relies on this process, also in the last moment.
    """
    while not stop.is_set():
        with only_one(ctx.controller, tries=_TRIES) as free:
            if not free:
                return False
            processes.enlist(ctx.controller.root)
            await Driver(ctx, tell=tell, warn=warn).run(stop, idle_exit_s=LINGER_S)
        if not Driver(ctx).anything_due():
            return True
    return True
