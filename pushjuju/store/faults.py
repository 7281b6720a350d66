"""Explains SQLite's errors to users: busy, full, read-only, damaged."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import TypeGuard

from pushjuju.core.errors import StoreBusy, StoreDamaged, StoreError
from pushjuju.store.files.waits import is_busy

_LEAST_ROOM = 64 * 1024

FROM_COPY = "pushjuju restore-backup FILE    restores it from a copy"


def is_of_the_file(error: BaseException) -> TypeGuard[sqlite3.Error]:
    """Return True when the file is the cause (full, locked, damaged), not the statement."""
    return isinstance(error, sqlite3.OperationalError) or type(error) is sqlite3.DatabaseError


def explain_error(error: sqlite3.Error, path: Path) -> StoreError:
    """Return the error for a fault of the file, with the next step for the user."""
    text = str(error)
    if is_busy(error):
        return StoreBusy(
            f"the store {path} is held by another process",
            hint="wait for the other pushjuju to end, then run the command again",
        )
    if is_full(error, path):
        return StoreError(
            f"the store {path} cannot be written: the disk is full",
            detail=text,
            hint="free some space on that disk, then run the command again",
        )
    if "readonly" in text or ("unable to open" in text and _is_read_only(path)):
        return StoreError(
            f"the store {path} cannot be written: it is read-only",
            detail=text,
            hint="check who owns the file, and whether its disk is mounted read-only",
        )
    text = f"the store {path} cannot be used: {text}"
    if "malformed" in text or "not a database" in text:
        return StoreDamaged(text, hint=FROM_COPY)
    return StoreError(text)


def _is_read_only(path: Path) -> bool:
    """Return True when no file can be created beside a store: SQLite needs such files even to read."""
    return path.exists() and not os.access(path.parent, os.W_OK)


def is_full(error: sqlite3.Error, path: Path) -> bool:
    """Return True when the disk is full for SQLite: for a store, or for the files beside the store."""
    text = str(error)
    return "full" in text or ("disk I/O" in text and _no_room(path))


def _no_room(path: Path) -> bool:
    """Return True when the disk of a file has no room for the smallest write of SQLite."""
    try:
        disk = os.statvfs(path.parent)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < _LEAST_ROOM
