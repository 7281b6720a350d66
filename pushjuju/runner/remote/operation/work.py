"""The loop of the processes that run operations: wait for an operation, run it, wait for the next."""

from __future__ import annotations

import _socket
import os
import sys

from pushjuju.portable.jsontext import loads
from pushjuju.runner.remote.base import layout, wire
from pushjuju.runner.remote.base.layout import Layout
from pushjuju.runner.remote.base.results import (
    Interrupted,
    Known,
    Refused,
    Withdrawn,
    describe,
    error_result,
    plain_result,
)
from pushjuju.runner.remote.operation.families import import_module
from pushjuju.runner.remote.operation.host import Host

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from pushjuju.portable import frames

# The module that runs each kind of operation, imported with the first operation of the kind.
_MODULES = {
    "hook": "hookrun",
    "action": "hookrun",
    "commands": "hookrun",
    "exec": "commands",
    "deploy": "deploy",
    "remove-unit": "machine",
    "reboot": "machine",
}


def run(paths: layout.Layout, channel_fd: int, registry: Any) -> None:
    """Run operations of the server in this (forked) process, until the server hangs up.

    The server forks the process ahead of time and uses it again: a fork is the slowest part of a hook.
    """
    os.setsid()
    os.umask(0o022)
    channel = _socket.socket(fileno=channel_fd)
    while True:
        layout.name_process("pushjuju-spare")
        reader = wire.Reader()
        frames = _next_start(channel, reader)
        if not frames:
            return
        setting_line, _, message = frames[0][1].partition(b"\n")
        op = wire.unpack(message[0], message[1:])
        layout.name_process("pushjuju-hook")
        host = Host(op, loads(setting_line.decode("ascii")), paths, (channel, reader), registry)
        host.take(frames[1:])
        try:
            host.finish(_outcome(host))
        except Known:
            channel.sendall(wire.frame(wire.KNOWN, b"{}"))
            return
        if not host.close():
            return


def _next_start(channel: Any, reader: wire.Reader) -> list[tuple[int, bytes]]:
    """Wait for the next operation; return its first frames, or nothing when the server hung up.

    The server sends only one operation at a time. Frames before its start still belong to the operation
    before, and are dropped; a cancellation may come right behind the start.
    """
    while True:
        try:
            data = channel.recv(wire.READ_SIZE)
        except OSError:
            return []
        if not data:
            return []
        frames = reader.feed(data)
        while frames and frames[0][0] != wire.START:
            del frames[0]
        if frames:
            return frames


def _outcome(host: Host) -> frames.Result:
    try:
        host.begin()
        return _work(host)
    except Known:
        raise
    except Withdrawn as refused:
        return plain_result("withdrawn", message=str(refused))
    except Interrupted as refused:
        return plain_result("interrupted", message=str(refused))
    except Refused as refused:
        return error_result(str(refused))
    except OSError as error:
        return error_result(describe(error), error.errno)
    except Exception as error:
        return {**error_result("runner: " + describe(error)), "trace": _trace()}


def _work(host: Host) -> frames.Result:
    kind = str(host.op.get("kind", ""))
    if kind not in _MODULES:
        raise Refused('unknown kind of operation "%s"' % kind)
    result: frames.Result = _module(kind).run(host)
    return result


def _module(kind: str) -> Any:
    return import_module("pushjuju.runner.remote.operation." + _MODULES[kind])


def _trace() -> str:
    trace = sys.exc_info()[2]
    lines = []
    while trace is not None:
        code = trace.tb_frame.f_code
        lines.append("%s:%d %s" % (os.path.basename(code.co_filename), trace.tb_lineno, code.co_name))
        trace = trace.tb_next
    return " < ".join(reversed(lines))


def preload(kind: str) -> None:
    """Import what operations of a kind need: processes forked later share it."""
    if kind in _MODULES:
        _module(kind)


def purge(paths: Layout) -> None:
    """Delete all that pushjuju has left on the machine, after the last unit is removed."""
    _module("remove-unit").purge(paths)
