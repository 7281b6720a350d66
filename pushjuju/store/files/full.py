"""Reads stores whose disk is full.

To read a store in WAL mode, SQLite makes files beside the store that processes share, for which a full disk
has no room. A process with exclusive access needs no such files (sqlite.org/wal.html, "Use of WAL Without
Shared-Memory"). So this module locks the store while it copies the store into memory, and reads the copy.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

Stamp = tuple[tuple[int, int], ...]
_PATIENCE_S = 1.0  # seconds to wait for other processes that copy


def copied(path: Path) -> tuple[sqlite3.Connection, Stamp]:
    """Return a copy of a store in memory, and the stamp of the store's files.

    Raises:
        sqlite3.Error: The store cannot be read, or another process has it open.
    """
    copy = sqlite3.connect(":memory:", isolation_level=None, cached_statements=512)
    try:
        copy.row_factory = sqlite3.Row
        return copy, copy_into(copy, path)
    except BaseException:
        copy.close()
        raise


def copy_into(copy: sqlite3.Connection, path: Path) -> Stamp:
    """Replace the content of a copy by the store's present content; return the stamp of the store's files.

    Raises:
        sqlite3.Error: The store cannot be read, or another process has it open.
    """
    place = f"{path.absolute().as_uri()}?mode=rw"
    source = sqlite3.connect(place, uri=True, isolation_level=None, timeout=_PATIENCE_S)
    try:
        source.execute("PRAGMA locking_mode = EXCLUSIVE")
        source.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()  # takes the exclusive lock
        source.backup(copy)
    finally:
        source.close()  # may move data out of the WAL, which changes the stamp
    return stamp(path)


def stamp(path: Path) -> Stamp:
    """Return a value that changes when any process writes to a store."""
    return tuple(_of(path.with_name(path.name + ending)) for ending in ("", "-wal"))


def _of(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size) if found.st_size else (0, 0)
