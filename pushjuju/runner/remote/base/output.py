"""Output of hooks and commands, kept within limits.

Lines are cut at 4096 bytes as Juju does. One operation keeps ``EVENT_LIMIT`` bytes of output lines and,
beyond that, only the last ``TAIL`` bytes of each stream. The bytes left out are counted, so a hook that
prints for ever fills neither the memory nor the connection.

Mirrors: juju worker/uniter/runner/logging.go (3.6).
"""

from __future__ import annotations

import binascii

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable

LINE_LIMIT = 4096
EVENT_LIMIT = 2 * 1024 * 1024
LINE_COST = 64  # bytes that an event costs beside its line
TAIL = 64 * 1024
TAIL_LINES = 1000
CAPTURE_LIMIT = 4 * 1024 * 1024


class Budget:
    """Bytes of output that one operation may still keep, over all its streams."""

    def __init__(self, limit: int = EVENT_LIMIT) -> None:
        self.limit = limit
        self.left = limit


class LineStream:
    """One output stream of a hook, cut into lines."""

    def __init__(self, emit: Callable[[bytes], None], budget: Budget) -> None:
        self._emit = emit
        self._budget = budget
        self._rest = b""
        self._tail = b""
        self.dropped = 0

    def feed(self, data: bytes) -> None:
        """Take bytes as they arrive."""
        if self._budget.left <= 0:
            self._drop(data)
            return
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        for number, line in enumerate(lines):
            if self._budget.left <= 0:
                lines = [*lines[number:], self._rest]
                self._rest = b""
                self._drop(b"\n".join(lines))
                return
            self._line(line)
        while len(self._rest) >= LINE_LIMIT and self._budget.left > 0:
            self._line(self._rest[:LINE_LIMIT])
            self._rest = self._rest[LINE_LIMIT:]

    def _line(self, line: bytes) -> None:
        for start in range(0, max(len(line), 1), LINE_LIMIT):
            piece = line[start : start + LINE_LIMIT]
            self._budget.left -= len(piece) + LINE_COST
            self._emit(piece)

    def _drop(self, data: bytes) -> None:
        kept = self._rest + self._tail + data
        self._rest = b""
        self._tail = kept[-TAIL:]
        self.dropped += len(kept) - len(self._tail)

    def close(self, left_out: Callable[[int], None]) -> None:
        """Emit what is left; call ``left_out`` with the number of bytes that were dropped, if any."""
        lines = (self._tail + self._rest).split(b"\n")
        if not lines[-1]:
            lines.pop()
        if self._tail:
            # A tail that was cut begins in the middle of a line; it may hold very many short ones.
            keep = lines[1 if self.dropped else 0 :][-TAIL_LINES:]
            unended = not self._tail.endswith(b"\n")
            missing = self.dropped + len(self._tail) + unended - sum(len(line) + 1 for line in keep)
            if missing:
                left_out(missing)
            lines = keep
        for line in lines:
            self._line(line)
        self._tail = self._rest = b""


class Capture:
    """One output stream of a command: its first ``limit`` bytes and its last ``TAIL`` bytes are kept."""

    def __init__(self, limit: int = CAPTURE_LIMIT) -> None:
        self._limit = limit
        self._head = bytearray()
        self._tail = b""
        self.dropped = 0

    def feed(self, data: bytes) -> None:
        """Take bytes as they arrive."""
        room = self._limit - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            kept = self._tail + data
            self._tail = kept[-TAIL:]
            self.dropped += len(kept) - len(self._tail)

    def value(self) -> bytes:
        """Return the bytes that were kept, with a line in between that counts the bytes left out."""
        if not self.dropped:
            return bytes(self._head) + self._tail
        note = b"\n[pushjuju: %d bytes of output left out here]\n" % self.dropped
        return bytes(self._head) + note + self._tail


def as_text(data: bytes) -> tuple[str, str]:
    """Return bytes as (text, encoding): encoding is empty for UTF-8, else ``base64``.

    Mirrors: juju worker/uniter/runner/runner.go encodeBytes (3.6).
    """
    try:
        return data.decode("utf-8"), ""
    except UnicodeDecodeError:
        return binascii.b2a_base64(data, newline=False).decode("ascii"), "base64"
