"""Read frames of a machine as messages, at a cost that grows only with their size.

Inflated bytes and JSON values of a frame are counted before the message is built, each byte once, so that no
content of a frame makes the count slow.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

from pushjuju.core import limits
from pushjuju.runner.remote.base import wire

Document = dict[str, Any]
_BLOCK = 64 * limits.KIB  # bytes that are counted in one step
_decode = json.JSONDecoder().decode
_SLASHES = re.compile(rb"\\*")
_TEXTS = re.compile(rb'"[^"]*(?:"|\Z)')  # matches in linear time: no backtracking


def read(flag: int, payload: bytes) -> tuple[Document, int]:
    """Return the message of a frame, and the number of its inflated bytes.

    Raises:
        BadFrame: The bytes are not a frame, or the frame is too large or too deep.
    """
    data = wire.payload_of(flag, payload)
    size = len(data)
    if _has_too_many_values(data):
        raise wire.BadFrame("frame with too many values")
    if size > limits.FRAME_WIDE and not data.isascii():
        raise wire.BadFrame(f"frame of {size} bytes that is not ASCII")
    try:
        # Decoded here: `json` would also accept UTF-16 and UTF-32, whose values were not counted.
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise wire.BadFrame("frame that is not UTF-8") from None
    del data
    try:
        message = _decode(text)
    except RecursionError:
        raise wire.BadFrame("frame with too many levels") from None
    if not isinstance(message, dict):
        raise wire.BadFrame("frame is not an object")
    return message, size


def _has_too_many_values(data: bytes) -> bool:
    """Return True when a JSON text holds too many values; leave out strings only if necessary."""
    return _marks(data) > limits.FRAME_MARKS and _marks_outside(data) > limits.FRAME_MARKS


def _marks(data: bytes) -> int:
    """Return an upper limit of the values and keys: each follows a bracket, a comma or a colon."""
    return data.count(b",") + data.count(b":") + data.count(b"[") + data.count(b"{")


def _marks_outside(data: bytes) -> int:
    """Return the number of marks outside of strings, or a number above the limit.

    The text is read in blocks, none of which ends within an escape, so that the copies stay small.
    """
    found = at = 0
    within = False  # a string that an earlier block began
    while at < len(data) and found <= limits.FRAME_MARKS:
        slashes = _SLASHES.match(data, at + _BLOCK)
        end = slashes.end() + 1 if slashes else len(data)
        block = data[at:end].replace(b"\\\\", b"").replace(b'\\"', b"")
        found += _marks(_TEXTS.sub(b"", b'"' + block if within else block))
        within ^= bool(block.count(b'"') % 2)
        at = end
    return found


def weight(value: object) -> int:
    """Return how many bytes of memory a part of a message takes."""
    total, left = 0, [value]
    while left:
        item = left.pop()
        total += sys.getsizeof(item)
        if isinstance(item, dict):
            total += sum(map(sys.getsizeof, item))
            left.extend(item.values())
        elif isinstance(item, list):
            left.extend(item)
    return total


def width(text: str) -> int:
    """Return how many bytes of memory the characters of a text take at most."""
    return len(text) if text.isascii() else 4 * len(text)
