"""Connections of controllers: accepting them, writing without blocking, closing them."""

from __future__ import annotations

import os
import select

from pushjuju.runner.remote.base import wire
from pushjuju.runner.remote.base.results import monotonic
from pushjuju.runner.remote.server.parties import SILENCE, Attachment, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from pushjuju.portable import frames

PIECE = 1 << 18


class Attachments:
    """The connections of controllers; ``controllers`` reads what they send."""

    def __init__(self, state: State) -> None:
        self.state = state

    def admit(self, conn: Any, fds: list[int], options: dict[str, Any]) -> Attachment | None:
        """Take over the channel from an attach process; return None when that process has ended."""
        attachment = Attachment(conn, *fds)
        try:
            conn.send(b"A")
        except OSError:
            for fd in fds:
                os.close(fd)
            conn.close()
            return None
        self.state.options.update(options)
        os.set_blocking(attachment.out, False)
        for fd in attachment.fds():
            self.state.attachments[fd] = attachment
        self.state.poll.register(attachment.ctl, select.POLLIN)
        self.state.poll.register(attachment.inp, select.POLLIN)
        self.state.poll.register(attachment.out, 0)
        return attachment

    def send(self, attachment: Attachment | None, message: frames.FromMachine) -> None:
        """Send a message, or nothing when no controller is attached."""
        if attachment is not None:
            self.write(attachment, wire.pack(message))

    def write(self, attachment: Attachment, data: bytes) -> None:
        """Write frames after those that are still in the backlog; keep what the channel does not take now."""
        if not attachment.open:
            return
        # Most frames fit into the channel: they are written without a copy.
        if data and not attachment.backlog:
            try:
                done = os.write(attachment.out, data)
            except BlockingIOError:
                done = 0
            except OSError:
                self.detach(attachment)
                return
            if done == len(data):
                return
            data = data[done:]
        attachment.backlog += data
        try:
            while attachment.backlog:
                del attachment.backlog[: os.write(attachment.out, attachment.backlog[:PIECE])]
        except BlockingIOError:
            pass
        except OSError:
            self.detach(attachment)
            return
        self.state.poll.modify(attachment.out, select.POLLOUT if attachment.backlog else 0)

    def detach(self, attachment: Attachment) -> None:
        """Close the connection of a controller; the operations that it started go on."""
        if not attachment.open:
            return
        attachment.open = False
        for fd in attachment.fds():
            self.state.attachments.pop(fd, None)
            self.state.poll.unregister(fd)
        for receiver in attachment.receivers.values():
            receiver.close()
        os.close(attachment.inp)
        os.close(attachment.out)
        attachment.conn.close()
        # The next controller that attaches gets the events and results of these operations.
        for running in self.state.running.values():
            if running.subscriber is attachment:
                running.subscriber = None
                running.alone_since = monotonic()
        for queued in self.state.queue:
            if queued.who is attachment:
                queued.who = None
        if not self.state.attachments:
            self._drop_spare()

    def _drop_spare(self) -> None:
        """End the spare process: no controller is left to send an operation."""
        if self.state.spare is not None:
            self.state.spare.channel.close()
            self.state.spare = None

    def drop_silent(self) -> None:
        """Detach controllers whose network died: their SSH sessions may stay open here for hours."""
        limit = self.state.limit("silence", SILENCE)
        for attachment in set(self.state.attachments.values()):
            if attachment.heard and monotonic() - attachment.heard > limit:
                self.detach(attachment)
