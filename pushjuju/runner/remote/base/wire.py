"""Frames: length (4 bytes, big endian), flag (1 byte), payload.

The same frames travel between controller and server, and between the server and the process that runs an
operation. The numbers in this module are the protocol; the controller imports the module, too.
"""

from __future__ import annotations

import zlib

from pushjuju.portable.jsontext import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from pushjuju.portable import frames

PROTOCOL = 1

# Flags of controller frames.
RAW = 0  # JSON
ZLIB = 1  # zlib of JSON
BLOB = 2  # 32 bytes SHA-256, then a piece of that blob

# Kinds of messages between the server and the process of an operation.
EVENT, LIVE, RESULT, UNSAVED, HELLO, CANCEL, LIVE_RESULT, START, KNOWN = 10, 11, 12, 13, 14, 15, 16, 17, 18
QUIET = 19  # precedes the result of an operation that wrote nothing: the next one of the plan may begin

COMPRESS_FROM = 8192
MAX_FRAME = 64 * 1024 * 1024
READ_SIZE = 1 << 16  # bytes; for a larger read the C library maps and unmaps memory each time


class BadFrame(ValueError):
    """The other side does not speak this protocol."""


def frame(flag: int, payload: bytes) -> bytes:
    """Return one frame around an encoded payload."""
    return len(payload).to_bytes(4, "big") + bytes((flag,)) + payload


def pack(message: frames.FromMachine | frames.ToMachine) -> bytes:
    """Return the frame of a JSON message, compressed when it is large."""
    data = dumps(message).encode("ascii")
    if len(data) > COMPRESS_FROM:
        return frame(ZLIB, zlib.compress(data, 1))
    return frame(RAW, data)


def payload_of(flag: int, payload: bytes) -> bytes:
    """Return the JSON text of a frame."""
    if flag == ZLIB:
        inflater = zlib.decompressobj()
        try:
            payload = inflater.decompress(payload, MAX_FRAME)
        except zlib.error as error:
            raise BadFrame("frame does not inflate: %s" % error) from None
        if inflater.unconsumed_tail:
            raise BadFrame("frame inflates beyond the limit")
    elif flag != RAW:
        raise BadFrame("frame with unknown flag %d" % flag)
    return payload


def unpack(flag: int, payload: bytes) -> Any:
    """Return the JSON message of a frame."""
    try:
        message = loads(payload_of(flag, payload).decode("utf-8"))
    except RecursionError:
        raise BadFrame("frame with too many levels") from None
    if not isinstance(message, dict):
        raise BadFrame("frame is not an object")
    return message


class Reader:
    """Cut a byte stream into frames."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[tuple[int, bytes]]:
        """Add bytes; return the frames that are complete now, as (flag, payload)."""
        buffer = self._buffer
        if not buffer and len(data) >= 5 and len(data) == 5 + int.from_bytes(data[:4], "big") <= MAX_FRAME:
            return [(data[4], data[5:])]  # the usual case: exactly one frame
        buffer += data
        frames = []
        start = 0
        while len(buffer) - start >= 5:
            size = int.from_bytes(buffer[start : start + 4], "big")
            if size > MAX_FRAME:
                raise BadFrame("frame of %d bytes" % size)
            end = start + 5 + size
            if len(buffer) < end:
                break
            with memoryview(buffer) as view:  # a slice of the buffer itself would be a second copy
                frames.append((buffer[start + 4], bytes(view[start + 5 : end])))
            start = end
        if start:
            del buffer[:start]
        return frames
