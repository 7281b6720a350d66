"""How often a process tries to connect to a server that is away."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from pushjuju.core.errors import StoreAway
from pushjuju.store.files.waits import Patience

_LONGEST_S = 15.0  # the longest pause between two attempts to connect
_AT_FIRST_S = 4.0  # the longest pause in the first minute, since a server that restarts is back soon
_AT_FIRST = 60.0

T = TypeVar("T")


class Attempts:
    """The attempts of a process to connect to a server that is away: after 1, 2, 4 ... 15 seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._error: StoreAway | None = None
        self._began = self._next = self._pause = 0.0

    def connected(self, connect: Callable[[], T], patience: Patience | None) -> T:
        """Return what `connect` returns.

        Args:
            patience: Wait for the next attempt as long as this lasts; without it, fail until the next attempt
                is due, for a process that must not stand still.

        Raises:
            StoreAway: The server does not answer.
        """
        while True:
            if self._error is not None and patience is None and self._clock() < self._next:
                raise _copy(self._error)
            try:
                found = connect()
            except StoreAway as error:
                self._failed(error)
                if patience is None:
                    raise
                time.sleep(min(self._pause, patience.wait(error)))
                continue
            self._error, self._pause = None, 0.0
            if patience is not None:
                patience.end()
            return found

    def _failed(self, error: StoreAway) -> None:
        now = self._clock()
        if self._error is None:
            self._began = now
        most = _AT_FIRST_S if now - self._began < _AT_FIRST else _LONGEST_S
        self._pause = min(2 * self._pause or 1.0, most)
        self._error, self._next = _copy(error), now + self._pause


def _copy(error: StoreAway) -> StoreAway:
    """Return an error of its own, since who catches an error may change its message."""
    return StoreAway(error.message, detail=error.detail, hint=error.hint)
