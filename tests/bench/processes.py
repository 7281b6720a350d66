"""Whole processes, timed from outside."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_ENTRY = "import sys; from pushjuju.cli.entry import main; sys.argv[0] = 'pushjuju'; main()"


def pushjuju(*words: str) -> list[str]:
    """Return the command line of a pushjuju as its console script starts it."""
    script = Path(sys.executable).with_name("pushjuju")
    return [str(script), *words] if script.exists() else [sys.executable, "-c", _ENTRY, *words]


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a process.

    Attributes:
        wall: Milliseconds from its start to its end.
        cpu: Milliseconds of processor time, its own and the system's for it.
        peak: MiB of memory at most, where it was asked for.
    """

    wall: float
    cpu: float
    peak: float = 0.0


def runs(
    argv: Sequence[str],
    *,
    times: int,
    env: Mapping[str, str] | None = None,
    before: Callable[[], object] = lambda: None,
) -> list[Run]:
    """Run a command some times after one run that warms the disk cache and compiles what it imports.

    Args:
        before: Called before each run, outside the measurement.
    """
    found = []
    for _ in range(times + 1):
        before()
        used, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run(
            argv, env={**environment(), **(env or {})}, capture_output=True, text=True, check=False
        )
        elapsed, now = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
        assert done.returncode == 0, done.stderr
        cpu = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
        found.append(Run(elapsed * 1000, cpu * 1000))
    return found[1:]


# A process counts the memory of the process that it was before, so a small process starts what is weighed.
_SCALES = """
import os, sys, time
begin = time.perf_counter()
quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet)
_, status, used = os.wait4(child, 0)
print(time.perf_counter() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def weighed(argv: Sequence[str], *, times: int, env: Mapping[str, str] | None = None) -> list[Run]:
    """Run a command as `runs` does, and weigh its memory."""
    full, found = {**environment(), **(env or {})}, []
    for _ in range(times + 1):
        words = [sys.executable, "-I", "-S", "-c", _SCALES, *argv]
        done = subprocess.run(words, env=full, capture_output=True, text=True, check=True)
        elapsed, cpu, peak = map(float, done.stdout.split())
        found.append(Run(elapsed * 1000, cpu * 1000, peak / 1024))
    return found[1:]


def wall(argv: Sequence[str], *, times: int, env: Mapping[str, str] | None = None) -> list[float]:
    """Return the milliseconds of some runs of a command."""
    return [run.wall for run in runs(argv, times=times, env=env)]


def cpu_note(samples: Sequence[Run]) -> str:
    """Return what a figure of whole processes says beside it."""
    return f"cold process; {statistics.median(run.cpu for run in samples):.0f} ms of processor time"


def environment() -> dict[str, str]:
    """Return our environment with a place for compiled modules: an installed pushjuju has them."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {"PYTHONPYCACHEPREFIX": f"{tempfile.gettempdir()}/pushjuju-bench-{os.getuid()}", **kept}
