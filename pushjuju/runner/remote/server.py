"""The server: one process per machine and program version, alive only while there is work or an attachment.

It owns the local socket, hands operations to processes of their own (``host``), keeps one hook at a time on
the machine, and passes frames between them and whoever is attached. It holds nothing that matters:
everything that must survive is in the journal, so it may be killed at any moment.
"""

from __future__ import annotations

import _socket
import fcntl
import os
import select

from pushjuju.runner.remote import blobs, journal, layout, signals, wire
from pushjuju.runner.remote.host import describe, error_result, monotonic, wall_time
from pushjuju.runner.remote.jsonlite import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SILENCE = 90.0  # seconds without a sign of life after which a controller is taken for dead
LINGER = 10.0  # seconds without attachment and work before the server ends
FOREIGN_POLL = 0.2  # seconds between looks at operations that another server's process runs
READ_SIZE = 1 << 18
REUSED_KINDS = ("hook", "action", "commands", "exec")
MAX_TRIES = 50
MAX_USES = 64  # operations that one process runs, so that whatever a tool leaks goes with it
# Kinds that take the machine lock; parallel actions name another one in the frame, plain commands take none.
LOCKED_KINDS = ("hook", "action", "commands", "deploy", "remove-unit", "reboot")


class Attachment:
    """One controller connection: the descriptors of its SSH channel, handed over by the attach process."""

    def __init__(self, conn: Any) -> None:
        self.conn = conn
        self.ctl = conn.fileno()
        self.inp = -1
        self.out = -1
        self.reader = wire.Reader()
        self.backlog = bytearray()
        self.receivers: dict[str, blobs.Receiver] = {}
        self.open = True
        self.heard = 0.0  # when it last gave a sign of life; 0 for one that gives none


class Running:
    """One operation in flight.

    Attributes:
        channel: Socket to its process; None for one that has not (re)connected yet.
        subscriber: Who gets its events and result.
        live: Frames of questions that the controller has not answered, by call number.
        unsaved: The result frame that no disk took.
    """

    def __init__(self, op_id: str, lock: str, channel: Any = None, pid: int = 0) -> None:
        self.op_id = op_id
        self.lock = lock
        self.channel = channel
        self.pid = pid
        self.reader = wire.Reader()
        self.subscriber: Attachment | None = None
        self.live: dict[int, bytes] = {}
        self.live_since = 0.0
        self.queued: Queued | None = None
        self.uses = 0
        self.alone_since = monotonic()
        self.unsaved = b""


class Spare:
    """A process that waits for an operation.

    Attributes:
        uses: Operations it has run.
    """

    def __init__(self, channel: Any, pid: int, uses: int = 0) -> None:
        self.channel = channel
        self.pid = pid
        self.uses = uses


class Queued:
    """An operation that waits for its lock, as it came over the wire."""

    def __init__(
        self, op_id: str, kind: str, lock: str, flag: int, payload: bytes, who: Attachment | None
    ) -> None:
        self.op_id = op_id
        self.kind = kind
        self.lock = lock
        self.message = bytes((flag,)) + payload
        self.who = who
        self.tries = 0


