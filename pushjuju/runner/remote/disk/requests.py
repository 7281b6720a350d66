"""Requests of juju-exec that wait on this machine: one file each, in the order in which they came.

``ID`` waits, ``ID.begun`` runs, ``ID.done`` is the answer, ``ID.bell`` a pipe that wakes the process which
waits for the answer. That process locks the request's file for as long as it lives: a request without a lock
counts as withdrawn. A rename starts a request and an unlink withdraws it, so only one of the two can succeed.
The server, the processes of operations and juju-exec itself use this module.
"""

from __future__ import annotations

import binascii
import fcntl
import os

from pushjuju.portable.jsontext import dumps, loads
from pushjuju.runner.remote.base import layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BEGUN, DONE, BELL, NEW = ".begun", ".done", ".bell", ".new"
_ENDINGS = (BEGUN, DONE, BELL, NEW)
# One frame carries all waiting requests; controllers accept twice as many requests, and frames of 64 MiB.
MOST = 500
MOST_BYTES = 8 * 1024 * 1024


class Full(Exception):
    """The limit of waiting requests is reached."""


def folder(base: str) -> str:
    """Return the directory of the requests."""
    return base + "/requests"


def is_id(name: str) -> bool:
    """Return True when a text has the form of a request's id."""
    return name[:1] == "r" and name.isascii() and name[1:].replace("-", "").isdigit()


def new_id(now: float, pid: int) -> str:
    """Return an id; ids sort by their time."""
    return "r%019d-%d" % (int(now * 1e9), pid)


# -- the process that waits for the answer -------------------------------------------------------------------


