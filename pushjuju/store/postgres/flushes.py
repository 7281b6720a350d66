"""Writers that share a transaction of their model, and one flush for all who wait.

The locks and the commit of a transaction cost more than the writes of a hook. So consecutive writers of a
model share a transaction for some milliseconds, each in a part that is rolled back alone when it fails. The
lock of the model is free while the disk of the server works. What others see before it is durable, they
cannot act on without a flush of their own, which covers it.

The answer to a write comes late, perhaps when the next writer asks. So a statement that fails undoes the
whole transaction; for a minute, each writer then has its own transaction, where the error meets its cause.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from pushjuju.core.errors import StoreAway, StoreError
from pushjuju.store.postgres.pipeline import Failed, Pipeline

if TYPE_CHECKING:
    from pushjuju.store.effects import Held
    from pushjuju.store.engine import OpenStore
    from pushjuju.store.tx import Tx

MOST_SHARED_S = 0.01  # seconds that a transaction may be shared, during which others wait for its model
_MOST_PARTS = 30  # each is a savepoint within the one before; PostgreSQL keeps 64 in memory
_MARK = "SAVEPOINT part"  # the commit releases all of them
_APART_S = 60.0  # seconds without sharing after a statement has failed
_LOST = "the last writes may be lost: the store stopped before they were on its disk"
_UNDONE = "the last writes could not be committed and were undone"


class Flushing(Protocol):
    """The methods of an engine that a group uses."""

    is_durable: bool  # False while commits may not be on the disk of the server yet
    connection: Pipeline  # runs statements

    def flush(self) -> None:
        """Commit the open transaction, and return when all commits are durable.

        Raises:
            StoreError: The server may have lost some of them.
        """

    def commit(self) -> None:
        """Commit the open transaction."""

    def rollback(self) -> None:
        """Undo the open transaction."""

    def explain(self, error: BaseException) -> StoreError | None:
        """Return the error for users when the database is the cause of an error, not the statement."""


class FlushGroup:
    """The writers of a process that share transactions and wait for the same flush."""

    def __init__(self, engine: Flushing, store: OpenStore) -> None:
        self.is_open = False  # True while a shared transaction waits to be committed
        # the number of commits and flushes that failed: writes since the flush before may be lost
        self.lost = 0
        self._why: StoreError | None = None
        self._engine = engine
        self._store = store
        self._waiters: list[asyncio.Future[None]] = []
        self._model = ""
        self._parts = 0
        self._timer: asyncio.TimerHandle | None = None
        self._apart_until = 0.0

    # --- the shared transaction ---------------------------------------------------------------------------

    def joins(self, model: str) -> bool:
        """Return True when a transaction of a model is open; commit a transaction of another one.

        Args:
            model: The model, or "" for the whole store, which is never shared.
        """
        if not self.is_open:
            return False
        if model and model == self._model and self._parts < _MOST_PARTS:
            return True
        try:
            self._store.release()
            self._engine.commit()
            self._close()
        except Exception as error:  # noqa: BLE001 - not the fault of the caller; `durable` raises it
            self._lose(error)
        return False

    def _open(self, model: str, loop: asyncio.AbstractEventLoop) -> None:
        self._store.begin(model, later=True)
        self.is_open, self._model, self._parts = True, model, 0
        self._timer = loop.call_later(MOST_SHARED_S, self.joins, "")

    def _close(self) -> None:
        self.is_open = False
        if self._timer is not None:
            self._timer.cancel()

    @contextmanager
    def part(self, model: str = "") -> Iterator[Tx]:
        """Open a part of a shared transaction, or a transaction whose commit does not wait for the disk.

        Args:
            model: The same as for `Store.write`.
        """
        joined, loop = self.joins(model), asyncio._get_running_loop()
        if not joined and (not model or loop is None or time.monotonic() < self._apart_until):
            with self._store.transaction(model, later=True) as tx:
                yield tx
            return
        if loop is not None and not joined:
            self._open(model, loop)
        else:
            self._engine.connection.mark = _MARK
        self._parts += 1
        held = self._store.held()
        with self._store.within(model) as tx:
            try:
                yield tx
                self._engine.connection.mark = ""
            except BaseException as error:
                self._undo(error, held, alone=not joined)
                if (told := self._engine.explain(error)) is not None:
                    raise told from error
                raise

    def _undo(self, error: BaseException, held: Held, *, alone: bool) -> None:
        """Undo a part.

        Args:
            held: The statements that earlier parts have held back.
            alone: True when the transaction has no other part.

        Raises:
            StoreError: Everything was undone.
        """
        if alone:
            self._close()
            self._engine.rollback()
            self._store.forget()
            return
        if not isinstance(error, Failed):
            try:
                self._undo_part()
                self._store.forget(held)
                return
            except Failed as failed:  # of an earlier part
                error = failed
        raise self._lose(error) from error

    def _undo_part(self) -> None:
        """Undo what came after the savepoint; raise `Failed` when a statement before has failed."""
        connection = self._engine.connection
        if connection.mark:  # nothing was written
            connection.mark = ""
            return
        connection.catch_up()
        connection.execute("ROLLBACK TO part")
        connection.catch_up()

    def _lose(self, error: BaseException) -> StoreError:
        """Undo the whole transaction; return the error for all its writers."""
        found = self._engine.explain(error) or StoreAway(_UNDONE, detail=str(error))
        self._close()
        self._engine.connection.mark = ""
        self._engine.rollback()
        self._store.forget()
        self._fail(found)
        return found

    @contextmanager
    def look(self) -> Iterator[Tx]:
        with self._store.within() as tx:
            try:
                yield tx
            except Failed as error:
                raise self._lose(error) from error

    # --- the disk -----------------------------------------------------------------------------------------

    def flush(self) -> None:
        """Return when all writes are durable.

        Raises:
            StoreError: The server may have lost some of them.
        """
        self._close()
        try:
            self._store.release()
            self._engine.flush()
        except StoreError as failed:
            self._store.forget()
            self._fail(failed)
            raise
        self._end(None)

    def _fail(self, error: StoreError) -> None:
        self.lost += 1
        self._why, self._apart_until = error, time.monotonic() + _APART_S
        self._end(error)

    def _end(self, error: StoreError | None) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_exception(error) if error is not None else waiter.set_result(None)

    def _flush_quietly(self) -> None:
        with contextlib.suppress(StoreError):  # `durable` raises it
            self.flush()

    def require(self, since: int) -> None:
        """Check that no write of a writer was lost.

        Args:
            since: The value of `lost` when the writer began.

        Raises:
            StoreError: Its writes may be lost.
        """
        if self.lost != since:
            raise StoreAway(_LOST, detail=str(self._why or ""))

    async def durable(self, since: int) -> None:
        """Wait until all writes are durable.

        Args:
            since: The value of `lost` when the writer began.
        """
        self.require(since)
        if self._engine.is_durable and not self.is_open:
            return
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[None] = loop.create_future()
        self._waiters.append(waiter)
        if len(self._waiters) == 1:  # after the next round of the loop, for those who come in this one
            loop.call_soon(loop.call_soon, self._flush_quietly)
        await waiter
