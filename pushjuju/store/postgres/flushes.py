"""Commits that become durable together: each writer commits alone, and one flush serves all who wait.

The lock of a model is not held while the disk of the server works. What others see before it is durable, they
cannot act on without a flush of their own, which covers it.
"""

from __future__ import annotations

import asyncio
import contextlib
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from pushjuju.core.errors import StoreAway, StoreError

if TYPE_CHECKING:
    from pushjuju.store.engine import OpenStore
    from pushjuju.store.tx import Tx


class Flushing(Protocol):
    """The methods of an engine that a group uses.

    Attributes:
        is_durable: False while commits may not be on the disk of the server yet.
    """

    is_durable: bool

    def flush(self) -> None:
        """Return when all commits are durable; raise StoreError when the server may have lost some."""


class FlushGroup:
    """The writers of a process that wait for the same flush.

    Attributes:
        is_open: Always False, since no transaction is shared.
        lost: The number of flushes that failed: the server may have lost the commits since the flush before.
    """

    is_open = False

    def __init__(self, engine: Flushing, store: OpenStore) -> None:
        self.lost = 0
        self._engine = engine
        self._store = store
        self._waiters: list[asyncio.Future[None]] = []

    def part(self, model: str = "") -> AbstractContextManager[Tx]:
        """Open a transaction whose commit does not wait for the disk."""
        return self._store.transaction(model, later=True)

    def flush(self) -> None:
        """Return when all commits are durable.

        Raises:
            StoreError: The server may have lost some of them.
        """
        error: StoreError | None = None
        try:
            self._engine.flush()
        except StoreError as failed:
            error = failed
            self.lost += 1
            raise
        finally:
            waiters, self._waiters = self._waiters, []
            for waiter in waiters:
                if not waiter.done():
                    waiter.set_exception(error) if error is not None else waiter.set_result(None)

    def _flush_quietly(self) -> None:
        with contextlib.suppress(StoreError):  # `durable` raises it
            self.flush()

    async def durable(self, since: int) -> None:
        """Wait until all writes are durable.

        Args:
            since: The value of `lost` when the writer began.
        """
        if self.lost != since:
            raise StoreAway("the last writes may be lost: the store stopped before they were on its disk")
        if self._engine.is_durable:
            return
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[None] = loop.create_future()
        self._waiters.append(waiter)
        if len(self._waiters) == 1:  # after the next round of the loop, for those who come in this one
            loop.call_soon(loop.call_soon, self._flush_quietly)
        await waiter
