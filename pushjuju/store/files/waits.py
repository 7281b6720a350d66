"""Waiting for a locked file; after a second the user sees which process holds the lock."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import sqlite3

TOLD_AFTER_S = 1.0  # a shorter wait is not worth a message
_LOCKS = Path("/proc/locks")
_WAL_WRITER = 120  # the byte of the -shm file that the one writer locks (sqlite.org/walformat.html)
_PENDING = 0x40000000  # from this byte on the locks of the file itself are (sqlite.org/lockingv3.html)
_EXCLUSIVE = "WRITE"

R = TypeVar("R")


def _on_stderr(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


_tell: Callable[[str], None] = _on_stderr


@contextmanager
def told_by(tell: Callable[[str], None]) -> Iterator[None]:
    """Let a console say what is waited for, within the block; else it goes to stderr as it is."""
    global _tell  # noqa: PLW0603 - a process has one console, and a store knows of none
    before, _tell = _tell, tell
    try:
        yield
    finally:
        _tell = before


def patiently(connection: sqlite3.Connection, path: Path, most_s: float, work: Callable[[], R]) -> R:
    """Return the result of work that needs a lock; a wait of more than a second is reported to the user.

    Args:
        connection: The connection, with a busy time-out of a second, or `most_s` if that is less.
        path: The store.
        most_s: The longest wait in all.
        work: Takes the lock before it does anything else, so that it can be tried again from the start.
    """
    try:
        return work()
    except Exception as error:  # the process that has a connection has loaded sqlite3
        rest = most_s - TOLD_AFTER_S
        if not is_busy(error) or rest <= 0:
            raise
    _tell(f"Waiting for the store {path}: {holder(path)} has it")
    connection.execute(f"PRAGMA busy_timeout = {rest * 1000:.0f}")
    try:
        return work()
    finally:
        connection.execute(f"PRAGMA busy_timeout = {TOLD_AFTER_S * 1000:.0f}")


def is_busy(error: Exception) -> bool:
    """Return True when SQLite says that another process holds the lock."""
    sqlite3 = sys.modules.get("sqlite3")  # loaded by whoever has a connection
    if sqlite3 is None or not isinstance(error, sqlite3.Error):
        return False
    return "locked" in str(error) or "busy" in str(error)


def holder(path: Path) -> str:
    """Return who has a store locked, as `process 123 (pushjuju)`; `another process` where that is unknown.

    The system's list of locks tells. The files must not be opened for that: closing one would take away the
    locks that SQLite has on it for this process. Command lines are not shown: they may hold secrets.
    """
    try:
        lines = _LOCKS.read_text().splitlines()
    except OSError:
        return "another process"
    numbers = sorted({int(line.split()[4]) for line in lines if _holds(line, path)})
    return " and ".join(_named(number) for number in numbers if number > 0) or "another process"


def _holds(line: str, path: Path) -> bool:
    """Return True when a line of /proc/locks is a lock for which writers of a store wait."""
    words = line.split()
    if len(words) != 8 or words[1] != "POSIX" or words[3] != _EXCLUSIVE:
        return False  # among them those that wait themselves: they have an arrow in front
    inode, first = words[5].rpartition(":")[2], int(words[6])
    if inode == _inode(path.with_name(f"{path.name}-shm")):
        return first <= _WAL_WRITER and (words[7] == "EOF" or int(words[7]) >= _WAL_WRITER)
    return inode == _inode(path) and first >= _PENDING


def _inode(path: Path) -> str:
    try:
        return str(path.stat().st_ino)
    except OSError:
        return ""


def _named(number: int) -> str:
    try:
        name = Path(f"/proc/{number}/comm").read_text().strip()
    except OSError:
        return f"process {number}"
    return f"process {number} ({name})" if name.isprintable() else f"process {number}"
