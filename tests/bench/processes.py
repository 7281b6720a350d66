"""Whole processes, timed from outside."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

_ENTRY = "import sys; from pushjuju.cli.main import main; sys.argv[0] = 'pushjuju'; main()"


def pushjuju(*words: str) -> list[str]:
    """Return the command line of a pushjuju as its console script starts it."""
    script = Path(sys.executable).with_name("pushjuju")
    return [str(script), *words] if script.exists() else [sys.executable, "-c", _ENTRY, *words]


def wall(
    argv: Sequence[str],
    *,
    times: int,
    env: Mapping[str, str] | None = None,
    before: Callable[[], object] = lambda: None,
) -> list[float]:
    """Run a command some times after one run that warms the disk cache; return milliseconds of each.

    Args:
        before: Called before each run, outside the measurement.
    """
    found = []
    for _ in range(times + 1):
        before()
        begin = time.perf_counter()
        done = subprocess.run(
            argv, env={**os.environ, **(env or {})}, capture_output=True, text=True, check=False
        )
        found.append((time.perf_counter() - begin) * 1000)
        assert done.returncode == 0, done.stderr
    return found[1:]
