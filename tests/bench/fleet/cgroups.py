"""Processor time and memory of everything that a tool starts, by control groups of either version."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")


class Group:
    """A control group; its processes are counted together."""

    def __init__(self, name: str) -> None:
        unified = ROOT / "unified" if (ROOT / "unified").is_dir() else ROOT
        self._cpu = unified / name
        self._memory = ROOT / "memory" / name if (ROOT / "memory").is_dir() else self._cpu
        for folder in {self._cpu, self._memory}:
            folder.mkdir(exist_ok=True)

    def enter(self) -> None:
        """Move this process in; for the moment between fork and exec."""
        for folder in {self._cpu, self._memory}:
            (folder / "cgroup.procs").write_text(str(os.getpid()))

    def cpu_ms(self) -> float:
        """Return the processor time so far, in milliseconds."""
        usage = dict(line.split() for line in (self._cpu / "cpu.stat").read_text().splitlines())
        return int(usage["usage_usec"]) / 1000

    def peak_mb(self) -> float:
        """Return the most memory that was in use at once, in megabytes; 0 where nobody counts it."""
        for name in ("memory.peak", "memory.max_usage_in_bytes"):
            if (self._memory / name).exists():
                return int((self._memory / name).read_text()) / 1e6
        return 0.0

    def kill(self) -> None:
        """End every process in it."""
        deadline = time.monotonic() + 10
        while pids := (self._cpu / "cgroup.procs").read_text().split():
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
            if time.monotonic() > deadline:
                raise TimeoutError(f"processes of {self._cpu.name} do not end: {pids}")
            time.sleep(0.05)

    def remove(self) -> None:
        """Delete it; it must be empty."""
        for folder in {self._cpu, self._memory}:
            with contextlib.suppress(FileNotFoundError):
                folder.rmdir()
