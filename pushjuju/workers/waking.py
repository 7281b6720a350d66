"""Wakes a controller process when another process has made work due, on a store that can tell."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Self

from pushjuju.core.errors import StoreError
from pushjuju.store.db import Store
from pushjuju.store.engine import Wakes

_AGAIN_S = 5.0  # seconds until the next try to listen, while the store cannot be reached


class Waking:
    """Calls a function whenever other processes have made work due, for the time of a `with` block."""

    def __init__(self, store: Store, wake: Callable[[], None]) -> None:
        self._store = store
        self._wake = wake
        self._wakes: Wakes | None = None
        self._again: asyncio.TimerHandle | None = None

    def __enter__(self) -> Self:
        self._listen()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._again is not None:
            self._again.cancel()
        self._end()

    def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            self._wakes = self._store.engine.wakes()
        except StoreError:  # the driver tells of it
            self._again = loop.call_later(_AGAIN_S, self._listen)
            return
        if self._wakes is not None:
            loop.add_reader(self._wakes.fileno(), self._hear)

    def _hear(self) -> None:
        heard = self._wakes.heard() if self._wakes is not None else False
        if heard is None:
            self._end()
            self._again = asyncio.get_running_loop().call_later(_AGAIN_S, self._listen)
        if heard is not False:
            self._wake()

    def _end(self) -> None:
        if self._wakes is not None:
            asyncio.get_running_loop().remove_reader(self._wakes.fileno())
            self._wakes.close()
        self._wakes = None
