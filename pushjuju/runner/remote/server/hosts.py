"""The processes that run operations: starting them in order, reading their messages, handling their end."""

from __future__ import annotations

import _socket
import gc
import os
import select

from pushjuju.portable.jsontext import dumps, loads
from pushjuju.runner.remote.base import layout, signals, wire
from pushjuju.runner.remote.base.results import describe, error_result, monotonic, refusal, result_frame
from pushjuju.runner.remote.disk import journal
from pushjuju.runner.remote.operation import families
from pushjuju.runner.remote.server.ledger import forget_programs
from pushjuju.runner.remote.server.parties import LIVE_TIMEOUT, Attachment, Queued, Running, Spare, State
from pushjuju.runner.remote.tools import execinstall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from pushjuju.portable import frames
    from pushjuju.runner.remote.base.layout import Layout
    from pushjuju.runner.remote.server.attachments import Attachments
    from pushjuju.runner.remote.server.ledger import Ledger

REUSED_KINDS = ("hook", "action", "commands", "exec")
MAX_TRIES = 50
MAX_USES = 64  # operations per process; a new process then frees the memory that tools leaked


class Hosts:
    """The processes that run operations; the code inside of these processes is ``host``."""

    def __init__(self, state: State, attachments: Attachments, ledger: Ledger) -> None:
        self.state = state
        self.attachments = attachments
        self.ledger = ledger
        self.registry: Any = None  # hook tools by name
        self.preloaded: set[str] = set()  # kinds of operations

    # -- start ---------------------------------------------------------------------------------------------

    def keep_house(self) -> None:
        """Keep juju-exec ready, and delete programs of other versions, once in the life of the server."""
        if self.registry is not None:
            return
        try:
            self.registry = families.load_registry(self.state.paths.program)
            forget_programs(self.state.paths)
            execinstall.keep(self.state.paths)
        except Exception:
            pass  # the hook that needs the broken file reports the fault

    def _preload(self, kind: str) -> None:
        """Import what operations of a kind need, so that processes forked later have it at once.

        A contact brings operations of one kind, or no operation, so nothing is imported in advance.
        """
        if kind in self.preloaded:
            return
        self.preloaded.add(kind)
        gc.disable()
        try:
            _work().preload(kind)
            gc.freeze()
        except Exception:
            pass  # the operation that needs the broken module reports the fault
        finally:
            gc.enable()

    def schedule(self) -> None:
        """Start every operation whose lock is free, in the order of their arrival."""
        if not self.state.queue:
            return
        held = {running.lock for running in self.state.running.values() if running.lock}
        waiting = []
        for queued in self.state.queue:
            if queued.lock and queued.lock in held:
                waiting.append(queued)
                continue
            held.add(queued.lock)
            self._start(queued)
        self.state.queue = waiting

    def _start(self, queued: Queued) -> None:
        """Give an operation to the spare process, or to a new process."""
        if self.state.spare is None:
            self._preload(queued.kind)
        setting: frames.Setting = {
            "lock": queued.lock,
            "options": self.state.options,
            "boot_id": self.state.boot_id,
            **queued.inherits,
        }
        frame = wire.frame(wire.START, dumps(setting).encode("ascii") + b"\n" + queued.message)
        for _ in range(2):
            try:
                worker, self.state.spare = self.state.spare or self._fork_host(), None
                worker.channel.sendall(frame)
                break
            except OSError as error:
                reason = error
        else:
            result = error_result("cannot start a process: " + describe(reason), reason.errno)
            self.attachments.send(queued.who, result_frame(result, queued.op_id))
            self._end_plan(queued.op_id)
            return
        running = Running(queued.op_id, queued.lock, worker.channel, worker.pid)
        running.uses = worker.uses + 1 if queued.kind in REUSED_KINDS else MAX_USES
        running.subscriber = queued.who if queued.who is not None and queued.who.open else None
        running.queued = queued
        self._watch(running)
        self.state.running[running.op_id] = running

    # -- plans -----------------------------------------------------------------------------------------------

    def follow(self, op_id: str, queued: Queued) -> bool:
        """Let an operation wait for the quiet end of ``op_id``; return False when ``op_id`` does not run."""
        under_way = op_id in self.state.running or any(one.op_id == op_id for one in self.state.waiting())
        if under_way:
            self.state.followers[op_id] = queued
        return under_way

    def leave_out(self, queued: Queued) -> None:
        """Report that an operation was not begun, because the operation before it did not end as planned."""
        why = "the operation before it changed the model, failed, or took long"
        self.attachments.send(queued.who, refusal(queued.op_id, why, "not-begun", "plan"))

    def _go_on(self, running: Running) -> None:
        """Put the operation that follows a quietly ended one at the head of the queue."""
        followed = self.state.followers.get(running.op_id)
        if not running.quiet or (followed is not None and followed.is_old(self.state.options)):
            self._end_plan(running.op_id)
        elif followed is not None:
            queued = self.state.followers.pop(running.op_id)
            queued.inherits = running.quiet
            self.state.queue.insert(0, queued)

    def _end_plan(self, op_id: str) -> None:
        """Report all operations that were to follow ``op_id`` as not begun."""
        while op_id in self.state.followers:
            queued = self.state.followers.pop(op_id)
            self.leave_out(queued)
            op_id = queued.op_id

    def withdraw(self, queued: Queued) -> None:
        """Remove an operation that has not begun from the queue, and those that were to follow it."""
        if queued in self.state.queue:
            self.state.queue.remove(queued)
        for before, one in list(self.state.followers.items()):
            if one is queued:
                del self.state.followers[before]
        self._end_plan(queued.op_id)

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

    def _become_host(self, channel: int) -> None:
        """Wait for an operation in the forked process and run it; never returns."""
        code = 1
        try:
            state = self.state
            fds = [channel, state.listener.fileno(), *state.attachments, *state.newcomers, *state.channels]
            top = max([*fds, 64]) + 1
            os.closerange(3, channel)
            os.closerange(channel + 1, top)
            _work().run(state.paths, channel, self.registry)
            code = 0
        except SystemExit:
            code = 0
        finally:
            os._exit(code)

    def keep_spare(self) -> None:
        """Fork a process for the next operation ahead of time, while nothing runs."""
        state = self.state
        if state.spare is None and self.preloaded and state.attachments and not state.running:
            try:
                state.spare = self._fork_host()
            except OSError:
                pass

    # -- channels ------------------------------------------------------------------------------------------

    def welcome(self, conn: Any, message: frames.Orphan) -> None:
        """Reconnect the process of an operation that lost its server."""
        running = self.state.running.get(str(message["host"]))
        if running is None or running.channel is not None:
            conn.close()
            return
        running.channel, running.pid = conn, 0
        running.reader = wire.Reader()
        self._watch(running)

    def _watch(self, running: Running) -> None:
        fd = running.channel.fileno()
        self.state.channels[fd] = running
        self.state.poll.register(fd, select.POLLIN)

    def _unwatch(self, running: Running) -> None:
        fd = running.channel.fileno()
        self.state.channels.pop(fd, None)
        self.state.poll.unregister(fd)

    def tell(self, running: Running, kind: int, message: frames.Told | frames.Stop) -> None:
        """Send a frame to the process of an operation, if it is connected."""
        if running.channel is None:
            return
        try:
            running.channel.sendall(wire.frame(kind, dumps(message).encode("ascii")))
        except OSError:
            pass  # the end of the process is noticed when the channel is read

    def read(self, running: Running) -> None:
        """Read messages from the process of an operation, or notice that the process ended."""
        try:
            data = running.channel.recv(wire.READ_SIZE, _socket.MSG_DONTWAIT)
            frames = running.reader.feed(data)
        except BlockingIOError:
            return  # the descriptor's number now belongs to another process, which has sent nothing yet
        except (OSError, wire.BadFrame):
            data, frames = b"", []
        for kind, payload in frames:
            self._frame(running, kind, payload)
        if not data and self.state.running.get(running.op_id) is running:
            self._gone(running)

    def _frame(self, running: Running, kind: int, payload: bytes) -> None:
        if kind == wire.EVENT:
            self._pass_on(running, payload)
        elif kind == wire.LIVE:
            # Questions without an answer are kept, so that a controller that attaches later can answer them.
            message: frames.LiveCall = wire.unpack(payload[4], payload[5:])
            if not running.live:
                running.live_since = monotonic()
            running.live[int(message["call"])] = payload
            self._pass_on(running, payload)
        elif kind == wire.QUIET:
            running.quiet = loads(payload.decode("ascii"))
        elif kind == wire.RESULT:
            self._pass_on(running, payload)
            path = self.state.journal_file(running.op_id)
            if os.path.exists(path):  # an operation that was refused has no journal file
                self.state.done[running.op_id] = path
            self._keep_for_next(running)
            self.forget(running)
            self._go_on(running)
        elif kind == wire.KNOWN:
            # Another process has the journal file of this id: it runs the operation or has run it.
            subscriber = running.subscriber
            self.forget(running)
            self._end_plan(running.op_id)
            if not self.ledger.find_on_disk(running.op_id):
                self._never_began(running, subscriber)  # the other process begins or ends right now
            elif subscriber is not None:
                self.ledger.answer_known(subscriber, running.op_id)
        elif kind == wire.UNSAVED:
            # The disk is full: the result stays in memory, and the next hook may have the lock.
            running.unsaved = payload
            running.lock = ""
            self._end_plan(running.op_id)
            self._pass_on(running, payload)

    def _pass_on(self, running: Running, frame: bytes) -> None:
        if running.subscriber is not None:
            self.attachments.write(running.subscriber, frame)

    # -- the end of an operation ---------------------------------------------------------------------------

    def _keep_for_next(self, running: Running) -> None:
        """Keep the process of an ended operation as the spare for the next operation."""
        state = self.state
        if state.spare is None and running.pid and running.uses < MAX_USES and state.attachments:
            self._unwatch(running)
            state.spare = Spare(running.channel, running.pid, running.uses)
            running.channel, running.pid = None, 0

    def forget(self, running: Running) -> None:
        """Remove an operation from those that run, and close the channel to its process."""
        self.state.running.pop(running.op_id, None)
        if running.channel is not None:
            self._unwatch(running)
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

    def _gone(self, running: Running) -> None:
        """Handle a process that ended without sending a result: its journal has the result, or gets one."""
        subscriber, unsaved, pid = running.subscriber, running.unsaved, running.pid
        self.forget(running)
        if pid:
            try:
                os.waitpid(pid, 0)  # its locks are free only when the process has ended
            except OSError:
                pass
        path = self.state.journal_file(running.op_id)
        try:
            entry = journal.Entry(path)
        except OSError:
            if not unsaved:
                self._never_began(running, subscriber)
            return
        self._end_plan(running.op_id)
        if entry.result is None:
            self.ledger.bury(entry)
        self.state.done[running.op_id] = path
        if subscriber is not None and not unsaved:
            self.ledger.send_stored(subscriber, running.op_id)

    def _never_began(self, running: Running, subscriber: Attachment | None) -> None:
        """Queue an operation again whose process ended before it began, up to ``MAX_TRIES`` times."""
        queued = running.queued
        if queued is not None and queued.tries < MAX_TRIES:
            queued.tries += 1
            queued.who = subscriber
            self.state.queue.insert(0, queued)
            return
        self._end_plan(running.op_id)
        why = "the process that should run it ended before it began"
        self.attachments.send(subscriber, refusal(running.op_id, why))

    # -- from time to time ---------------------------------------------------------------------------------

    def look_after_foreign(self) -> None:
        """Notice the end of operations whose process is connected to another server, or to no server."""
        for running in [one for one in self.state.running.values() if one.channel is None]:
            if not layout.is_held(self.state.journal_file(running.op_id)):
                self._gone(running)

    def wake_stopped(self) -> None:
        """Continue the processes of operations that a hook has stopped."""
        for running in self.state.running.values():
            try:
                if running.pid and os.WIFSTOPPED(os.waitpid(running.pid, os.WNOHANG | os.WUNTRACED)[1]):
                    os.kill(running.pid, signals.CONT)
            except OSError:
                pass  # it has ended, which is noticed when its channel is read

    def answer_unheard(self) -> None:
        """Answer questions with an error when no controller has been attached for the limit."""
        limit = self.state.limit("live_timeout", LIVE_TIMEOUT)
        for running in self.state.running.values():
            if not running.live or running.subscriber is not None:
                continue
            if monotonic() - max(running.alone_since, running.live_since) > limit:
                for call in list(running.live):
                    text = "ERROR no controller has been attached for %d seconds\n" % limit
                    del running.live[call]
                    answer: frames.Told = {"call": call, "rc": 1, "stdout": "", "stderr": text}
                    self.tell(running, wire.LIVE_RESULT, answer)


def purge(paths: Layout) -> None:
    """Delete all that pushjuju has left on the machine, after the last unit is removed."""
    _work().purge(paths)


def _work() -> Any:
    """Return the module that runs operations, imported late: controllers need not wait for the import."""
    from pushjuju.runner.remote.operation import work

    return work
