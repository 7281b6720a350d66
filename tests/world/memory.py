"""Where files of tests cost no wait for a disk: for tests that end processes, and never cut the power."""

from __future__ import annotations

from pathlib import Path

_SHARED = Path("/dev/shm")
MEMORY = _SHARED if _SHARED.is_dir() else None  # None: the usual place of temporary folders
