"""Finds calls that block the event loop: waits in the thread of a loop that runs.

    with calls_that_block() as found:
        await provider.start(request)
    assert found == []

It looks at what Python tells auditors, so it does not depend on how fast this computer is: `time.sleep`,
connections of sockets that wait, host names, processes and HTTP requests. Files are not looked at.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, SupportsIndex

_EVENTS = frozenset(
    {
        "http.client.connect",
        "os.posix_spawn",
        "os.system",
        "socket.connect",
        "socket.getaddrinfo",
        "subprocess.Popen",
        "urllib.Request",
    }
)
_LIBRARY = asyncio.__file__.rpartition("/asyncio/")[0]  # of Python itself
_listeners: list[list[str]] = []
_state = {"installed": False}


@contextmanager
def calls_that_block() -> Iterator[list[str]]:
    """Collect the calls that block a loop while the block runs: `what in file:line function`."""
    if not _state["installed"]:
        sys.addaudithook(_audit)  # it cannot be taken away again
        _state["installed"] = True
    found: list[str] = []
    sleep = time.sleep

    def heard(seconds: float | SupportsIndex) -> None:
        if seconds:
            _note("time.sleep", sys._getframe(1))
        sleep(seconds)

    _listeners.append(found)
    time.sleep = heard
    try:
        yield found
    finally:
        time.sleep = sleep
        _listeners.remove(found)


def _audit(event: str, args: tuple[Any, ...]) -> None:
    if not _listeners or event not in _EVENTS:
        return
    if event == "socket.connect" and args[0].gettimeout() == 0.0:
        return  # asyncio's own, which do not wait
    _note(event, sys._getframe(1))


def _note(event: str, frame: FrameType | None) -> None:
    """Note who waits, if a loop runs in this thread and it is not asyncio itself that asks."""
    if asyncio._get_running_loop() is None:
        return
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(f"{_LIBRARY}/asyncio/"):
            return
        if not name.startswith(_LIBRARY) or "site-packages" in name:
            break
        frame = frame.f_back
    if frame is not None:
        code = frame.f_code
        for found in _listeners:
            found.append(f"{event} in {code.co_filename}:{frame.f_lineno} {code.co_name}")
