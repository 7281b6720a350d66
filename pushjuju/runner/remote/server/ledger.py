"""Finds operations by id in the journal: those that wait, run, have ended, are acknowledged.

The machine never starts a known id again; a controller that asks for the id gets the result, or all events
that follow.
"""

from __future__ import annotations

import fcntl
import os

from pushjuju.runner.remote.base import layout, signals
from pushjuju.runner.remote.base.results import (
    KNOWN,
    describe,
    error_result,
    named,
    refusal,
    result_frame,
    wall_time,
)
from pushjuju.runner.remote.disk import journal
from pushjuju.runner.remote.disk.trees import remove_tree
from pushjuju.runner.remote.server.parties import Attachment, Running, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pushjuju.portable import frames
    from pushjuju.runner.remote.server.attachments import Attachments


class Ledger:
    """The journal and the running operations, from which the server answers what controllers ask."""

    def __init__(self, state: State, attachments: Attachments) -> None:
        self.state = state
        self.attachments = attachments

    # -- operations of an earlier server -------------------------------------------------------------------

    def adopt(self) -> None:
        """Read the journal files that an earlier server left."""
        for path in journal.entries(self.state.paths.journal):
            self._adopt_one(path)

    def _adopt_one(self, path: str) -> None:
        try:
            entry = journal.Entry(path)
            held = entry.result is None and layout.is_held(path)
            if entry.result is None and not held:
                entry = journal.Entry(path)  # the operation may have ended between the reads
        except OSError:
            return
        if entry.begin.get("request"):
            self.state.requests[entry.op_id] = str(entry.begin["request"])
        if entry.result is not None:
            self.state.done[entry.op_id] = path
        elif held and entry.op_id:
            self.state.running[entry.op_id] = Running(entry.op_id, str(entry.begin.get("lock", "")))
        elif held:
            pass  # another process is just beginning the operation
        elif entry.op_id or journal.id_of(path):
            self.bury(entry)
        else:
            os.unlink(path)  # the file is not a journal

    def bury(self, entry: journal.Entry) -> None:
        """Write a result for an operation whose process died, and kill what is left of the operation."""
        same_boot = entry.begin.get("boot_id") == self.state.boot_id
        if same_boot:
            end_group(entry.child)
        if not entry.op_id:
            why = "its journal is damaged, or ends within its first line"
        else:
            why = "the process that ran it was killed" if same_boot else "the machine restarted while it ran"
        result = error_result(why)
        result.update({"outcome": "terminated", "via": entry.begin.get("via")})
        result.update({"started": entry.begin.get("started"), "ended": wall_time(), "recovered": True})
        try:
            journal.close_entry(entry, result)
        except OSError:
            entry.begin = entry.begin or {"id": journal.id_of(entry.path)}
            entry.result = result
        self.state.done[entry.op_id] = entry.path

    def find_on_disk(self, op_id: str) -> bool:
        """Look for an operation that another program version's server started; return True when found."""
        path = self.state.journal_file(op_id)
        if not os.path.exists(path):
            return False
        self._adopt_one(path)
        return op_id in self.state.done or op_id in self.state.running

    # -- answers -------------------------------------------------------------------------------------------

    def known(self) -> list[frames.Known]:
        """Return the operations that are not acknowledged, as the hello frame lists them."""
        done: list[frames.Known] = [{"id": op_id, "done": True} for op_id in self.state.done]
        running: list[frames.Known] = [
            {"id": op_id, "done": bool(one.unsaved)} for op_id, one in self.state.running.items()
        ]
        return done + running + [{"id": one.op_id, "done": False} for one in self.state.waiting()]

    def recalled(self, seconds: float) -> list[frames.Recalled]:
        """Return the hooks and actions of the last seconds, also those that are not acknowledged."""
        found = self.state.seen.recent(wall_time(), seconds)
        for op_id in [*self.state.done, *self.state.running]:
            unit, name = named(journal.begun(self.state.journal_file(op_id)))
            if name:
                found.append({"id": op_id, "unit": unit, "name": name})
        return found

    def answer_known(self, attachment: Attachment, op_id: str) -> bool:
        """Send what is known about an id; return False when the id is unknown, so that it may be started."""
        if op_id in self.state.done:
            self.send_stored(attachment, op_id)
        elif op_id in self.state.running:
            self._subscribe(attachment, self.state.running[op_id])
        elif self.find_on_disk(op_id):
            return self.answer_known(attachment, op_id)
        elif op_id in self.state.seen:
            why = "this operation was done and acknowledged before"
            self.attachments.send(attachment, refusal(op_id, why, code=KNOWN))
        else:
            for queued in self.state.waiting():
                if queued.op_id == op_id:
                    queued.who = attachment
                    return True
            return False
        return True

    def send_stored(self, attachment: Attachment, op_id: str) -> None:
        """Send the result of an operation that ended, from its journal."""
        try:
            entry = journal.Entry(self.state.done[op_id])
            result = entry.result or error_result("the journal of this operation is damaged")
        except OSError as error:
            result, events = error_result("the journal cannot be read: " + describe(error)), []
        else:
            events = entry.events
        self.attachments.send(attachment, result_frame(result, op_id, events))

    def _subscribe(self, attachment: Attachment, running: Running) -> None:
        """Send a controller the events so far, open questions and all that follows."""
        running.subscriber = attachment
        if running.unsaved:
            self.attachments.write(attachment, running.unsaved)
            return
        try:
            events = journal.Entry(self.state.journal_file(running.op_id)).events
        except OSError:
            events = []
        if events:
            seq = events[0]["seq"]
            self.attachments.send(attachment, {"t": "event", "id": running.op_id, "seq": seq, "es": events})
        for frame in list(running.live.values()):
            self.attachments.write(attachment, frame)


def end_group(child: frames.Child, number: int = signals.KILL) -> None:
    """Send a signal to an operation's process group, if its pid still belongs to the same process."""
    pid = int(child.get("pid") or 0)
    if pid and child.get("start") and layout.process_start(pid) == child["start"]:
        try:
            os.killpg(pid, number)
        except OSError:
            pass


def forget_programs(paths: layout.Layout) -> None:
    """Delete programs of other versions that no process runs any more."""
    busy = set()
    for path in journal.entries(paths.journal):
        if layout.is_held(path):
            try:
                busy.add(journal.Entry(path).begin.get("program"))
            except OSError:
                pass
    for name in os.listdir(paths.base):
        place = paths.base + "/" + name
        sender = name.partition(".")[2]  # pid of the process that writes this copy (``boot.py``)
        if name == paths.version or name in busy or not os.path.exists(place + "/tools.json"):
            continue
        if sender and os.path.exists("/proc/" + sender):
            continue
        lock = os.open(place + "/server.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove_tree(place)
        except OSError:
            pass
        finally:
            os.close(lock)
