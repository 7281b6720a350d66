"""What a user's cache of charms keeps: what was used last, up to a size.

The time of a file's last use is its own modification time; the newest file says what "now" is. What was used
within the last hour stays whatever the size: another process may be about to read it.
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
_PARTS_S = 30 * 24 * _HOUR_S  # downloads that were not continued
TREES = 30  # folders of packages that are kept


def limit(environ: Mapping[str, str]) -> int:
    """Return how many bytes the archives of a cache may have."""
    text = environ.get(SIZE_KEY, "")
    if text and not (text.isascii() and text.isdigit()):
        raise NotValid(f"{SIZE_KEY} must be a number of megabytes, not {text!r}")
    return int(text or DEFAULT_MB) << 20


def used(path: Path) -> None:
    """Note that something of the cache is used now."""
    with contextlib.suppress(OSError):
        os.utime(path)


def prune_files(folder: Path, most: int) -> list[str]:
    """Delete the archives that were not used for longest, until all of them fit; return their names.

    Args:
        folder: With archives and halves of them.
        most: Bytes.
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
    """Delete the folders of packages that were not used for longest; return their names."""
    found = sorted(_entries(folder))
    now = max((time for time, _, _ in found), default=0.0)
    old = [path for time, _, path in found[: max(0, len(found) - most)] if now - time > _HOUR_S]
    for path in old:
        shutil.rmtree(path, ignore_errors=True)
    return [path.name for path in old]


def _entries(folder: Path) -> list[tuple[float, int, Path]]:
    """Return last use, size and path of everything in a folder; what goes meanwhile is left out."""
    found = []
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            with contextlib.suppress(OSError):
                known = path.lstat()
                found.append((known.st_mtime, known.st_size, path))
    return found
