"""The process of one operation.

The server forks such a process for an operation. The process holds the operation's journal, runs the hook or
command, answers its hook tools, and writes the result; it needs the server only to talk to the controller.
When the server dies, the process goes on alone and looks for a new server: nothing that a hook did is lost.
"""

from __future__ import annotations

import _socket
import fcntl
import os
import select

from pushjuju.portable import loglevels
from pushjuju.portable.jsontext import dumps
from pushjuju.runner.remote.base import layout, signals, wire
from pushjuju.runner.remote.base.results import (
    Interrupted,
    Known,
    Withdrawn,
    is_quiet,
    log_event,
    masked,
    monotonic,
    result_frame,
    wall_time,
)
from pushjuju.runner.remote.disk import journal, requests

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    from pushjuju.portable import frames

EVENT_DELAY = 0.02  # seconds that an event waits for more events, so that they share a frame
EVENTS_PER_FRAME = 256
LOG_LIMIT = 8 * 1024 * 1024  # bytes of events other than output that one operation keeps
RECONNECT_EVERY = 0.25
TAIL_EVERY = 0.3  # seconds between lines that are shown to the user, but not stored
TAIL_LETTERS = 400
LOCK_EVERY = 0.02
OPERATION_LOGGER = "juju.worker.uniter.operation"
RUNNER_LOGGER = "pushjuju.runner"
# What the journal keeps of an operation.
_KNOWN_BY = ("id", "kind", "unit", "hook", "action", "url", "request")


