"""Stores whose disk is full: read all the same.

To read a store in WAL mode SQLite makes files beside it that processes share, for which there is no room. A
process that is alone with the store needs none of them (sqlite.org/wal.html, "Use of WAL Without
Shared-Memory"). So it is alone for as long as it takes to copy the store into memory, and reads the copy.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

Stamp = tuple[tuple[int, int], ...]
_PATIENCE_S = 1.0  # others who copy do so for a moment


def copied(path: Path) -> tuple[sqlite3.Connection, Stamp]:
    """Return a copy of a store in memory, and what the store's files looked like.

    Raises:
        sqlite3.Error: It cannot be read, or another process has it open.
    """
    copy = sqlite3.connect(":memory:", isolation_level=None, cached_statements=512)
    try:
        copy.row_factory = sqlite3.Row
        return copy, copy_into(copy, path)
    except BaseException:
        copy.close()
        raise


def copy_into(copy: sqlite3.Connection, path: Path) -> Stamp:
    """Replace all of a copy by what the store holds now; return what the store's files look like.

    Raises:
        sqlite3.Error: It cannot be read, or another process has it open.
    """
    place = f"{path.absolute().as_uri()}?mode=rw"
    source = sqlite3.connect(place, uri=True, isolation_level=None, timeout=_PATIENCE_S)
    try:
        source.execute("PRAGMA locking_mode = EXCLUSIVE")
        source.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()  # alone from here on
        source.backup(copy)
    finally:
        source.close()  # what it moves out of the WAL counts for the stamp
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
