"""Frames that are cheap to send and dear to read, of any size: what a machine sends that means harm."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from pushjuju.runner.remote.base import wire

MIB = 1 << 20
SMALL = 1 << 20  # of an attack that repeats itself: bytes of one of its frames, inflated
_EVENT = {"k": "log", "level": "INFO", "module": "m", "message": "", "time": 1.5}


def packed(data: bytes) -> bytes:
    """Return a frame around a JSON text, as small as it gets at little cost."""
    return wire.frame(wire.ZLIB, zlib.compress(data, 1))


def _unknown(body: bytes) -> bytes:
    return b'{"t":"nothing","x":' + body + b"}"


def _fill(piece: bytes, size: int) -> bytes:
    return piece * max(size // len(piece), 1)


def _listed(piece: bytes, size: int) -> bytes:
    return _unknown(b"[" + _fill(piece + b",", size) + b"0]")


def _dense(piece: bytes, size: int) -> bytes:
    """Return a list of so many values that the largest frame of them is just taken."""
    return _listed(piece, size // 16)


def _keys(size: int, form: str) -> bytes:
    """Return a map of ever other keys."""
    count = size // (len(form % 0) + 7)
    return _unknown(b"{" + b",".join(b'"%06x":' % n + (form % n).encode() for n in range(count)) + b"}")


def _message(size: int, fields: dict[str, Any], name: str, piece: str) -> bytes:
    """Return a message that is known, in which a field holds as many pieces as go into it."""
    head = json.dumps(fields)[:-1].encode()
    return head + b',"' + name.encode() + b'":[' + _fill(piece.encode() + b",", size)[:-1] + b"]}"


def _result(size: int, op_id: str, name: str, piece: str) -> bytes:
    return _message(size // 16, {"t": "result", "id": op_id}, name, piece)


def _repeated(size: int, frame: Callable[[int], bytes]) -> Iterator[bytes]:
    yield from (packed(frame(number)) for number in range(1, max(size // SMALL, 1) + 1))


def _events(size: int, **more: Any) -> Iterator[bytes]:
    """Yield events with ever other numbers."""
    cost = len(json.dumps({"seq": 10**6, "e": {**_EVENT, **more}}))
    each = max(SMALL // cost, 1)
    for first in range(1, max(size // cost, 2), each):
        listed = [{"seq": n, "e": {**_EVENT, **more}} for n in range(first, first + each)]
        yield packed(json.dumps({"t": "event", "id": "op", "es": listed}).encode())


def _calls(size: int, **more: Any) -> Iterator[bytes]:
    """Yield hook tool calls that nobody has answered yet."""
    call = {"t": "live", "id": "op", "tool": "goal-state", "argv": [], "stdin": "", "cwd": "/", **more}
    cost = len(json.dumps(call)) + 20
    for number in range(max(size // cost, 1)):
        data = json.dumps({**call, "call": number}).encode()
        yield packed(data) if len(data) > 200 else wire.frame(wire.RAW, data)


def _facts(number: int) -> bytes:
    address = {"value": f"10.0.{number % 250}.1", "cidr": "10.0.0.0/8"}
    nic = {"name": "eth0", "mac": "", "up": True, "addresses": [address] * 1000}
    return json.dumps(
        {"t": "facts", "hostname": "m", "gateway": "", "nics": [nic] * (SMALL // 60_000)}
    ).encode()


def _requests(number: int) -> bytes:
    listed = [
        {"id": f"r{number}-{n}", "unit": "web/0", "script": "x" * 20_000} for n in range(SMALL // 20_000)
    ]
    return json.dumps({"t": "requests", "requests": listed}).encode()


ONE: dict[str, Callable[[int], bytes]] = {
    "deep lists": lambda size: _fill(b"[", size),
    "deep maps": lambda size: _fill(b'{"a":', size),
    "deep and closed": lambda size: _listed(b"[" * 400 + b"]" * 400, size),
    "values without end": lambda size: _listed(b"[]", size),
    "empty lists": lambda size: _dense(b"[]", size),
    "empty maps": lambda size: _dense(b"{}", size),
    "maps of one key": lambda size: _dense(b'{"a":{}}', size),
    "empty texts": lambda size: _dense(b'""', size),
    "short texts": lambda size: _dense(b'"ab"', size),
    "many keys": lambda size: _keys(size // 4, "0%.0s"),
    "keys and texts": lambda size: _keys(size * 2 // 5, '"%07x"'),
    "small numbers": lambda size: _dense(b"7", size),
    "whole numbers": lambda size: _listed(b"7" * 4000, size),
    "broken numbers": lambda size: _listed(b"1.5e3", size // 4),
    "one long number": lambda size: _unknown(b"0." + _fill(b"123456789", size)),
    "one long exponent": lambda size: _unknown(b"1e-" + _fill(b"0", size) + b"1"),
    "unterminated": lambda size: _fill(b",", 3_000_001) + b'"' + _fill(b'\\"', size),
    "unterminated slashes": lambda size: _fill(b",", 3_000_001) + b'"' + _fill(b"\\\\", size) + b"\\",
    "quotes": lambda size: _fill(b",", 3_000_001) + _fill(b'""', size),
    "texts of marks": lambda size: _unknown(b'"' + _fill(b",[{", size) + b'"'),
    "one text": lambda size: _unknown(b'"' + _fill(b"x", size) + b'"'),
    "one wide text": lambda size: _unknown(b'"' + _fill(b"x", size) + b'\\ud83d\\ude00"'),
    "escapes": lambda size: _unknown(b'"' + _fill(b"\\u00e9", size) + b'"'),
    "not ASCII": lambda size: _unknown(b'"' + _fill(b"x", size) + "☃😀".encode() + b'"'),
    "blanks": lambda size: _fill(b" ", size),
    "UTF-16": lambda size: _listed(b"{}", size // 2).decode().encode("utf-16"),
    "UTF-16 without a mark": lambda size: _listed(b"{}", size // 2).decode().encode("utf-16-le"),
    "UTF-32": lambda size: _listed(b"{}", size // 4).decode().encode("utf-32"),
    "a tree for an id": lambda size: b'{"t":"event","id":[' + _fill(b"[],", size // 16) + b"0]}",
    "odd events": lambda size: _message(size // 16, {"t": "event", "id": "op"}, "es", '{"seq":1,"e":{}}'),
    "a result with odd writes": lambda size: _result(size, "op", "writes", "{}"),
    "a result with more": lambda size: _result(size, "op", "more", "{}"),
    "a result ahead with more": lambda size: _result(size, "ahead", "more", "{}"),
    "a call with words": lambda size: _message(
        size // 16, {"t": "live", "id": "op", "call": 1}, "argv", '""'
    ),
    "a call with more": lambda size: _message(
        size // 16, {"t": "live", "id": "op", "call": 1, "argv": []}, "more", "{}"
    ),
    "a request with more": lambda size: (
        b'{"t":"requests","requests":[{"id":"r1-1","more":[' + _fill(b"{},", size // 16) + b"0]}]}"
    ),
}  # fmt: skip
"""Attacks of one frame: its inflated bytes by their number."""

MANY: dict[str, Callable[[int], Iterator[bytes]]] = {
    "unknown frames": lambda size: _repeated(size, lambda _: _listed(b"[]", SMALL)),
    "tiny frames": lambda size: iter([wire.frame(wire.RAW, b"{}") * (size // 70)]),
    "events": _events,
    "wide events": lambda size: _events(size, message="x" * 1000 + "\U0001f600"),
    "events with more": lambda size: _events(size, more="x" * 1000, number=10**300),
    "the same events": lambda size: (frame for _ in range(size // SMALL) for frame in _events(SMALL)),
    "calls": _calls,
    "calls with input": lambda size: _calls(size, stdin="x" * 1000),
    "calls with more": lambda size: _calls(size, more=["x" * 10] * 100),
    "results ahead": lambda size: _repeated(
        size, lambda n: _message(SMALL, {"t": "result", "id": f"ahead{n}"}, "events", '{"seq":1,"e":{}}')
    ),
    "results ahead that wrote": lambda size: _repeated(
        size,
        lambda n: (
            b'{"t":"result","id":"ahead%d","writes":{"state":{"a":[' % n + _fill(b"{},", SMALL) + b"0]}}}"
        ),
    ),
    "facts": lambda size: _repeated(size, _facts),
    "requests": lambda size: _repeated(size, _requests),
    "answers for nobody": lambda size: _repeated(
        size, lambda _: _message(SMALL, {"t": "ok", "sha256": "00"}, "more", "{}")
    ),
}  # fmt: skip
"""Attacks of many frames: the frames by their bytes, inflated."""

KINDS = (*ONE, *MANY)


def stream(kind: str, size: int) -> bytes:
    """Return what a machine sends."""
    if kind in ONE:
        return packed(ONE[kind](size))
    return b"".join(MANY[kind](size))
