"""The socket on which the hook tools of a run are answered.

The answers come from the snapshot that came with the hook; writes are buffered. Calls are answered singly, in
the order of their arrival, while the pipes of the hook and the server's socket are read, too.

Mirrors: juju worker/uniter/runner/jujuc/server.go (3.6).
"""

from __future__ import annotations

import _socket
import binascii
import os

from pushjuju.runner.remote import toolkit
from pushjuju.runner.remote.base import output, wire
from pushjuju.runner.remote.base.results import MOST_TIMED, describe, monotonic, wall_time
from pushjuju.runner.remote.disk.resources import UnitFiles
from pushjuju.runner.remote.operation.host import Host
from pushjuju.runner.remote.toolkit import ToolError
from pushjuju.runner.remote.tools import toolclient

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    from pushjuju.portable import frames

STDIN_LIMIT = 64 * 1024 * 1024  # bytes; also the limit of a call's arguments


class Gone(Exception):
    """The client of a tool call hung up."""


class _Call:
    """One connection of a client."""

    def __init__(self, conn: Any) -> None:
        self.conn = conn
        self.fd = conn.fileno()
        self.buffer = bytearray()  # bytes that arrived and are not read yet
        self._end = 0  # where the first message in the buffer ends; 0 before its length has arrived
        self.closed = False
        self.watched = False  # True once the connection is among the descriptors that the host waits for
        self.too_large = False
        # number of bytes still to read of an input over the limit, before the client gets the error
        self.waste = 0

    def feed(self, data: bytes) -> None:
        """Add bytes to the buffer, or drop them when the input is over the limit."""
        if self.too_large:
            self.waste = max(0, self.waste - len(data))
            return
        self.buffer += data
        if not self._end:
            self._measure()

    def _measure(self) -> None:
        if len(self.buffer) < 4:
            return
        self._end = 4 + int.from_bytes(self.buffer[:4], "big")
        if self._end > 4 + STDIN_LIMIT:
            self.too_large = True
            self.waste = self._end - len(self.buffer)
            self._end = 0
            self.buffer.clear()

    def take(self) -> bytes:
        """Remove and return the first message, which is complete."""
        data = bytes(self.buffer[4 : self._end])
        del self.buffer[: self._end]
        self._end = 0
        self._measure()
        return data

    def complete(self) -> bool:
        """Return True when a length and that many bytes have arrived."""
        return 0 < self._end <= len(self.buffer)