class Server:
    """State and loop of the server."""

    def __init__(self, paths: layout.Layout, options: dict[str, Any], listener: Any) -> None:
        self.paths = paths
        self.options = options
        self.linger = float(options.get("linger", LINGER))
        self.listener = listener
        self.poll = select.poll()
        self.attachments: dict[int, Attachment] = {}
        self.newcomers: dict[int, Any] = {}
        self.queue: list[Queued] = []
        self.spare: Spare | None = None
        self.registry: Any = None
        self.boot_id = layout.boot_id()
        self.running: dict[str, Running] = {}
        self.channels: dict[int, Running] = {}
        self.seen = journal.Seen(paths.journal)
        self.done: dict[str, str] = {}
        self.idle_since = monotonic()
        self.preloaded = False
        self.poll.register(listener.fileno(), select.POLLIN)
        self._adopt()

    # -- start: what an earlier server left ----------------------------------------------------------------

    def _adopt(self) -> None:
        for path in journal.entries(self.paths.journal):
            self._adopt_one(path)

    def _adopt_one(self, path: str) -> None:
        try:
            entry = journal.Entry(path)
            held = entry.result is None and journal.running(path)
            if entry.result is None and not held:
                entry = journal.Entry(path)  # it may have ended between the two looks
        except OSError:
            return
        if entry.result is not None:
            self.done[entry.op_id] = path
        elif held and entry.op_id:
            self.running[entry.op_id] = Running(entry.op_id, str(entry.begin.get("lock", "")))
        elif held:
            pass  # it is being begun this moment
        elif not entry.op_id:
            os.unlink(path)  # it broke off before anything was started
        else:
            self._bury(entry)

    def _bury(self, entry: journal.Entry) -> None:
        """Close the journal of an operation whose process died: nothing of it may go on running."""
        same_boot = entry.begin.get("boot_id") == self.boot_id
        if same_boot:
            _end_group(entry.child)
        why = "the process that ran it was killed" if same_boot else "the machine restarted while it ran"
        result = error_result(why)
        result.update(outcome="terminated", via=entry.begin.get("via"))
        result.update(started=entry.begin.get("started"), ended=wall_time(), recovered=True)
        try:
            journal.close_entry(entry, result)
        except OSError:
            entry.result = result
        self.done[entry.op_id] = entry.path

    # -- loop ----------------------------------------------------------------------------------------------

    def serve(self) -> None:
        """Serve until nobody is attached and nothing runs for the linger time."""
        while True:
            for fd, event in self.poll.poll(int(self._timeout() * 1000)):
                self._ready(fd, event)
            self._foreign()
            self._live_limits()
            self._silent()
            self._schedule()
            self._keep_spare()
            if self.attachments or self.newcomers or self.queue or self.running:
                self.idle_since = monotonic()
            elif monotonic() - self.idle_since >= self.linger or self._is_purging():
                return

    def _silent(self) -> None:
        """Let go of controllers whose network died: their SSH session may hang here for hours."""
        limit = float(self.options.get("silence", SILENCE))
        for attachment in set(self.attachments.values()):
            if attachment.heard and monotonic() - attachment.heard > limit:
                self._detach(attachment)

    def _timeout(self) -> float:
        if any(running.channel is None for running in self.running.values()):
            return FOREIGN_POLL
        if any(running.live for running in self.running.values()):
            return 1.0
        if self.attachments or self.newcomers or self.running:
            return min(60.0, float(self.options.get("silence", SILENCE)) / 2)
        return max(self.idle_since + self.linger - monotonic(), 0.0) + 0.001

    def _ready(self, fd: int, event: int) -> None:
        if fd == self.listener.fileno():
            self._accept()
        elif fd in self.newcomers:
            self._greet(fd)
        elif fd in self.channels:
            self._read_channel(self.channels[fd])
        elif fd in self.attachments:
            self._attachment_ready(self.attachments[fd], fd, event)

    def _accept(self) -> None:
        try:
            fd = self.listener._accept()[0]
        except OSError:
            return
        conn = _socket.socket(fileno=fd)
        self.newcomers[fd] = conn
        self.poll.register(fd, select.POLLIN)

    def _greet(self, fd: int) -> None:
        """Take the first message of a newcomer: an attach process, or a host that lost its server."""
        conn = self.newcomers.pop(fd)
        self.poll.unregister(fd)
        try:
            data, ancillary, _, _ = conn.recvmsg(1 << 18, _socket.CMSG_SPACE(8), _socket.MSG_CMSG_CLOEXEC)
        except OSError:
            conn.close()
            return
        fds = _received(ancillary)
        try:
            (kind, payload) = wire.Reader().feed(data)[0]
            message = loads(payload.decode("utf-8"))
        except (IndexError, ValueError):
            for extra in fds:
                os.close(extra)
            conn.close()
            return
        if "host" in message:
            self._welcome_host(conn, message)
        elif len(fds) == 2:
            self._welcome_attachment(conn, fds, message)
        else:
            conn.close()

    # -- attachments ---------------------------------------------------------------------------------------

    def _welcome_attachment(self, conn: Any, fds: list[int], message: dict[str, Any]) -> None:
        attachment = Attachment(conn)
        attachment.inp, attachment.out = fds
        try:
            conn.send(b"A")
        except OSError:
            for fd in fds:
                os.close(fd)
            conn.close()
            return
        self.options.update(message.get("options") or {})
        self.linger = float(self.options.get("linger", LINGER))
        os.set_blocking(attachment.out, False)
        for fd in (attachment.ctl, attachment.inp, attachment.out):
            self.attachments[fd] = attachment
        self.poll.register(attachment.ctl, select.POLLIN)
        self.poll.register(attachment.inp, select.POLLIN)
        self.poll.register(attachment.out, 0)
        self._write(attachment, b"PJ1R" + wire.pack(self._hello(message.get("facts") or {})))
        self._preload()

    def _hello(self, facts: dict[str, Any]) -> dict[str, Any]:
        done, parts = blobs.listing(self.paths.blobs)
        known = [{"id": op_id, "done": True} for op_id in self.done]
        known += [{"id": op_id, "done": bool(running.unsaved)} for op_id, running in self.running.items()]
        hello = {"t": "hello", "protocol": wire.PROTOCOL, "program": self.paths.version, "pid": os.getpid()}
        hello.update(facts, blobs=done, parts=parts, journal=known, running=list(self.running))
        hello["units"] = self.paths.units()
        crash = layout.read_text(self.paths.base + "/crash")
        if crash:
            hello["crash"] = crash
            os.unlink(self.paths.base + "/crash")
        return hello

    def _preload(self) -> None:
        """Import what hooks need while nobody waits for it; every forked process then has it."""
        if self.preloaded:
            return
        self.preloaded = True
        try:
            _forget_programs(self.paths)
            import gc

            from pushjuju.runner.remote import hookrun

            self.registry = hookrun.preload(self.paths.program)
            gc.collect()
            gc.freeze()
        except Exception:
            pass  # the hook that needs the broken part will say so

    def _attachment_ready(self, attachment: Attachment, fd: int, event: int) -> None:
        if fd == attachment.ctl:
            self._hung_up(attachment)
        elif fd == attachment.out:
            if event & select.POLLOUT:
                self._write(attachment, b"")
            elif event:
                self._hung_up(attachment)
        else:
            self._read_attachment(attachment)

    def _hung_up(self, attachment: Attachment) -> None:
        """Take what was sent before the other side hung up (an acknowledgement, often), then let go."""
        poll = select.poll()
        poll.register(attachment.inp, select.POLLIN)
        while attachment.open and poll.poll(0):
            self._read_attachment(attachment)
        self._detach(attachment)

    def _read_attachment(self, attachment: Attachment) -> None:
        try:
            data = os.read(attachment.inp, READ_SIZE)
            frames = attachment.reader.feed(data)
        except (OSError, wire.BadFrame):
            data, frames = b"", []
        for flag, payload in frames:
            if attachment.open:
                self._frame(attachment, flag, payload)
        if not data:
            self._detach(attachment)

    def _frame(self, attachment: Attachment, flag: int, payload: bytes) -> None:
        try:
            if flag == wire.BLOB:
                self._piece(attachment, payload)
                return
            message = wire.unpack(flag, payload)
            if message.get("t") == "op":
                self._on_op(attachment, message, flag, payload)
                return
        except ValueError as error:
            self._send(attachment, {"t": "error", "message": describe(error)})
            self._detach(attachment)
            return
        handler = self._HANDLERS.get(str(message.get("t")))
        if handler is None:
            self._send(attachment, {"t": "error", "message": "unknown frame", "id": message.get("id")})
            return
        try:
            handler(self, attachment, message)
        except (KeyError, TypeError, ValueError, OSError) as error:
            answer = {"t": "error", "id": message.get("id"), "message": describe(error)}
            self._send(attachment, answer)

    def _send(self, attachment: Attachment | None, message: dict[str, Any]) -> None:
        if attachment is not None:
            self._write(attachment, wire.pack(message))

    def _write(self, attachment: Attachment, data: bytes) -> None:
        if not attachment.open:
            return
        if data and not attachment.backlog:
            try:
                done = os.write(attachment.out, data)
            except BlockingIOError:
                done = 0
            except OSError:
                self._detach(attachment)
                return
            if done == len(data):
                return
            data = data[done:]
        attachment.backlog += data
        try:
            while attachment.backlog:
                del attachment.backlog[: os.write(attachment.out, attachment.backlog[: 1 << 18])]
        except BlockingIOError:
            pass
        except OSError:
            self._detach(attachment)
            return
        self.poll.modify(attachment.out, select.POLLOUT if attachment.backlog else 0)

    def _detach(self, attachment: Attachment) -> None:
        if not attachment.open:
            return
        attachment.open = False
        for fd in (attachment.ctl, attachment.inp, attachment.out):
            self.attachments.pop(fd, None)
            self.poll.unregister(fd)
        for receiver in attachment.receivers.values():
            receiver.close()
        os.close(attachment.inp)
        os.close(attachment.out)
        attachment.conn.close()
        for running in self.running.values():
            if running.subscriber is attachment:
                running.subscriber = None
                running.alone_since = monotonic()
        for queued in self.queue:
            if queued.who is attachment:
                queued.who = None
        if not self.attachments:
            self._drop_spare()

    # -- frames of the controller --------------------------------------------------------------------------

    def _on_op(self, attachment: Attachment, message: dict[str, Any], flag: int, payload: bytes) -> None:
        op_id = str(message["id"])
        if self._answer_known(attachment, op_id):
            return
        journal.file_name(op_id)
        wanted = message.get("if_boot_id")
        if wanted and wanted != self.boot_id:
            result = error_result("the machine has rebooted since")
            self._send(attachment, dict(result, t="result", id=op_id, events=[], code="boot-id"))
            return
        default = "machine" if message.get("kind") in LOCKED_KINDS else ""
        lock = message.get("lock", default)
        self.queue.append(Queued(op_id, str(message.get("kind")), str(lock or ""), flag, payload, attachment))
        self._unpurge(message)

    def _on_fetch(self, attachment: Attachment, message: dict[str, Any]) -> None:
        op_id = str(message["id"])
        if not self._answer_known(attachment, op_id):
            result = error_result("the machine does not know this operation")
            self._send(attachment, dict(result, t="result", id=op_id, outcome="unknown", events=[]))

    def _answer_known(self, attachment: Attachment, op_id: str) -> bool:
        """Answer for an id that the machine knows; False when it may be started."""
        if op_id in self.done:
            self._send_stored(attachment, op_id)
        elif op_id in self.running:
            self._subscribe(attachment, self.running[op_id])
        elif self._find_on_disk(op_id):
            return self._answer_known(attachment, op_id)
        elif op_id in self.seen:
            known = error_result("this operation was done and acknowledged before")
            self._send(attachment, dict(known, t="result", id=op_id, outcome="known", events=[]))
        else:
            for queued in self.queue:
                if queued.op_id == op_id:
                    queued.who = attachment
                    return True
            return False
        return True

    def _find_on_disk(self, op_id: str) -> bool:
        """Learn of an operation that the server of another program version took up."""
        path = self.paths.journal + "/" + journal.file_name(op_id)
        if not os.path.exists(path):
            return False
        self._adopt_one(path)
        return op_id in self.done or op_id in self.running

    def _send_stored(self, attachment: Attachment, op_id: str) -> None:
        try:
            entry = journal.Entry(self.done[op_id])
            result = entry.result or error_result("the journal of this operation is damaged")
        except OSError as error:
            result, events = error_result("the journal cannot be read: " + describe(error)), []
        else:
            events = entry.events
        self._send(attachment, dict(result, t="result", id=op_id, events=events))

    def _subscribe(self, attachment: Attachment, running: Running) -> None:
        """Give events so far, open questions and all that follows to an attachment."""
        running.subscriber = attachment
        if running.unsaved:
            self._write(attachment, running.unsaved)
            return
        try:
            events = journal.Entry(self.paths.journal + "/" + journal.file_name(running.op_id)).events
        except OSError:
            events = []
        if events:
            self._send(attachment, {"t": "event", "id": running.op_id, "seq": events[0]["seq"], "es": events})
        for frame in list(running.live.values()):
            self._write(attachment, frame)

    def _on_ack(self, _attachment: Attachment, message: dict[str, Any]) -> None:
        op_id = str(message["id"])
        running = self.running.get(op_id)
        path = self.done.pop(op_id, None)
        if running is not None and running.unsaved:
            path = self.paths.journal + "/" + journal.file_name(op_id)
            self._forget(running)
        if path is None:
            return
        self.seen.add(op_id)
        try:
            os.unlink(path)
        except OSError:
            pass

    def _on_cancel(self, _attachment: Attachment, message: dict[str, Any]) -> None:
        op_id = str(message["id"])
        number = {"TERM": 15, "INT": 2, "KILL": 9}.get(str(message.get("signal", "KILL")), 9)
        for queued in self.queue:
            if queued.op_id == op_id:
                self.queue.remove(queued)
                result = error_result("cancelled before it started")
                self._send(queued.who, dict(result, t="result", id=op_id, outcome="interrupted", events=[]))
                return
        running = self.running.get(op_id)
        if running is not None and running.channel is not None:
            self._tell(running, wire.CANCEL, {"signal": number})
        elif running is not None:
            # Its process talks to the server of another program version, or is on its way back to us.
            _end_group(journal.Entry(self.paths.journal + "/" + journal.file_name(op_id)).child, number)

    def _on_live_result(self, _attachment: Attachment, message: dict[str, Any]) -> None:
        running = self.running.get(str(message["id"]))
        if running is not None and running.live.pop(int(message["call"]), None) is not None:
            self._tell(running, wire.LIVE_RESULT, message)

    def _on_ping(self, attachment: Attachment, message: dict[str, Any]) -> None:
        self._send(attachment, {"t": "pong", "id": message.get("id")})

    def _on_beat(self, attachment: Attachment, _message: dict[str, Any]) -> None:
        attachment.heard = monotonic()

    def _on_put(self, attachment: Attachment, message: dict[str, Any]) -> None:
        digest, size = str(message["sha256"]), int(message["size"])
        if blobs.is_digest(digest) and os.path.exists(self.paths.blobs + "/" + digest):
            self._send(attachment, {"t": "ok", "sha256": digest})
            return
        try:
            offset = int(message.get("offset", 0))
            receiver = blobs.Receiver(self.paths.blobs, digest, size, offset)
            if receiver.offset < offset:  # the part that was here at hello is gone
                receiver.close()
                self._send(attachment, {"t": "put-error", "sha256": digest, "restart": True})
                return
            attachment.receivers[digest] = receiver
            if receiver.settle():
                self._received(attachment, digest)
        except (OSError, ValueError) as error:
            self._put_failed(attachment, digest, error)

    def _piece(self, attachment: Attachment, payload: bytes) -> None:
        digest = payload[:32].hex()
        receiver = attachment.receivers.get(digest)
        if receiver is None:
            return  # its failure was told already; the rest of it is still on the way
        try:
            if receiver.feed(payload[32:]):
                self._received(attachment, digest)
        except (OSError, ValueError) as error:
            receiver.abort()
            self._put_failed(attachment, digest, error)

    def _received(self, attachment: Attachment, digest: str) -> None:
        del attachment.receivers[digest]
        self._send(attachment, {"t": "ok", "sha256": digest})

    def _put_failed(self, attachment: Attachment, digest: str, error: Exception) -> None:
        attachment.receivers.pop(digest, None)
        number = getattr(error, "errno", None)
        self._send(
            attachment, {"t": "put-error", "sha256": digest, "message": describe(error), "errno": number}
        )

    _HANDLERS = {
        "fetch": _on_fetch,
        "ack": _on_ack,
        "cancel": _on_cancel,
        "live-result": _on_live_result,
        "ping": _on_ping,
        "beat": _on_beat,
        "put": _on_put,
    }

    # -- operations ----------------------------------------------------------------------------------------

    def _schedule(self) -> None:
        if not self.queue:
            return
        held = {running.lock for running in self.running.values() if running.lock}
        waiting = []
        for queued in self.queue:
            if queued.lock and queued.lock in held:
                waiting.append(queued)
                continue
            held.add(queued.lock)
            self._start(queued)
        self.queue = waiting

    def _start(self, queued: Queued) -> None:
        """Hand an operation to the process that waits for one, or to a new one."""
        setting = dumps({"lock": queued.lock, "options": self.options, "boot_id": self.boot_id}).encode(
            "ascii"
        )
        frame = wire.frame(wire.START, setting + b"\n" + queued.message)
        for _ in range(2):
            try:
                worker, self.spare = self.spare or self._fork_host(), None
                worker.channel.sendall(frame)
                break
            except OSError as error:
                reason = error
        else:
            result = error_result("cannot start a process: " + describe(reason), reason.errno)
            self._send(queued.who, dict(result, t="result", id=queued.op_id, events=[]))
            return
        running = Running(queued.op_id, queued.lock, worker.channel, worker.pid)
        running.uses = worker.uses + 1 if queued.kind in REUSED_KINDS else MAX_USES
        running.subscriber = queued.who if queued.who is not None and queued.who.open else None
        running.queued = queued
        self._watch(running)
        self.running[running.op_id] = running

    def _fork_host(self) -> Spare:
        """Fork a process that waits for an operation."""
        channel, other = _socket.socketpair()
        try:
            pid = os.fork()
        except OSError:
            channel.close()
            other.close()
            raise
        if pid == 0:
            self._become_host(other.fileno())
        other.close()
        return Spare(channel, pid)

    def _keep_spare(self) -> None:
        """Have a process ready for the next operation; made while nothing else is to be done."""
        if self.spare is None and self.preloaded and self.attachments and not self.running:
            try:
                self.spare = self._fork_host()
            except OSError:
                pass

    def _drop_spare(self) -> None:
        if self.spare is not None:
            self.spare.channel.close()
            self.spare = None

    def _become_host(self, channel: int) -> None:
        """Wait for an operation in the forked process and run it; never returns."""
        code = 1
        try:
            fds = [channel, self.listener.fileno(), *self.attachments, *self.newcomers, *self.channels]
            top = max([*fds, 64]) + 1
            os.closerange(3, channel)
            os.closerange(channel + 1, top)
            from pushjuju.runner.remote import host

            host.run(self.paths, channel, self.registry)
            code = 0
        except SystemExit:
            code = 0
        finally:
            os._exit(code)

    def _watch(self, running: Running) -> None:
        fd = running.channel.fileno()
        self.channels[fd] = running
        self.poll.register(fd, select.POLLIN)

    def _welcome_host(self, conn: Any, message: dict[str, Any]) -> None:
        running = self.running.get(str(message["host"]))
        if running is None or running.channel is not None:
            conn.close()
            return
        running.channel, running.pid = conn, 0
        running.reader = wire.Reader()
        self._watch(running)

    def _read_channel(self, running: Running) -> None:
        try:
            data = running.channel.recv(1 << 20)
            frames = running.reader.feed(data)
        except (OSError, wire.BadFrame):
            data, frames = b"", []
        for kind, payload in frames:
            self._from_host(running, kind, payload)
        if not data and self.running.get(running.op_id) is running:
            self._host_gone(running)

    def _from_host(self, running: Running, kind: int, payload: bytes) -> None:
        if kind == wire.EVENT:
            self._pass_on(running, payload)
        elif kind == wire.LIVE:
            message = wire.unpack(payload[4], payload[5:])
            if not running.live:
                running.live_since = monotonic()
            running.live[int(message["call"])] = payload
            self._pass_on(running, payload)
        elif kind == wire.RESULT:
            self._pass_on(running, payload)
            path = self.paths.journal + "/" + journal.file_name(running.op_id)
            if os.path.exists(path):  # else it was refused before it began: nothing to keep
                self.done[running.op_id] = path
            self._keep_for_next(running)
            self._forget(running)
        elif kind == wire.KNOWN:
            subscriber = running.subscriber
            self._forget(running)
            if not self._find_on_disk(running.op_id):
                self._never_began(running, subscriber)  # the other one is beginning or ending this moment
            elif subscriber is not None:
                self._answer_known(subscriber, running.op_id)
        elif kind == wire.UNSAVED:
            running.unsaved = payload
            running.lock = ""
            self._pass_on(running, payload)

    def _pass_on(self, running: Running, frame: bytes) -> None:
        if running.subscriber is not None:
            self._write(running.subscriber, frame)

    def _keep_for_next(self, running: Running) -> None:
        """Use the process of an operation that ended for the next one."""
        if self.spare is None and running.pid and running.uses < MAX_USES and self.attachments:
            fd = running.channel.fileno()
            self.channels.pop(fd, None)
            self.poll.unregister(fd)
            self.spare = Spare(running.channel, running.pid, running.uses)
            running.channel, running.pid = None, 0

    def _forget(self, running: Running) -> None:
        self.running.pop(running.op_id, None)
        if running.channel is not None:
            fd = running.channel.fileno()
            self.channels.pop(fd, None)
            self.poll.unregister(fd)
            running.channel.close()
            running.channel = None
        if running.pid:
            try:
                os.waitpid(running.pid, os.WNOHANG)
            except OSError:
                pass
        self._reap()

    def _reap(self) -> None:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except OSError:
            pass

    def _host_gone(self, running: Running) -> None:
        """A host hung up without a result: read what its journal says."""
        subscriber, unsaved, pid = running.subscriber, running.unsaved, running.pid
        self._forget(running)
        if pid:
            try:
                os.waitpid(pid, 0)  # its locks are gone only when it is
            except OSError:
                pass
        path = self.paths.journal + "/" + journal.file_name(running.op_id)
        try:
            entry = journal.Entry(path)
        except OSError:
            if not unsaved:
                self._never_began(running, subscriber)
            return
        if entry.result is None and entry.op_id:
            self._bury(entry)
        self.done[running.op_id] = path
        if subscriber is not None and not unsaved:
            self._send_stored(subscriber, running.op_id)

    def _never_began(self, running: Running, subscriber: Attachment | None) -> None:
        """Start an operation again whose process ended before it began; not for ever."""
        queued = running.queued
        if queued is not None and queued.tries < MAX_TRIES:
            queued.tries += 1
            queued.who = subscriber
            self.queue.insert(0, queued)
            return
        result = error_result("the process that should run it ended before it began")
        self._send(subscriber, dict(result, t="result", id=running.op_id, events=[]))

    def _foreign(self) -> None:
        """Look after operations whose process talks to another server, or to none."""
        for running in [one for one in self.running.values() if one.channel is None]:
            path = self.paths.journal + "/" + journal.file_name(running.op_id)
            if not journal.running(path):
                self._host_gone(running)

    def _live_limits(self) -> None:
        """Answer questions that no controller came for."""
        limit = float(self.options.get("live_timeout", 300))
        for running in self.running.values():
            if not running.live or running.subscriber is not None:
                continue
            if monotonic() - max(running.alone_since, running.live_since) > limit:
                for call in list(running.live):
                    text = "ERROR no controller has been attached for %d seconds\n" % limit
                    del running.live[call]
                    self._tell(
                        running, wire.LIVE_RESULT, {"call": call, "rc": 1, "stdout": "", "stderr": text}
                    )

    def _tell(self, running: Running, kind: int, message: dict[str, Any]) -> None:
        if running.channel is None:
            return
        try:
            running.channel.sendall(wire.frame(kind, dumps(message).encode("ascii")))
        except OSError:
            pass  # its end is noticed when the channel is read

    # -- the end -------------------------------------------------------------------------------------------

    def _unpurge(self, op: dict[str, Any]) -> None:
        if op.get("kind") in ("deploy", "hook"):
            try:
                os.unlink(self.paths.base + "/purge")
            except OSError:
                pass

    def _is_purging(self) -> bool:
        """Tell whether the last unit is gone and everybody knows it: there is nothing to linger for."""
        return os.path.exists(self.paths.base + "/purge") and not self.done

    def close(self) -> None:
        """End: take the socket away, clear up what is not needed."""
        try:
            os.unlink(self.paths.program + "/server.sock")
        except OSError:
            pass
        self.listener.close()
        if self._is_purging() and not journal.entries(self.paths.journal):
            from pushjuju.runner.remote import machine

            machine.purge(self.paths)
            return
        blobs.forget_old(self.paths.blobs, wall_time())


