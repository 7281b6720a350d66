"""Stores on read-only file systems, which nothing can change while they are read.

SQLite needs files beside a store in WAL mode even to read it, and locks them against other processes. On a
read-only file system, neither is needed (sqlite.org/uri.html, `immutable`). A read-only mount is not enough:
the same file system may be mounted elsewhere for writing, and a server may change what its clients cannot.
"""

from __future__ import annotations

import os
from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")
_LOCAL = frozenset(
    {"btrfs", "erofs", "ext2", "ext3", "ext4", "f2fs", "iso9660", "squashfs", "tmpfs", "udf", "vfat", "xfs"}
)
_UNREAD = ("-wal", "-journal")  # SQLite would not read their content


def is_unchanging(path: Path) -> bool:
    """Return True when no process here can write to a store, and all its data is in the main file."""
    if any(_size(path.with_name(path.name + ending)) for ending in _UNREAD):
        return False
    return _is_read_only(path)


def uri(path: Path) -> str:
    """Return the URI with which SQLite opens a store to copy it."""
    place = path.absolute().as_uri()
    return f"{place}?mode=ro&immutable=1" if is_unchanging(path) else f"{place}?mode=rw"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _is_read_only(path: Path) -> bool:
    """Return True when the file system is read-only itself, and not only one of its mounts."""
    try:
        device, lines = path.stat().st_dev, _MOUNTS.read_text().splitlines()
    except OSError:
        return False
    number = f"{os.major(device)}:{os.minor(device)}"
    found = [line for line in lines if line.split(" ", 3)[2] == number]
    return bool(found) and all(_says_so(line) for line in found)


def _says_so(line: str) -> bool:
    """Return True when a line of mountinfo (`... - TYPE SOURCE OPTIONS`) shows a read-only file system."""
    kind, _, options = line.rpartition(" - ")[2].split(" ", 2)
    return kind in _LOCAL and "ro" in options.split(",")
