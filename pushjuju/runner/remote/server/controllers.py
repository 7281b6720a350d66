"""Handle the frames of controllers: hello, operations, acknowledgements, answers, pieces of blobs."""

from __future__ import annotations

import os
import select

from pushjuju.runner.remote.base import layout, wire
from pushjuju.runner.remote.base.results import describe, monotonic, refusal, wall_time
from pushjuju.runner.remote.disk import blobs, journal, requests
from pushjuju.runner.remote.disk.leases import Leases
from pushjuju.runner.remote.server import facts
from pushjuju.runner.remote.server.ledger import end_group
from pushjuju.runner.remote.server.parties import Attachment, Queued, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    from pushjuju.portable import frames
    from pushjuju.runner.remote.server.attachments import Attachments
    from pushjuju.runner.remote.server.hosts import Hosts
    from pushjuju.runner.remote.server.ledger import Ledger

# Kinds that take the machine lock; frames of parallel actions name another lock, plain commands take none.
LOCKED_KINDS = ("hook", "action", "commands", "deploy", "remove-unit", "reboot")


class Controllers:
    """The controllers that are attached, and their frames."""

    def __init__(self, state: State, attachments: Attachments, ledger: Ledger, hosts: Hosts) -> None:
        self.state = state
        self.attachments = attachments
        self.ledger = ledger
        self.hosts = hosts
        self.leases = Leases(state.paths.base)

    # -- hello ---------------------------------------------------------------------------------------------

    def welcome(self, conn: Any, fds: list[int], message: dict[str, Any]) -> None:
        """Accept a controller and send it the facts of the machine."""
        attachment = self.attachments.admit(conn, fds, message.get("options") or {})
        if attachment is None:
            return
        hello = self._hello(message.get("facts") or {})
        recall = (message.get("options") or {}).get("recall")
        if recall is not None:
            hello["recalled"] = self.ledger.recalled(float(recall))
        waiting = self._news(attachment)
        if waiting:
            hello["requests"] = waiting
        self.attachments.write(attachment, b"PJ1R" + wire.pack(hello))
        self.hosts.keep_house()

    def _hello(self, facts: dict[str, object]) -> dict[str, object]:
        paths = self.state.paths
        done, parts = blobs.listing(paths.blobs)
        hello = {"t": "hello", "protocol": wire.PROTOCOL, "program": paths.version, "pid": os.getpid()}
        hello.update(facts, blobs=done, parts=parts, journal=self.ledger.known())
        hello["running"] = list(self.state.running)
        hello["units"] = paths.units()
        hello["charms"] = paths.charms()
        crash = layout.read_text(paths.base + "/crash")
        if crash:
            hello["crash"] = crash
            os.unlink(paths.base + "/crash")
        return hello

    # -- requests of juju-exec -----------------------------------------------------------------------------

    def knocked(self, conn: Any) -> None:
        """Send controllers the requests that are new to them; answer juju-exec whether one is attached."""
        attached = set(self.state.attachments.values())
        for attachment in attached:
            waiting = self._news(attachment)
            if waiting:
                self.attachments.send(attachment, {"t": "requests", "requests": waiting})
        try:
            conn.send(b"1" if any(one.open for one in attached) else b"0")
        except OSError:
            pass  # juju-exec was stopped meanwhile
        conn.close()

    def _news(self, attachment: Attachment) -> list[dict[str, object]]:
        waiting = requests.waiting(self.state.paths.base)
        news = [document for document in waiting if document["id"] not in attachment.told]
        attachment.told = {document["id"] for document in waiting}
        return news

    def _on_answer(self, _attachment: Attachment, message: frames.Answer) -> None:
        """Answer a juju-exec request that the controller refuses, or whose result it refuses."""
        requests.refuse(self.state.paths.base, str(message["request"]), str(message["error"]))

    def _answer(self, request: str, path: str, unsaved: bytes) -> None:
        """Give the result of an operation to the juju-exec process that requested it."""
        if unsaved:
            result = wire.unpack(unsaved[4], unsaved[5:])
        else:
            result = journal.Entry(path).result or {}
        requests.answer_with(self.state.paths.base, request, result)

    # -- reading -------------------------------------------------------------------------------------------

    def ready(self, attachment: Attachment, fd: int, event: int) -> None:
        """Read, write or detach, as a descriptor of a controller has become ready."""
        if fd == attachment.ctl:
            self._hung_up(attachment)
        elif fd == attachment.out:
            if event & select.POLLOUT:
                self.attachments.write(attachment, b"")
            elif event:
                self._hung_up(attachment)
        else:
            self._read(attachment)

    def _hung_up(self, attachment: Attachment) -> None:
        """Read what the controller sent before it hung up (often an acknowledgement), then detach."""
        poll = select.poll()
        poll.register(attachment.inp, select.POLLIN)
        while attachment.open and poll.poll(0):
            self._read(attachment)
        self.attachments.detach(attachment)

    def _read(self, attachment: Attachment) -> None:
        try:
            data = os.read(attachment.inp, wire.READ_SIZE)
            frames = attachment.reader.feed(data)
        except (OSError, wire.BadFrame):
            data, frames = b"", []
        for flag, payload in frames:
            if attachment.open:
                self._frame(attachment, flag, payload)
        if not data:
            self.attachments.detach(attachment)

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
            self.attachments.send(attachment, {"t": "error", "message": describe(error)})
            self.attachments.detach(attachment)
            return
        handler = self._HANDLERS.get(str(message.get("t")))
        if handler is None:
            unknown: frames.Refused = {"t": "error", "message": "unknown frame", "id": message.get("id")}
            self.attachments.send(attachment, unknown)
            return
        try:
            handler(self, attachment, message)
        except (KeyError, TypeError, ValueError, OSError) as error:
            answer: frames.Refused = {"t": "error", "id": message.get("id"), "message": describe(error)}
            self.attachments.send(attachment, answer)

    # -- operations ----------------------------------------------------------------------------------------

    def _on_op(self, attachment: Attachment, message: frames.Op, flag: int, payload: bytes) -> None:
        op_id = str(message["id"])
        if self.ledger.answer_known(attachment, op_id):
            return
        journal.file_name(op_id)
        lease = self.leases.overtaken(message)
        if lease:
            why = "another controller process has taken this machine over"
            overtaken = refusal(op_id, why, code="lease")
            overtaken["lease"] = lease
            self.attachments.send(attachment, overtaken)
            return
        wanted = message.get("if_boot_id")
        if wanted and wanted != self.state.boot_id:
            rebooted = refusal(op_id, "the machine has rebooted since", code="boot-id")
            self.attachments.send(attachment, rebooted)
            return
        kind = str(message.get("kind"))
        lock = str(message.get("lock", "machine" if kind in LOCKED_KINDS else "") or "")
        if "request" in message:
            self.state.requests[op_id] = str(message["request"])
        queued = Queued(op_id, kind, lock, flag, payload, attachment)
        if "after" not in message:
            self.state.queue.append(queued)
        elif not self.hosts.follow(str(message["after"]), queued):
            self.hosts.leave_out(queued)
        self._unpurge(kind)

    def _unpurge(self, kind: str) -> None:
        """Cancel the removal of pushjuju's files: a new unit came after the last one was removed."""
        if kind in ("deploy", "hook"):
            try:
                os.unlink(self.state.paths.base + "/purge")
            except OSError:
                pass

    def _on_fetch(self, attachment: Attachment, message: frames.OfOperation) -> None:
        op_id = str(message["id"])
        if not self.ledger.answer_known(attachment, op_id):
            unknown = refusal(op_id, "the machine does not know this operation", "unknown")
            self.attachments.send(attachment, unknown)

    def _on_ack(self, _attachment: Attachment, message: frames.OfOperation) -> None:
        op_id = str(message["id"])
        running = self.state.running.get(op_id)
        path = self.state.done.pop(op_id, None)
        record = journal.begun(path) if path else {}
        unsaved = running.unsaved if running is not None else b""
        if running is not None and unsaved:
            path = self.state.journal_file(op_id)
            self.hosts.forget(running)
        request = self.state.requests.pop(op_id, None)
        if path is None:
            return
        if request is not None:
            self._answer(request, path, unsaved)
        self.state.seen.add(op_id, record, wall_time())
        try:
            os.unlink(path)
        except OSError:
            pass

    def _on_cancel(self, _attachment: Attachment, message: frames.Cancel) -> None:
        op_id = str(message["id"])
        number = {"TERM": 15, "INT": 2, "KILL": 9}.get(str(message.get("signal", "KILL")), 9)
        for queued in self.state.waiting():
            if queued.op_id == op_id:
                self.hosts.withdraw(queued)
                never = refusal(op_id, "cancelled before it started", "interrupted")
                self.attachments.send(queued.who, never)
                return
        running = self.state.running.get(op_id)
        if running is not None and running.channel is not None:
            self.hosts.tell(running, wire.CANCEL, {"signal": number})
        elif running is not None:
            # The operation's process is connected to another server, or not yet again to this one.
            end_group(journal.Entry(self.state.journal_file(op_id)).child, number)

    def _on_live_result(self, _attachment: Attachment, message: frames.LiveResult) -> None:
        running = self.state.running.get(str(message["id"]))
        if running is not None and running.live.pop(int(message["call"]), None) is not None:
            self.hosts.tell(running, wire.LIVE_RESULT, message)

    # -- signs of life -------------------------------------------------------------------------------------

    def _on_ping(self, attachment: Attachment, message: dict[str, object]) -> None:
        self.attachments.send(attachment, {"t": "pong", "id": message.get("id")})

    def _on_beat(self, attachment: Attachment, _message: frames.Bare) -> None:
        attachment.heard = monotonic()

    def _on_facts(self, attachment: Attachment, _message: frames.Bare) -> None:
        """Send the facts of the machine that may have changed since the first contact."""
        told = {"hostname": os.uname().nodename, "nics": facts.nics(), "gateway": facts.gateway()}
        self.attachments.send(attachment, dict(told, t="facts"))

    # -- blobs ---------------------------------------------------------------------------------------------

    def _on_put(self, attachment: Attachment, message: frames.Put) -> None:
        digest, size = str(message["sha256"]), int(message["size"])
        place = self.state.paths.blobs
        if blobs.is_digest(digest) and os.path.exists(place + "/" + digest):
            self.attachments.send(attachment, {"t": "ok", "sha256": digest})
            return
        try:
            offset = int(message.get("offset", 0))
            receiver = blobs.Receiver(place, digest, size, offset)
            if receiver.offset < offset:  # the part that hello announced was deleted
                receiver.close()
                self.attachments.send(attachment, {"t": "put-error", "sha256": digest, "restart": True})
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
            return  # the blob failed and was reported; its other pieces are still on the way
        try:
            if receiver.feed(payload[32:]):
                self._received(attachment, digest)
        except (OSError, ValueError) as error:
            receiver.abort()
            self._put_failed(attachment, digest, error)

    def _on_copy(self, attachment: Attachment, message: frames.Copy) -> None:
        """Copy a piece of a blob from another blob of the cache; a fault makes the controller resend all."""
        digest, source = str(message["sha256"]), str(message["from"])
        receiver = attachment.receivers.get(digest)
        if receiver is None:
            return
        try:
            if not blobs.is_digest(source):
                raise ValueError("bad blob name")
            start, length = int(message["offset"]), int(message["length"])
            if receiver.copy(self.state.paths.blobs + "/" + source, start, length):
                self._received(attachment, digest)
        except (OSError, ValueError):
            receiver.abort()
            attachment.receivers.pop(digest, None)
            self.attachments.send(attachment, {"t": "put-error", "sha256": digest, "restart": True})

    def _received(self, attachment: Attachment, digest: str) -> None:
        del attachment.receivers[digest]
        self.attachments.send(attachment, {"t": "ok", "sha256": digest})

    def _put_failed(self, attachment: Attachment, digest: str, error: Exception) -> None:
        attachment.receivers.pop(digest, None)
        failure: frames.Stored = {"t": "put-error", "sha256": digest, "message": describe(error)}
        failure["errno"] = getattr(error, "errno", None)
        self.attachments.send(attachment, failure)

    _HANDLERS: dict[str, Callable[..., None]] = {
        "fetch": _on_fetch,
        "ack": _on_ack,
        "answer": _on_answer,
        "cancel": _on_cancel,
        "live-result": _on_live_result,
        "ping": _on_ping,
        "beat": _on_beat,
        "facts": _on_facts,
        "put": _on_put,
        "copy": _on_copy,
    }