def _received(ancillary: list[tuple[int, int, bytes]]) -> list[int]:
    """Return the descriptors that came with a message."""
    import sys

    found: list[int] = []
    for level, kind, data in ancillary:
        if level == _socket.SOL_SOCKET and kind == _socket.SCM_RIGHTS:
            found += [int.from_bytes(data[at : at + 4], sys.byteorder) for at in range(0, len(data) - 3, 4)]
    return found


def _end_group(child: dict[str, Any], number: int = signals.KILL) -> None:
    """Kill what is left of an operation's process, if it is still the same process."""
    pid = int(child.get("pid") or 0)
    if pid and child.get("start") and layout.process_start(pid) == child["start"]:
        try:
            os.killpg(pid, number)
        except OSError:
            pass


def _forget_programs(paths: layout.Layout) -> None:
    """Delete programs of other versions that nobody runs any more."""
    busy = set()
    for path in journal.entries(paths.journal):
        if journal.running(path):
            try:
                busy.add(journal.Entry(path).begin.get("program"))
            except OSError:
                pass
    for name in os.listdir(paths.base):
        place = paths.base + "/" + name
        if name == paths.version or name in busy or not os.path.exists(place + "/tools.json"):
            continue
        lock = os.open(place + "/server.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            from pushjuju.runner.remote.deploy import remove_tree

            remove_tree(place)
        except OSError:
            pass
        finally:
            os.close(lock)


def main(program: str, root: str, options: dict[str, Any], ready: int) -> None:
    """Be the server, unless there is one; ``ready`` is closed once the socket listens."""
    layout.name_process("pushjuju-server")
    paths = layout.Layout(root, program)
    lock = os.open(program + "/server.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return
    os.makedirs(paths.journal, 0o700, exist_ok=True)
    os.chdir(program)
    try:
        os.unlink("server.sock")
    except OSError:
        pass
    listener = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM | _socket.SOCK_CLOEXEC)
    mask = os.umask(0o177)
    listener.bind("server.sock")  # relative: a socket's path may not be long
    os.umask(mask)
    listener.listen(32)
    listener.setblocking(False)
    os.chdir("/")
    server = Server(paths, options, listener)
    os.close(ready)
    try:
        server.serve()
    except Exception:
        _write_crash(paths)
        raise
    server.close()


def _write_crash(paths: layout.Layout) -> None:
    """Leave a note of a fault of ours; the next controller is told."""
    import traceback

    try:
        with open(paths.base + "/crash", "w", encoding="utf-8") as file:
            file.write(traceback.format_exc()[-8000:])
    except OSError:
        pass
