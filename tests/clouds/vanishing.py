"""Instances that vanish in the middle of a call: before its first request, its second, and so on."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar

from pushjuju.core.errors import ProviderError

T = TypeVar("T")


class Server(Protocol):
    """A fake that says what it is asked before it answers."""

    before: Callable[[Any], None]


class Vanishing:
    """Takes the instances from a fake before one of its requests.

    Args:
        number: Before which of the requests that are made while there is an instance; the first is 1.
        vanish: Takes them; its own requests do not count.
        there: Returns how many instances there are.
    """

    def __init__(
        self, fake: Server, number: int, vanish: Callable[[], None], there: Callable[[], int]
    ) -> None:
        self._left, self._vanish, self._there = number, vanish, there
        self._lock = threading.Lock()
        self.done = False
        self._fake = fake
        fake.before = self._look

    def _look(self, _asked: Any) -> None:
        with self._lock:
            self._left -= bool(self._there()) and not self.done
            now = not self._left and not self.done
            self.done |= now
        if now:
            self._vanish()

    def off(self) -> None:
        """Let the fake be as it was."""
        self._fake.before = lambda _asked: None


async def start_in_the_end(start: Callable[[], Awaitable[T]]) -> T:
    """Return what a start returns, or the next one where the first fails and may be tried again."""
    try:
        return await start()
    except ProviderError as error:
        failed = error
    assert failed.retryable, failed
    return await start()


async def at_each_moment(
    fake: Server,
    vanish: Callable[[], None],
    there: Callable[[], int],
    begin: Callable[[], Awaitable[T]],
    call: Callable[[T], Awaitable[None]],
) -> None:
    """Make a call again and again; the instances vanish before a later request of it each time.

    Args:
        begin: Returns what the call needs; nothing vanishes meanwhile.
    """
    for number in itertools.count(1):
        given = await begin()
        vanishing = Vanishing(fake, number, vanish, there)
        try:
            await call(given)
        finally:
            vanishing.off()
        if not vanishing.done:
            assert number > 1, "the call asks for nothing"
            return
