"""Limits the user's cache of charms: the least recently used files are deleted first.

A file's modification time is its last use, and the newest file of a folder stands for the present time. Files
that were used within the last hour are kept at any size, because another process may be about to read them.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from pushjuju.core.errors import NotValid

SIZE_KEY = "PUSHJUJU_CACHE_MB"
DEFAULT_MB = 8192
PART = ".part"
_HOUR_S = 3600.0
_PARTS_S = 30 * 24 * _HOUR_S  # age at which partial downloads are deleted
TREES = 30  # folders of installed packages that are kept


def limit(environ: Mapping[str, str]) -> int:
    """Return the limit of the archives in a cache, in bytes."""
    text = environ.get(SIZE_KEY, "")
    if text and not (text.isascii() and text.isdigit()):
        raise NotValid(f"{SIZE_KEY} must be a number of megabytes, not {text!r}")
    return int(text or DEFAULT_MB) << 20


def used(path: Path) -> None:
    """Record that a file or folder of the cache is used now."""
    with contextlib.suppress(OSError):
        os.utime(path)


def prune_files(folder: Path, most: int) -> list[str]:
    """Delete the least recently used archives until all fit, and old partial downloads; return their names.

    Args:
        most: The limit of all archives, in bytes.
    """
    found = _entries(folder)
    now = max((time for time, _, _ in found), default=0.0)
    whole = sum(size for _, size, _ in found)
    gone = []
    for time, size, path in sorted(found):
        age = now - time
        stale = path.name.endswith(PART) and age > _PARTS_S
        if not stale and (whole <= most or age <= _HOUR_S):
            continue
        with contextlib.suppress(OSError):
            path.unlink()
            whole -= size
            gone.append(path.name)
    return gone


def prune_trees(folder: Path, most: int = TREES) -> list[str]:
    """Delete the least recently used folders of installed packages; return their names."""
    found = sorted(_entries(folder))
    now = max((time for time, _, _ in found), default=0.0)
    old = [path for time, _, path in found[: max(0, len(found) - most)] if now - time > _HOUR_S]
    for path in old:
        shutil.rmtree(path, ignore_errors=True)
    return [path.name for path in old]


def _entries(folder: Path) -> list[tuple[float, int, Path]]:
    """Return (last use, size, path) of each entry of a folder; skip entries that are being deleted."""
    found = []
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            with contextlib.suppress(OSError):
                known = path.lstat()
                found.append((known.st_mtime, known.st_size, path))
    return found
