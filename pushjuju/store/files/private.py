"""Writes files of the data directory: private, durable, and complete or not at all."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from pushjuju.core.errors import StoreError

_DIR_MODE = 0o700
_FILE_MODE = 0o600
_HINTS = {
    errno.ENOSPC: "free some space on that disk, then run the command again",
    errno.EDQUOT: "free some of your quota, then run the command again",
    errno.EROFS: "that disk is mounted read-only: choose another place with PUSHJUJU_DATA",
    errno.EACCES: "the directory must belong to you: choose another place with PUSHJUJU_DATA",
}


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn an OSError into an error that names the file and what to do."""
    try:
        yield
    except OSError as error:
        reason = (os.strerror(error.errno) if error.errno else str(error)).lower()
        raise StoreError(f"cannot write {path}: {reason}", hint=_HINTS.get(error.errno or 0, "")) from error


def private_dir(path: Path) -> None:
    """Make a directory and its missing parents, each accessible to its owner only."""
    missing = [path]
    while not missing[-1].parent.exists():
        missing.append(missing[-1].parent)
    for folder in reversed(missing):
        folder.mkdir(mode=_DIR_MODE, exist_ok=True)


def sync_dir(path: Path) -> None:
    """Make new and changed names in a directory durable."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def temporary(mode: str, folder: Path, prefix: str) -> IO[Any]:
    """Open a new file with a unique name; the file stays after it is closed."""
    return tempfile.NamedTemporaryFile(mode, dir=folder, prefix=prefix, delete=False)


def remove_tree(path: Path) -> None:
    """Delete a directory tree; ignore errors."""
    shutil.rmtree(path, ignore_errors=True)


def replace_text(path: Path, text: str, mode: int = _FILE_MODE) -> None:
    """Replace a file durably in one step: readers see the old or the new text; a failure keeps the old."""
    with explained(path), temporary("w", path.parent, ".new-") as stream:
        try:
            stream.write(text)
            stream.flush()
            os.fchmod(stream.fileno(), mode)
            os.fsync(stream.fileno())
            Path(stream.name).replace(path)
        except BaseException:
            Path(stream.name).unlink(missing_ok=True)
            raise
        sync_dir(path.parent)


def put_text(path: Path, text: str, mode: int = _FILE_MODE) -> None:
    """Do the same for a path that a user named: a link, device or pipe stays, and gets the text."""
    with explained(path):
        if path.is_symlink() or (path.exists() and not path.is_file()):
            with open(path, "w", opener=_at_once) as stream:
                os.set_blocking(stream.fileno(), True)
                stream.write(text)
            return
    replace_text(path, text, mode)


def _at_once(path: str, flags: int) -> int:
    """Open a file without waiting for a program at the other end of a pipe."""
    try:
        return os.open(path, flags | os.O_NONBLOCK, _FILE_MODE)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise OSError("no program reads from this pipe") from error
        raise


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file, which excludes other processes."""
    with explained(path):
        private_dir(path.parent)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _FILE_MODE)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