class Ticket:
    """A request, held by the process that waits for its answer.

    Raises:
        Full: Too many requests wait already.
    """

    def __init__(self, base: str, request_id: str, document: dict[str, object]) -> None:
        self.path = folder(base) + "/" + request_id
        os.makedirs(folder(base), 0o700, exist_ok=True)
        text = dumps(dict(document, id=request_id)).encode("ascii")
        _need_room(base, len(text))
        flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC
        self._fd = os.open(self.path + NEW, flags, 0o600)
        fcntl.flock(self._fd, fcntl.LOCK_EX)
        os.mkfifo(self.path + BELL, 0o600)
        # Open for writing as well: the pipe is never at its end, and is closed with this process.
        # a descriptor that becomes readable when the answer is there
        self.bell = os.open(self.path + BELL, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        data = memoryview(text)
        while data:
            data = data[os.write(self._fd, data) :]
        os.fsync(self._fd)
        os.rename(self.path + NEW, self.path)
        _sync(folder(base))

    def waits(self) -> bool:
        """Return True while the request has not begun."""
        return os.path.exists(self.path)

    def is_lost(self) -> bool:
        """Return True when no answer can come any more: pushjuju's files were removed from the machine."""
        return not any(os.path.exists(self.path + ending) for ending in ("", BEGUN, DONE))

    def hush(self) -> None:
        """Empty the bell, so that only the next ring makes it readable."""
        try:
            os.read(self.bell, 4096)
        except OSError:
            pass

    def answer(self) -> tuple[int, bytes, bytes] | None:
        """Return exit code, stdout and stderr and delete the request; None while there is no answer."""
        try:
            with open(self.path + DONE, "rb") as file:
                head, _, body = file.read().partition(b"\n")
        except OSError:
            return None
        code, size = map(int, head.split())
        self.close()
        return code, body[:size], body[size:]

    def withdraw(self) -> bool:
        """Withdraw the request; return False when it has begun: it runs on without this process."""
        try:
            os.unlink(self.path)
        except OSError:
            return False
        self.close()
        return True

    def close(self) -> None:
        """Delete all files of the request."""
        _remove(self.path)


# -- the processes that serve requests -----------------------------------------------------------------------


def waiting(base: str) -> list[dict[str, Any]]:
    """Return the requests that wait, oldest first; delete requests whose process has ended."""
    try:
        names = sorted(os.listdir(folder(base)))
    except OSError:
        return []
    known = {name.partition(".")[0] for name in names if not name.endswith(BELL)}
    found = []
    for name in names:
        path = folder(base) + "/" + name
        if is_id(name):
            if layout.is_held(path):
                document = _read(path)
                if document is not None:
                    found.append(document)
            else:
                _withdraw_abandoned(path)
        elif name.endswith(DONE) and not layout.is_held(path[: -len(DONE)] + BEGUN):
            _remove(path[: -len(DONE)])
        elif name.endswith(BELL) and name[: -len(BELL)] not in known:
            _unlink(path)
    return found


def _withdraw_abandoned(path: str) -> None:
    """Withdraw a request whose process has ended, unless another process begins the request right now."""
    try:
        os.unlink(path)
    except OSError:
        return
    _remove(path)


def claim(base: str, request_id: str) -> bool:
    """Mark a request as begun, so that it cannot be withdrawn; return False when it was withdrawn before.

    A request that has begun may be claimed again: the journal prevents a second run.
    """
    path = folder(base) + "/" + request_id
    if not is_id(request_id):
        return False
    if os.path.exists(path) and not layout.is_held(path):
        _withdraw_abandoned(path)
        return False
    try:
        os.rename(path, path + BEGUN)
    except OSError:
        return os.path.exists(path + BEGUN)
    return True


def answer(base: str, request_id: str, code: int, stdout: bytes = b"", stderr: bytes = b"") -> None:
    """Write the answer for the process that waits; drop a second answer, or one to an ended process."""
    path = folder(base) + "/" + request_id
    if not claim(base, request_id) or os.path.exists(path + DONE):
        return
    if not layout.is_held(path + BEGUN):
        _remove(path)
        return
    with open(path + DONE + NEW, "wb") as file:
        file.write(b"%d %d\n" % (code, len(stdout)) + stdout + stderr)
    os.rename(path + DONE + NEW, path + DONE)
    _ring(path + BELL)


def refuse(base: str, request_id: str, text: str) -> None:
    """Answer a request with an error instead of running it."""
    answer(base, request_id, 1, b"", ("ERROR %s\n" % text).encode("utf-8", "replace"))


def refuse_unit(base: str, unit: str) -> None:
    """Refuse all requests that wait for a unit which leaves this machine."""
    for document in waiting(base):
        if document.get("unit") == unit:
            refuse(base, str(document["id"]), 'unit "%s" not found on this machine' % unit)


def answer_with(base: str, request_id: str, result: dict[str, Any]) -> None:
    """Answer a request with the result of its operation."""
    stdout, stderr = _bytes(result, "stdout"), _bytes(result, "stderr")
    code = result.get("exit")
    if code is None:
        text = "ERROR %s\n" % (result.get("message") or "the commands were cut off")
        answer(base, request_id, 1, stdout, stderr + text.encode("utf-8", "replace"))
        return
    answer(base, request_id, int(code), stdout, stderr)


# -- helpers --------------------------------------------------------------------------------------------


def _need_room(base: str, size: int) -> None:
    """Check that one more request may wait."""
    if size > MOST_BYTES // 8:
        raise Full("the commands are too long")
    count = 0
    with os.scandir(folder(base)) as entries:
        for entry in entries:
            if is_id(entry.name):
                count += 1
                try:
                    size += entry.stat().st_size
                except OSError:
                    pass  # the request has ended meanwhile
    if count >= MOST or size > MOST_BYTES:
        raise Full("%d requests wait already" % count)


def _bytes(result: dict[str, object], key: str) -> bytes:
    text = str(result.get(key) or "")
    if result.get(key + "-encoding") == "base64":
        return binascii.a2b_base64(text)
    return text.encode("utf-8", "surrogateescape")


def _read(path: str) -> dict[str, object] | None:
    try:
        with open(path, encoding="ascii") as file:
            document = loads(file.read())
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) else None


def _ring(path: str) -> None:
    try:
        fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return  # no process has the pipe open; a process that waits also checks from time to time
    try:
        os.write(fd, b"!")
    except OSError:
        pass
    finally:
        os.close(fd)


def _remove(path: str) -> None:
    for ending in _ENDINGS:
        _unlink(path + ending)


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass


def _sync(directory: str) -> None:
    fd = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
