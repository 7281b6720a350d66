"""Finds calls that block the event loop of the thread that makes them.

    with calls_that_block() as found:
        await provider.start(request)
    assert found == []

Python's audit events report the calls, so the speed of the computer does not matter: `time.sleep`,
connections of blocking sockets, host name lookups, processes and HTTP requests. Calls on files are not
reported.
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
        "http.client.connect", "os.posix_spawn", "os.system", "socket.connect", "socket.getaddrinfo",
        "subprocess.Popen", "urllib.Request",
    }
)  # fmt: skip
_LIBRARY = asyncio.__file__.rpartition("/asyncio/")[0]  # modules of Python itself
_listeners: list[list[str]] = []
_state = {"installed": False}


@contextmanager
def calls_that_block() -> Iterator[list[str]]:
    """Collect the blocking calls of the block, as `what in file:line function`."""
    if not _state["installed"]:
        sys.addaudithook(_audit)  # Python cannot remove an audit hook
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
        return  # asyncio's own calls do not wait
    _note(event, sys._getframe(1))


def _note(event: str, frame: FrameType | None) -> None:
    """Note a blocking call, when the thread runs an event loop and asyncio itself did not make the call."""
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
