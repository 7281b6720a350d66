"""Ends the background processes that commands of a test have started."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from tests.waiting import comes


def end(data: Path) -> None:
    """End the processes that work with a data directory, and wait until they are gone."""
    found = [pid for pid in Path("/proc").glob("[0-9]*") if _works_with(pid, data)]
    for pid in found:
        os.kill(int(pid.name), signal.SIGTERM)
    comes(lambda: not any(_works_with(pid, data) for pid in found))


def _works_with(process: Path, data: Path) -> bool:
    try:
        return f"PUSHJUJU_DATA={data}".encode() in (process / "environ").read_bytes().split(b"\0")
    except OSError:  # it has ended
        return False
