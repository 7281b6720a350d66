"""Marks of controllers that are being made, by which interrupted work is found.

A mark is a locked file beside the controllers. A process that dies loses the lock, but the file stays; so a
mark without a lock belongs to an interrupted process.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PREFIX = ".making-"


class Unfinished:
    """The mark of a controller that this process makes; `close` removes the mark."""

    def __init__(self, folder: Path, name: str) -> None:
        self._path = folder / f"{_PREFIX}{name}"
        self._handle = -1
        while self._handle < 0 or not _is(
            self._path, self._handle
        ):  # another process may remove it before the lock is taken
            if self._handle >= 0:
                os.close(self._handle)
            self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._handle, fcntl.LOCK_EX)

    def close(self) -> None:
        """Remove the mark, when the controller is complete or removed; a second call does nothing."""
        if self._handle >= 0:
            self._path.unlink(missing_ok=True)
            os.close(self._handle)
            self._handle = -1


def left_behind(folder: Path) -> list[str]:
    """Return the names of controllers with a mark, of living or dead processes."""
    try:
        with os.scandir(folder) as found:
            return sorted(
                entry.name.removeprefix(_PREFIX) for entry in found if entry.name.startswith(_PREFIX)
            )
    except OSError:  # no controllers yet, or a file of another program
        return []


@contextmanager
def taken_over(folder: Path, name: str) -> Iterator[bool]:
    """Hold the mark of a dead process, and remove the mark after the block unless the block raises an error.

    Yields:
        False when the process lives, or when another process has taken over the mark.
    """
    path = folder / f"{_PREFIX}{name}"
    try:
        handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        yield False
        return
    try:
        ours = _locked(handle) and _is(path, handle)
        yield ours
        if ours:
            path.unlink(missing_ok=True)
    finally:
        os.close(handle)


def _is(path: Path, handle: int) -> bool:
    """Return True when a path still names the open file."""
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except OSError:
        return False


def _locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
