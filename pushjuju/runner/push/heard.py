"""Keeps the messages of a machine about its operations until a caller has read them.

The memory that they take is counted for each operation and for each contact, so that a machine cannot fill
the controller's memory.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from pushjuju.core import limits
from pushjuju.runner.remote.base import wire
from pushjuju.runner.trust import frames, intake

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pushjuju.portable.frames import Asked, Event
    from pushjuju.runner.push.bootstrap import Link

Document = dict[str, object]

OnEvent: TypeAlias = "Callable[[int, Event], None]"
"""Called with the sequence number and the event, once per event and session, in order."""

OnLive: TypeAlias = "Callable[[Asked], Awaitable[tuple[int, bytes, bytes]]]"
"""Answers a live hook tool call (``tool``, ``argv``, ``stdin`` as bytes, ``cwd``) with rc, stdout, stderr."""

_TOO_MUCH = "too many messages of one operation"


class Room:
    """The bytes of memory that all kept messages of a contact take."""

    def __init__(self) -> None:
        self.taken = 0

    def take(self, size: int) -> None:
        """Count bytes that are kept, or released when `size` is negative.

        Raises:
            BadFrame: The limit is exceeded.
        """
        self.taken += size
        if self.taken > limits.KEPT:
            raise wire.BadFrame("too many messages at once")


class _Heard:
    """The messages of one operation that are kept, and their size."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._kept = 0
        self.spent = 0  # bytes of the events
        self.asking = 0  # bytes of live calls without an answer

    def _keep(self, size: int) -> None:
        self._kept += size
        self._room.take(size)

    def _spend(self, size: int) -> None:
        self.spent += size
        if self.spent > limits.EVENTS:
            raise wire.BadFrame(_TOO_MUCH)
        self._keep(size)

    def forget(self) -> None:
        """Release the memory: no caller needs the messages any more."""
        self._room.take(-self._kept)
        self._kept = 0


class Pending(_Heard):
    """An operation that a caller waits for."""

    def __init__(self, room: Room, on_event: OnEvent | None, on_live: OnLive | None) -> None:
        super().__init__(room)
        self.on_event = on_event
        self.on_live = on_live
        self.events: dict[int, Event] = {}
        self.calls: deque[Asked] = deque()  # calls that no task has begun to answer
        self._asked: dict[int, int] = {}  # number of each call without an answer -> its bytes
        self.answering = 0  # number of tasks that answer calls
        self.result: asyncio.Future[Document] = asyncio.get_running_loop().create_future()

    def take(self, events: Sequence[tuple[int, Event]]) -> int:
        """Keep events and pass them to the listener; drop events that arrived before.

        Returns:
            The bytes of the new events.

        Raises:
            BadFrame: The events exceed the limit.
        """
        before = self.spent
        for seq, event in events:
            if seq not in self.events:
                self._spend(intake.cost(event))
                self.events[seq] = event
                self.tell(seq, event)
        return self.spent - before

    def tell(self, seq: int, event: Event) -> None:
        """Call the listener; an error of the listener is raised by `run`, and does not end the connection."""
        if self.on_event is None or self.result.done():
            return
        try:
            self.on_event(seq, event)
        except Exception as error:  # noqa: BLE001 - raised by `run`
            self.result.set_exception(error)

    def ask(self, call: Asked) -> int:
        """Queue a call that needs an answer; drop a call that is queued or being answered already.

        Returns:
            The bytes of the call.
        """
        if call["call"] in self._asked:
            return 0
        size = intake.live_cost(call)
        if self.asking + size > limits.LIVE_CALLS:
            raise wire.BadFrame("too many hook tool calls at once")
        self._asked[call["call"]] = size
        self.asking += size
        self.calls.append(call)
        return size

    def answered(self, call: Asked) -> None:
        """Release the bytes of a call that has its answer."""
        self.asking -= self._asked.pop(call["call"])

    def finish(self, message: Document) -> int:
        """Set the result, unless it is set; return how many bytes its events have."""
        found = self.take(intake.numbered(message, "events"))
        if not self.result.done():
            message["events"] = [{"seq": seq, "e": self.events[seq]} for seq in sorted(self.events)]
            self.result.set_result(message)
        return found

    def forget(self) -> None:
        """Release the memory, and drop calls that are not answered yet."""
        super().forget()
        self.calls.clear()


class Ahead(_Heard):
    """The messages of an operation that was sent behind another one, kept until a caller runs it."""

    def __init__(self, room: Room, link: Link) -> None:
        super().__init__(room)
        self.link = link  # the connection on which the operation was sent
        # the messages that arrived, reduced to the known fields, each with its size
        self.messages: list[tuple[Document, int]] = []
        self._ended = False

    def take(self, message: Document, size: int) -> int:
        """Keep a message; after a result no more messages are allowed.

        Returns:
            The bytes that are kept of the message.

        Raises:
            BadFrame: The frame is not a message, or the messages exceed the limit.
        """
        kind = message.get("t")
        if self._ended:
            return 0
        if kind == "live":
            return self._take_call(message, size)
        key = "es" if kind == "event" else "events"
        events = intake.numbered(message, key)
        spent = sum(intake.cost(event) for _, event in events)
        self._spend(spent)
        kept = {"t": kind, "id": message.get("id")} if kind == "event" else intake.known_fields(message, size)
        held = 0 if kind == "event" else held_by(kept, size)
        self._keep(held)
        self._ended = kind != "event"
        self.messages.append(({**kept, key: [{"seq": seq, "e": event} for seq, event in events]}, size))
        return spent + held

    def _take_call(self, message: Document, size: int) -> int:
        call = intake.live_call(message)
        self.asking += intake.live_cost(call)
        if self.asking > limits.LIVE_CALLS:
            raise wire.BadFrame(_TOO_MUCH)
        self._keep(intake.live_cost(call))
        self.messages.append(({**intake.known_call(message), "t": "live", "id": message.get("id")}, size))
        return intake.live_cost(call)


def held_by(message: Mapping[str, object], size: int) -> int:
    """Return the bytes of a result without its events; for a small result, just its size."""
    if size < limits.LARGE:
        return size
    return frames.weight({key: value for key, value in message.items() if key != "events"})
