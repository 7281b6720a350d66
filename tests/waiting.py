"""Waiting in tests: for what must happen, however long a busy machine takes, and for what must not."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

LOOK_S = 0.01
LIMIT_S = 60.0  # only a test that fails waits as long


async def until(holds: Callable[[], object], what: str = "it did not happen", limit: float = LIMIT_S) -> None:
    """Wait until something holds.

    Raises:
        AssertionError: It does not within the limit.
    """
    end = time.monotonic() + limit
    while not holds():
        assert time.monotonic() < end, what
        await asyncio.sleep(LOOK_S)


def comes(holds: Callable[[], object], what: str = "it did not happen", limit: float = LIMIT_S) -> None:
    """Wait until something holds, without an event loop; see `until`."""
    end = time.monotonic() + limit
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(LOOK_S)


def remains(holds: Callable[[], object], seconds: float) -> None:
    """Give something that must not happen the time to happen, without an event loop; see `stays`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert holds(), "it happened"
        time.sleep(LOOK_S)


async def stays(holds: Callable[[], object], seconds: float) -> None:
    """Give something that must not happen the time to happen.

    Raises:
        AssertionError: It does not hold all the while.
    """
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert holds(), "it happened"
        await asyncio.sleep(LOOK_S)


def paths_below(folder: Path) -> Iterator[Path]:
    """Yield the paths below a folder while others change it: unlike `rglob`, folders may vanish meanwhile."""
    for top, folders, files in os.walk(folder):
        yield from (Path(top, name) for name in (*folders, *files))
