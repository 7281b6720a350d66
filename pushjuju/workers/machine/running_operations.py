"""The running operations of one machine, checks while they run, and their events."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterator
from typing import TYPE_CHECKING, Any

from pushjuju.core import limits
from pushjuju.core.errors import StoreError
from pushjuju.runner.session import TAIL
from pushjuju.runner.trust import intake
from pushjuju.services.entities.basis.context import Context
from pushjuju.uniter.commit import take_events

if TYPE_CHECKING:
    from pushjuju.portable.frames import Event

EVENTS_S = 0.02  # seconds that events of a running hook wait for more events
LOOK_S = 1.0  # seconds between checks of what runs, and of what may run beside it


class RunningOperations:
    """The operations that run on a machine at this moment."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._tasks

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def __iter__(self) -> Iterator[str]:
        return iter(self._tasks)

    def start(self, key: str, work: Coroutine[Any, Any, None]) -> None:
        self._tasks[key] = asyncio.create_task(work, name=key)

    async def some_end(self) -> None:
        """Wait until an operation has ended, at most until the next check."""
        ended, _ = await asyncio.wait(
            self._tasks.values(), timeout=LOOK_S, return_when=asyncio.FIRST_COMPLETED
        )
        self._tasks = {key: task for key, task in self._tasks.items() if task not in ended}
        for task in ended:
            task.result()

    async def close(self) -> None:
        """Cancel all coroutines; operations on the machine go on."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        self._tasks = {}


class Lookout:
    """Calls a check regularly while an operation runs; most hooks end before the first check."""

    def __init__(self, look: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._look = look
        self._task: asyncio.Task[None] | None = None
        self._handle = asyncio.get_running_loop().call_later(LOOK_S, self._begin)

    def _begin(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._look())
        self._handle = asyncio.get_running_loop().call_later(LOOK_S, self._begin)

    def close(self) -> None:
        """Stop the checks."""
        self._handle.cancel()
        if self._task is not None:
            self._task.cancel()


class EventSink:
    """Commits the events of a running operation; events within a short time are committed together.

    The events of a short hook are part of its result, and are committed with the result.
    """

    def __init__(self, ctx: Context, operation_id: str, show: Callable[[str], None] | None = None) -> None:
        self._ctx = ctx
        self._id = operation_id
        self._show = show
        self._waiting: list[tuple[int, Event]] = []
        self._handle: asyncio.TimerHandle | None = None

    def take(self, number: int, event: Event) -> None:
        """Take one event; show its line to a watching user."""
        if self._show is not None and (line := str(event.get("line") or event.get("message") or "").strip()):
            self._show(line)
        if number == TAIL:
            return  # only shown, not stored
        self._waiting.append((number, event))
        if self._handle is None:
            self._handle = asyncio.get_running_loop().call_later(EVENTS_S, self._flush)

    def _flush(self) -> None:
        self._handle = None
        most = self._at_once()
        events, self._waiting = self._waiting[:most], self._waiting[most:]
        with contextlib.suppress(StoreError):  # the result has every event again
            take_events(self._ctx, self._id, events)
        if self._waiting:
            self._handle = asyncio.get_running_loop().call_later(EVENTS_S, self._flush)

    def _at_once(self) -> int:
        """Return how many of the waiting events fit into one transaction."""
        size = 0
        for number, (_, event) in enumerate(self._waiting[: limits.EVENTS_AT_ONCE], 1):
            size += intake.cost(event)
            if size > limits.TEXT_AT_ONCE:
                return number
        return limits.EVENTS_AT_ONCE

    def close(self) -> None:
        """Drop waiting events: the commit reads every event from the result."""
        if self._handle is not None:
            self._handle.cancel()
