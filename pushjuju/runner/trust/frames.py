"""Frames of a machine become messages, at a cost that grows with their size alone.

What a frame costs is known before it is built: its inflated bytes and its JSON values are counted first, each
byte once, whatever it is.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

from pushjuju.core import limits
from pushjuju.runner.remote.base import wire

Document = dict[str, Any]
_BLOCK = 64 * limits.KIB  # what is counted at once
_decode = json.JSONDecoder().decode
_SLASHES = re.compile(rb"\\*")
_TEXTS = re.compile(rb'"[^"]*(?:"|\Z)')  # always ends: nothing is ever tried twice


def read(flag: int, payload: bytes) -> tuple[Document, int]:
    """Return the message of a frame, and how many bytes it has when it is inflated.

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
        # Not left to `json`: it would take UTF-16 and UTF-32 as well, whose values are not counted
        # here.
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
    """Return True when a JSON text holds too many values; strings are left out only where that decides."""
    return _marks(data) > limits.FRAME_MARKS and _marks_outside(data) > limits.FRAME_MARKS


def _marks(data: bytes) -> int:
    """Return how many values and keys there are at most: each stands behind a bracket, a comma or a colon."""
    return data.count(b",") + data.count(b":") + data.count(b"[") + data.count(b"{")


def _marks_outside(data: bytes) -> int:
    """Return the marks that stand in no string, or a number beyond the limit.

    It is cut into blocks, none of which ends within an escape, so that what is built meanwhile stays small.
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
