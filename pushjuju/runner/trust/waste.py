"""Limits how busy a machine may keep the controller, with useless messages and with hook tool calls.

Both amounts decrease with time, so that neither a long life nor a bad network exceeds the limits.
"""

from __future__ import annotations

import asyncio
import time
import types
from collections.abc import Awaitable, Callable, Generator
from typing import Any, TypeVar

from pushjuju.core import limits
from pushjuju.runner.remote.base import wire

T = TypeVar("T")
Clock = Callable[[], float]


class Bucket:
    """An amount that decreases with time, and its limit."""

    def __init__(self, most: float, each_s: float, now: Clock = time.monotonic) -> None:
        self._most = most
        self._each_s = each_s
        self._now = now
        self._amount = 0.0
        self._at = now()

    def add(self, amount: float) -> None:
        """Add to the amount."""
        now = self._now()
        self._amount = max(self._amount - (now - self._at) * self._each_s, 0.0) + amount
        self._at = now

    def over_s(self) -> float:
        """Return for how many seconds the amount will still be above the limit; 0 below the limit."""
        self.add(0.0)
        return max(self._amount - self._most, 0.0) / self._each_s


class Waste:
    """The useless bytes that one machine has sent, over all its contacts."""

    def __init__(self, now: Clock = time.monotonic) -> None:
        self._bytes = Bucket(limits.WASTE, limits.WASTE_EACH_S, now)
        self._seconds = Bucket(limits.WASTE_CPU, limits.WASTE_CPU_EACH_S, now)

    def add(self, size: float, seconds: float) -> None:
        """Count useless bytes, and the processor seconds that reading them took.

        Raises:
            BadFrame: The limit is exceeded.
        """
        self._bytes.add(size)
        self._seconds.add(seconds)
        if self.over_s() > 0:
            raise wire.BadFrame("too many useless messages")

    def over_s(self) -> float:
        """Return for how many seconds pushjuju ignores the machine; 0 below the limits."""
        return max(self._bytes.over_s(), self._seconds.over_s())


class Answers:
    """The processor time that answers to one machine take; above the limit, the next answer waits."""

    def __init__(self, now: Clock = time.monotonic) -> None:
        self._seconds = Bucket(limits.LIVE_CPU, limits.LIVE_CPU_EACH_S, now)

    async def give(self, work: Callable[[], Awaitable[T]]) -> T:
        """Wait while the machine is above the limit, then run `work` and count its processor time."""
        await asyncio.sleep(self._seconds.over_s())  # also with 0: other tasks run in between
        return await _metered(work(), self._seconds.add)


@types.coroutine
def _metered(work: Awaitable[T], spend: Callable[[float], None]) -> Generator[Any, Any, T]:
    """Run a coroutine; add the processor time of its own steps, without that of other tasks."""
    steps = work.__await__()
    resume: Callable[[], Any] = lambda: next(steps)  # noqa: E731 - assigned anew below
    while True:
        begun = time.thread_time()
        try:
            awaited = resume()
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        finally:
            spend(time.thread_time() - begun)
        try:
            sent = yield awaited
        except BaseException as error:  # noqa: BLE001 - passed to the coroutine, also a cancellation
            resume = _throwing(steps, error)
        else:
            resume = _sending(steps, sent)


def _sending(steps: Generator[Any, Any, T], value: Any) -> Callable[[], Any]:
    return lambda: steps.send(value)


def _throwing(steps: Generator[Any, Any, T], error: BaseException) -> Callable[[], Any]:
    return lambda: steps.throw(error)
