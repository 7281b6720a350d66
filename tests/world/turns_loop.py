"""An event loop whose time passes with its turns, so that what is counted is the same on a busy computer."""

from __future__ import annotations

import asyncio
import selectors
from typing import Any

TURN_S = 0.003  # seconds that a turn counts for: what a turn of a small model takes on a quiet computer


class TurnsLoop(asyncio.SelectorEventLoop):
    """An event loop that reads no clock: each turn takes the same time, and a wait all that it may."""

    def __init__(self) -> None:
        self._passed = 0.0
        super().__init__(_Selector(self))

    def time(self) -> float:
        return self._passed

    def passes(self, seconds: float) -> None:
        self._passed += seconds


class _Selector(selectors.DefaultSelector):
    def __init__(self, loop: TurnsLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[Any]:
        found = super().select(timeout)
        self._loop.passes(TURN_S if found or not timeout else timeout)
        return found
