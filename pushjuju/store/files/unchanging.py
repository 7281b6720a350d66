"""Stores that nothing can change while they are read: on a file system that is read-only.

SQLite writes files beside a store in WAL mode also to read it, and locks them against others. On a read-only
file system, neither is needed (sqlite.org/uri.html, `immutable`). A mount that is read-only is not enough:
the same file system may be mounted elsewhere for writing, and a server may change what its clients cannot.
"""

from __future__ import annotations

import os
from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")
_LOCAL = frozenset(
    {"btrfs", "erofs", "ext2", "ext3", "ext4", "f2fs", "iso9660", "squashfs", "tmpfs", "udf", "vfat", "xfs"}
)
_UNREAD = ("-wal", "-journal")  # what is in there would not be read


def is_unchanging(path: Path) -> bool:
    """Return True when no process on this computer can write to a store, and all its data is in one file."""
    if any(_size(path.with_name(path.name + ending)) for ending in _UNREAD):
        return False
    return _is_read_only(path)


def uri(path: Path) -> str:
    """Return the URI by which SQLite opens a store to copy: with WAL's files unless the disk is read-only."""
    place = path.absolute().as_uri()
    return f"{place}?mode=ro&immutable=1" if is_unchanging(path) else f"{place}?mode=rw"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _is_read_only(path: Path) -> bool:
    """Return True when the file system itself is read-only, not only one mount of it."""
    try:
        device, lines = path.stat().st_dev, _MOUNTS.read_text().splitlines()
    except OSError:
        return False
    number = f"{os.major(device)}:{os.minor(device)}"
    found = [line for line in lines if line.split(" ", 3)[2] == number]
    return bool(found) and all(_says_so(line) for line in found)


def _says_so(line: str) -> bool:
    """Read a line of mountinfo: `... - TYPE SOURCE OPTIONS`, with the options of the file system."""
    kind, _, options = line.rpartition(" - ")[2].split(" ", 2)
    return kind in _LOCAL and "ro" in options.split(",")