class Host:
    """One operation, in the process that runs it."""

    def __init__(
        self, op: frames.Op, setting: frames.Setting, paths: layout.Layout, server: Any, registry: Any
    ) -> None:
        self.op = op  # the operation frame of the controller
        self.options: dict[str, Any] = setting["options"]
        self.lock = str(setting["lock"])  # name of the operation's lock; "" for an operation without lock
        self.boot_id = str(setting["boot_id"])  # the running boot of the machine
        self.paths = paths  # the paths of pushjuju's files
        self.registry = registry  # hook tools by name; None when the server has not loaded them
        self.cancelled = 0  # signal number of a cancellation; 0 without a cancellation
        # the workload status that the charm set last in this plan, or None when it set none
        self.status: Any = setting.get("status")
        self.asked = False  # True once the controller answered a hook tool, which may have changed the model
        self.on_cancel: Callable[[int], None] | None = None
        self.live_results: dict[int, frames.Told] = {}
        self.unsaved = ""
        self._channel, self._reader = server  # a socket, None when it is lost; and what reads its frames
        self._channel_fd: int = self._channel.fileno()
        self._poll = select.poll()
        self._handlers: dict[int, Callable[[], None]] = {}
        self._looks = 0  # number of polls so far
        self._seq = 0
        self._pending: list[frames.Numbered] = []
        self._pending_since = 0.0
        self._event_delay = float(self.options.get("event_delay", EVENT_DELAY))
        self._log_left = LOG_LIMIT
        self.masks: list[str] = []  # values of secrets, which events must not show
        self._logging = str(op.get("logging", ""))
        self._output_logger = "unit.%s.%s" % (op.get("unit", ""), op.get("hook") or op.get("action") or "")
        self._kept: dict[tuple[str, str], bool] = {}
        self._live_frames: dict[int, bytes] = {}
        self._next_reconnect = 0.0
        self._tail = ""
        self._next_tail = 0.0
        self._journal: journal.Writer | None = None
        self._lock_fd = -1
        self.begun = 0.0  # when the operation began, in seconds since the epoch
        self.held = False
        self.watch(self._channel_fd, self._read_channel)

    # -- waiting ---------------------------------------------------------------------------------------------

    def watch(self, fd: int, handler: Callable[[], None]) -> None:
        """Call a handler whenever a descriptor is readable or closed."""
        self._handlers[fd] = handler
        self._poll.register(fd, select.POLLIN)

    def unwatch(self, fd: int) -> None:
        """Stop watching a descriptor."""
        if self._handlers.pop(fd, None) is not None:
            self._poll.unregister(fd)

    def pump(self, timeout: float | None) -> None:
        """Wait at most ``timeout`` seconds for a descriptor or a due time, and handle what is ready."""
        if self._pending or self._tail or self._channel is None:
            timeout = self._next_due(timeout)
        ready = self._poll.poll(None if timeout is None else int(max(timeout, 0.0) * 1000) + (timeout > 0))
        self._looks = look = self._looks + 1
        for fd, _ in ready:
            handler = self._handlers.get(fd)
            if handler is not None:
                handler()
            if self._looks != look:
                break  # the handler polled, too, and may have read what was ready: a second read would block
        if self._pending or self._tail or self._channel is None:
            self._do_due(monotonic())

    def _next_due(self, timeout: float | None) -> float:
        """Return the seconds until the time-out or the next due time."""
        limits, now = [] if timeout is None else [timeout], monotonic()
        if self._pending:
            limits.append(self._pending_since + self._event_delay - now)
        if self._tail:
            limits.append(self._next_tail - now)
        # An operation without a server goes on, and tries to connect to a new server from time to time.
        if self._channel is None:
            limits.append(self._next_reconnect - now)
        return min(limits)

    def _do_due(self, now: float) -> None:
        if self._pending and now >= self._pending_since + self._event_delay:
            self.flush_events()
        if self._tail and now >= self._next_tail:
            self._send_tail()
        if self._channel is None and now >= self._next_reconnect:
            self._reconnect()

    # -- the server ------------------------------------------------------------------------------------------

    def _read_channel(self) -> None:
        try:
            data = os.read(self._channel_fd, wire.READ_SIZE)
            frames = self._reader.feed(data)
        except (OSError, wire.BadFrame):
            data, frames = b"", []
        self.take(frames)
        if not data:
            self._lose_channel()

    def take(self, frames: list[tuple[int, bytes]]) -> None:
        """Handle frames of the server."""
        for kind, payload in frames:
            message = wire.unpack(wire.RAW, payload)
            if kind == wire.CANCEL:
                self.cancelled = int(message.get("signal", signals.KILL))
                if self.on_cancel is not None:
                    self.on_cancel(self.cancelled)
            elif kind == wire.LIVE_RESULT:
                self.live_results[int(message["call"])] = message

    def _lose_channel(self) -> None:
        if self._channel is None:
            return
        self.unwatch(self._channel_fd)
        self._channel.close()
        self._channel = None
        self._reader = wire.Reader()
        self._next_reconnect = monotonic() + RECONNECT_EVERY

    def _reconnect(self) -> None:
        self._next_reconnect = monotonic() + RECONNECT_EVERY
        channel = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM | _socket.SOCK_CLOEXEC)
        here = os.open(".", os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.chdir(self.paths.program)  # a relative path is never too long for a socket address
            channel.connect("server.sock")
        except OSError:
            channel.close()
            return
        finally:
            os.fchdir(here)
            os.close(here)
        self._channel = channel
        self._channel_fd = channel.fileno()
        self.watch(self._channel_fd, self._read_channel)
        hello = dumps({"host": self.op["id"], "pid": os.getpid(), "unsaved": bool(self.unsaved)})
        self._send(wire.HELLO, hello.encode("ascii"))
        for frame in list(self._live_frames.values()):
            self._send(wire.LIVE, frame)

    def _send(self, kind: int, payload: bytes) -> bool:
        if self._channel is None:
            return False
        try:
            self._channel.sendall(wire.frame(kind, payload))
        except OSError:
            self._lose_channel()
            return False
        return True

    # -- events ----------------------------------------------------------------------------------------------

    def emit(self, event: frames.Event) -> None:
        """Record an event, which is soon sent to the controller; drop log lines that it would not keep."""
        if not self._is_kept(event):
            if "tail" in self.op and event["k"] == "output":
                self._show(event["line"])
            return
        event.setdefault("time", wall_time())
        if self.masks:
            event = masked(event, self.masks)
        # A hook that logs in a loop must not fill the store.
        if event.get("k") != "output":
            if self._log_left <= 0:
                return
            self._log_left -= 64 + len(str(event.get("message", "")))
            if self._log_left <= 0:
                event = log_event("WARNING", RUNNER_LOGGER, "too many log messages: the rest is left out")
        self._seq += 1
        if not self._pending:
            self._pending_since = monotonic()
        self._pending.append({"seq": self._seq, "e": event})
        if len(self._pending) >= EVENTS_PER_FRAME:
            self.flush_events()

    def _show(self, line: str) -> None:
        """Keep the last line of output that is not stored, for a user who watches the operation."""
        if line.strip():
            if not self._tail:
                self._next_tail = max(self._next_tail, monotonic() + TAIL_EVERY)
            self._tail = line[:TAIL_LETTERS]

    def _send_tail(self) -> None:
        line, self._tail = masked({"k": "tail", "line": self._tail}, self.masks)["line"], ""
        frame: frames.Events = {"t": "event", "id": self.op["id"], "seq": 0, "es": [], "tail": line}
        self._send(wire.EVENT, wire.pack(frame))

    def _is_kept(self, event: frames.Event) -> bool:
        """Return True when the controller stores an event: all but log and output below the logging level."""
        if event["k"] == "log":
            module, level = event["module"], event["level"]
        elif event["k"] == "output":
            module, level = self._output_logger, "WARNING" if event["stream"] == "stderr" else "DEBUG"
        else:
            return True
        return self.keeps(module, level)

    def keeps(self, module: str, level: str) -> bool:
        """Return True when the controller stores messages of a module and level."""
        found = self._kept.get((module, level)) if self._logging else True
        if found is None:
            found = self._kept[module, level] = loglevels.kept(self._logging, module, level)
        return found

    def log(self, level: str, message: str, module: str = OPERATION_LOGGER) -> None:
        """Record a log message."""
        self.emit(log_event(level, module, message))

    def flush_events(self) -> None:
        """Write pending events to the journal and send them."""
        events, self._pending = self._pending, []
        if not events:
            return
        self._record("events", events)
        frame = wire.pack({"t": "event", "id": self.op["id"], "seq": events[0]["seq"], "es": events})
        self._send(wire.EVENT, frame)

    def _record(self, key: str, value: Any, sync: bool = False) -> None:
        if self._journal is None:
            return
        try:
            self._journal.write(key, value, sync)
        except OSError as error:
            self.unsaved = error.strerror or str(error)

    def started(self, pid: int) -> None:
        """Record the pid of the hook or command, so that a later server can kill it if this process dies."""
        self._record("child", {"pid": pid, "start": layout.process_start(pid)})

    # -- live calls ------------------------------------------------------------------------------------------

    def ask_controller(self, call: int, message: frames.LiveCall) -> frames.Told | None:
        """Ask the controller and return its answer; return None when no answer comes in time."""
        self.flush_events()
        self.asked = True
        frame = wire.pack({**message, "t": "live", "id": self.op["id"], "call": call})
        self._live_frames[call] = frame
        self._send(wire.LIVE, frame)
        limit = float(self.options.get("live_timeout", 300))
        alone_since = monotonic()
        while call not in self.live_results:
            if self._channel is not None:
                alone_since = monotonic()  # the server has a time limit of its own for this case
            elif monotonic() - alone_since > limit:
                break
            if self.cancelled:
                break
            self.pump(1.0)
        del self._live_frames[call]
        return self.live_results.pop(call, None)

    # -- life of the operation -------------------------------------------------------------------------------

    def begin(self) -> None:
        """Take the lock and write the journal's first line, after which the id never starts again."""
        if self.lock:
            self._take_lock(self.lock)
        writer = self._take_id()
        op: Any = self.op
        known: Any = {key: op[key] for key in _KNOWN_BY if key in op}
        record: frames.Begun = known
        record.update({"boot_id": self.boot_id, "started": wall_time(), "lock": self.lock})
        record.update({"host": os.getpid(), "program": self.paths.version})
        try:
            writer.begin(record)
        except OSError:
            writer.discard()
            raise
        self._journal = writer
        self.begun = record["started"]
        if "request" in self.op:
            self._take_request(str(self.op["request"]))

    def _take_request(self, request: str) -> None:
        """Mark a request of juju-exec as begun, so that the user cannot withdraw it."""
        if not requests.claim(self.paths.base, request):
            raise Withdrawn("the juju-exec process that requested the commands has ended")

    def _take_id(self) -> journal.Writer:
        """Make the journal file of the operation: only the process that makes the file runs the operation."""
        self.pump(0)
        if self._channel is None:
            raise SystemExit(0)  # the server died before the operation began: the next server gets it again
        try:
            return journal.Writer(self.paths.journal, str(self.op["id"]))
        except FileExistsError:
            raise Known from None

    def _take_lock(self, lock: str) -> None:
        name = self.paths.machine_lock
        if lock != "machine":
            name += "-" + journal.file_name(lock)[3:]
        self._lock_fd = os.open(name, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        while True:
            try:
                fcntl.flock(self._lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except OSError:
                if self.cancelled:
                    raise Interrupted("cancelled before it started") from None
                if self._channel is None:
                    raise SystemExit(0) from None
            self.pump(LOCK_EVERY)

    def finish(self, result: frames.Result) -> None:
        """Write and send the result; when the disk is full, wait until the result is safe."""
        events, self._pending = self._pending, []
        result.setdefault("started", self.begun or None)
        result["ended"] = wall_time()
        if events:
            self._record("events", events)
        self._record("result", result, True)
        if self._lock_fd >= 0:
            os.close(self._lock_fd)  # first: the controller starts the next hook as soon as it has the result
        if self.unsaved:
            note = "the journal could not be written (%s): the result is kept in memory" % self.unsaved
            self._seq += 1
            events.append({"seq": self._seq, "e": log_event("WARNING", RUNNER_LOGGER, note)})
        frame = wire.pack(result_frame(result, self.op["id"], events))
        if self._journal is None or not self.unsaved:
            if "then" in self.op and not self.asked and is_quiet(result):
                self._send(wire.QUIET, dumps({"status": self.status}).encode("ascii"))
            self._send(wire.RESULT, frame)
            return
        self._hold(result, frame)

    def close(self) -> bool:
        """Close the operation's files; return True when the process may run another operation."""
        if self._journal is not None:
            os.close(self._journal.fd)
        os.chdir("/")
        return self._channel is not None and not self.held

    def _hold(self, result: frames.Result, frame: bytes) -> None:
        """Keep a result in memory until the controller has it or the disk has room again."""
        self.held = True
        end = monotonic() + float(self.options.get("unsaved_timeout", 3600))
        sent = self._send(wire.UNSAVED, frame)
        while monotonic() < end:
            self.pump(1.0)
            if self._channel is None:
                sent = False
            elif not sent:
                sent = self._send(wire.UNSAVED, frame)
            self.unsaved = ""
            self._record("result", result, True)
            if not self.unsaved or not os.path.exists(self.paths.journal):
                return
