"""Reads files that users name; input that never ends is an error.

The errors are of the type OSError, as those of Python, so that the caller says what the file was for.
"""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

MAX = 5 * 1024 * 1024  # bytes; Juju's limit for a value from a file


def read(path: str | Path, most: int = MAX) -> bytes:
    """Return the content of a file, pipe or device with at most `most` bytes."""
    with _open(path) as stream:
        os.set_blocking(stream.fileno(), True)
        found = stream.read(most + 1)
        if not found and stat.S_ISFIFO(os.fstat(stream.fileno()).st_mode):
            raise OSError(errno.ENXIO, "no program writes to this pipe")
    return within(found, most)


def within(content: bytes, most: int = MAX) -> bytes:
    """Return the content, which must have at most `most` bytes."""
    if len(content) > most:
        raise OSError(errno.EFBIG, f"larger than {most} bytes")
    return content


def regular(path: str | Path) -> BufferedReader:
    """Open a regular file, of any size."""
    stream = _open(path)
    if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        stream.close()
        raise OSError(errno.EINVAL, "not a regular file")
    return stream


def _open(path: str | Path) -> BufferedReader:
    return open(Path(path).expanduser(), "rb", opener=_at_once)


def _at_once(path: str, flags: int) -> int:
    """Open a file without waiting for a program at the other end of a pipe."""
    return os.open(path, flags | os.O_NONBLOCK)