class ToolServer:
    """The tool socket of one run."""

    def __init__(
        self,
        host: Host,
        registry: Any,
        path: str,
        context_id: str,
        writes: dict[str, object],
        reads: dict[str, object],
    ) -> None:
        self._host = host
        self._registry = registry
        self._path = path
        self._context_id = context_id
        self._writes = writes
        self._reads = reads
        self._queue: list[_Call] = []
        self._calls: dict[int, _Call] = {}
        self._busy = False
        self._live_number = 0
        self._listener: Any = None
        # the times of the calls; empty unless the controller asks for times
        self.timed: frames.Timed = {"calls": [], "more": 0}
        self.on_reboot_now: Callable[[], None] = lambda: None

    def open(self) -> None:
        """Listen; only root may connect."""
        try:
            os.unlink(self._path)
        except FileNotFoundError:
            pass
        listener = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM | _socket.SOCK_CLOEXEC)
        mask = os.umask(0o177)
        try:
            listener.bind(self._path)
        finally:
            os.umask(mask)
        listener.listen(64)
        listener.setblocking(False)
        self._listener = listener
        self._host.watch(listener.fileno(), self._accept)

    def close(self) -> None:
        """Stop listening and close all connections."""
        self._host.unwatch(self._listener.fileno())
        self._listener.close()
        for call in list(self._calls.values()):
            self._drop(call)
        try:
            os.unlink(self._path)
        except OSError:
            pass

    def _accept(self) -> None:
        try:
            fd = self._listener._accept()[0]
        except OSError:
            return
        # With family and type given, Python asks the kernel for neither.
        call = _Call(_socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM, 0, fd))
        self._calls[call.fd] = call
        self._read(call)
        if not call.closed:
            self._watch(call)

    def _watch(self, call: _Call) -> None:
        """Read more of a call when it arrives; most calls are read whole, and answered, before."""
        if not call.watched:
            call.watched = True
            self._host.watch(call.fd, lambda: self._read(call))

    def _read(self, call: _Call) -> None:
        try:
            data = call.conn.recv(wire.READ_SIZE, _socket.MSG_DONTWAIT)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if not data:
            self._drop(call)
            return
        call.feed(data)
        if call in self._queue:
            return  # the data is standard input that `_stdin` waits for
        if call.too_large:
            self._drop(call)  # not a hook tool: no program can have so many arguments
        elif call.complete():
            self._queue.append(call)
            self._work()

    def _drop(self, call: _Call) -> None:
        if call.closed:
            return
        call.closed = True
        if call.watched:
            self._host.unwatch(call.fd)
        self._calls.pop(call.fd, None)
        call.conn.close()

    def _work(self) -> None:
        if self._busy:
            return
        self._busy = True
        try:
            while self._queue:
                call = self._queue[0]
                if not call.closed:
                    self._serve(call)
                self._queue.remove(call)
                self._drop(call)
                if self._writes.get("reboot") == "now":
                    self.on_reboot_now()
        finally:
            self._busy = False

    def _serve(self, call: _Call) -> None:
        try:
            rc, out, err = self._answer(call)
        except Gone:
            return
        reply = (
            b"R" + bytes((rc & 255,)) + len(out).to_bytes(4, "big") + out + len(err).to_bytes(4, "big") + err
        )
        try:
            call.conn.sendall(reply)
        except OSError:
            pass

    def _answer(self, call: _Call) -> tuple[int, bytes, bytes]:
        words = call.take().decode("utf-8", "surrogateescape").split("\0")
        if len(words) < 3:
            return 1, b"", b"ERROR bad request: incomplete call\n"
        context_id, cwd, name, *argv = words
        if context_id != self._context_id:
            text = 'ERROR bad request: wrong context ID; got "%s"\n' % context_id
            return 1, b"", text.encode("utf-8", "surrogateescape")
        if name not in self._registry:
            text = "ERROR bad request: unknown command: %s\n" % name
            if name in toolclient.TOOL_NAMES:
                text = "ERROR %s is not supported yet by pushjuju\n" % name
            return 1, b"", text.encode("utf-8", "surrogateescape")
        if self._host.keeps("jujuc", "DEBUG"):
            self._host.log("DEBUG", 'running hook tool "%s"' % name, "jujuc")
        work = self._run_timed if "timed" in self._host.op else self._run
        return work(call, name, argv, cwd)

    def _run_timed(self, call: _Call, name: str, argv: list[str], cwd: str) -> tuple[int, bytes, bytes]:
        at, begun = wall_time() - self._host.begun, monotonic()
        answer = self._run(call, name, argv, cwd)
        if len(self.timed["calls"]) < MOST_TIMED:
            took = monotonic() - begun
            self.timed["calls"].append((name, max(int(at * 1e6), 0), int(took * 1e6), answer[0] & 255))
        else:
            self.timed["more"] += 1
        return answer

    def _run(self, call: _Call, name: str, argv: list[str], cwd: str) -> tuple[int, bytes, bytes]:
        try:
            rc, out, err = toolkit.run_tool(
                self._registry,
                name,
                argv,
                self._host.op.get("context") or {},
                self._writes,
                stdin=lambda: self._stdin(call),
                cwd=cwd,
                emit=self._host.emit,
                live=self._live,
                reads=self._reads,
                files=self._files() if name == "resource-get" else None,
            )
        except Gone:
            raise
        except Exception as error:
            return 1, b"", ("ERROR %s\n" % describe(error)).encode("utf-8", "replace")
        return int(rc), bytes(out), bytes(err)

    def _files(self) -> Any:
        paths = self._host.paths
        return UnitFiles(paths.agent(str(self._host.op["unit"])), paths.blobs)

    def _stdin(self, call: _Call) -> bytes:
        """Ask the client for its standard input and wait for all of it."""
        try:
            call.conn.sendall(b"I")
        except OSError:
            raise Gone from None
        self._watch(call)
        while not call.complete():
            if call.closed:
                raise Gone
            if call.too_large and not call.waste:
                raise ToolError("standard input is larger than %d bytes" % STDIN_LIMIT)
            self._host.pump(None)
        return call.take()

    def _live(self, name: str, argv: list[str], stdin: bytes, cwd: str) -> tuple[int, bytes, bytes]:
        """Let the controller answer a call."""
        self._live_number += 1
        text, encoding = output.as_text(stdin)
        message: frames.LiveCall = {"tool": name, "argv": list(argv), "stdin": text, "cwd": cwd}
        if encoding:
            message["stdin-encoding"] = encoding
        answer = self._host.ask_controller(self._live_number, message)
        if answer is None:
            return (
                1,
                b"",
                b"ERROR no controller is attached and %s needs one\n" % name.encode("ascii", "replace"),
            )
        return int(answer.get("rc", 1)), _bytes(answer, "stdout"), _bytes(answer, "stderr")


def _bytes(answer: frames.Told, key: str) -> bytes:
    said: Any = answer
    text = str(said.get(key) or "")
    if said.get(key + "-encoding") == "base64":
        return binascii.a2b_base64(text)
    return text.encode("utf-8", "surrogateescape")
