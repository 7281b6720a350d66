"""Waits for a store that is locked or away; after a second, the user sees what the process waits for."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pushjuju.core.errors import StoreAway

if TYPE_CHECKING:
    import sqlite3

TOLD_AFTER_S = 1.0  # a shorter wait is not worth a message
MOST_AWAY_S = 30.0  # seconds that a command waits for a server that does not answer
_LOCKS = Path("/proc/locks")
_WAL_WRITER = 120  # the byte of the -shm file that the one writer locks (sqlite.org/walformat.html)
_PENDING = 0x40000000  # first byte of the main file's locks (sqlite.org/lockingv3.html)
_EXCLUSIVE = "WRITE"

R = TypeVar("R")


def _on_stderr(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


_tell: Callable[[str], None] = _on_stderr


@contextmanager
def told_by(tell: Callable[[str], None]) -> Iterator[None]:
    """Report waits through `tell` within the block, instead of printing them on stderr."""
    global _tell  # noqa: PLW0603 - the store knows no console, and a process has only one
    before, _tell = _tell, tell
    try:
        yield
    finally:
        _tell = before


def patiently(connection: sqlite3.Connection, path: Path, most_s: float, work: Callable[[], R]) -> R:
    """Return the result of work that needs a lock; report a wait of more than a second to the user.

    Args:
        connection: The connection; its busy time-out is a second, or `most_s` if that is less.
        path: The store.
        most_s: The longest wait in all.
        work: Takes the lock as its first step, so that it can be repeated.
    """
    try:
        return work()
    except Exception as error:  # not sqlite3.Error: sqlite3 is imported late
        rest = most_s - TOLD_AFTER_S
        if not is_busy(error) or rest <= 0:
            raise
    tell(path, holder(path))
    connection.execute(f"PRAGMA busy_timeout = {rest * 1000:.0f}")
    try:
        return work()
    finally:
        connection.execute(f"PRAGMA busy_timeout = {TOLD_AFTER_S * 1000:.0f}")


def tell(path: Path, holder: str) -> None:
    """Report that this process waits for a store that others hold."""
    _tell(f"Waiting for the store {path}: {holder} has it")


def is_busy(error: Exception) -> bool:
    """Return True when an error of SQLite means that another process holds the lock."""
    sqlite3 = sys.modules.get("sqlite3")  # imported by the module that opened the connection
    if sqlite3 is None or not isinstance(error, sqlite3.Error):
        return False
    return "locked" in str(error) or "busy" in str(error)


def holder(path: Path) -> str:
    """Return the process that has a store locked, as `process 123 (pushjuju)`, or `another process`.

    The answer comes from /proc/locks. This function must not open the files: closing one would release
    SQLite's locks on the file in this process. Command lines are not shown: they may contain secrets.
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
        return False  # also for waiting processes, whose lines have an arrow
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


class Patience:
    """The patience of a command: 30 seconds, and one message.

    Args:
        path: What names the store in messages.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._clock = clock
        self._began: float | None = None
        self._is_told = False

    def wait(self, error: StoreAway) -> float:
        """Take note that the server does not answer; return how many seconds are left.

        Raises:
            StoreAway: The patience is at its end.
        """
        now = self._clock()
        self._began = now if self._began is None else self._began
        waited = now - self._began
        if waited >= MOST_AWAY_S:
            raise error
        if waited >= TOLD_AFTER_S and not self._is_told:
            self._is_told = True
            _tell(f"Waiting for the store {self._path}: its server does not answer")
        return MOST_AWAY_S - waited

    def end(self) -> None:
        """Take note that the server answers."""
        self._began = None
