"""Group commit: several writers share one commit.

A disk takes milliseconds to make a commit durable, whether it contains one hook or a hundred. So writers that
can wait write into one open transaction, each in a part that is rolled back alone when it fails; then they
wait together until the transaction is durable. No effect outside of the store may happen before.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from pushjuju.core.errors import StoreError
from pushjuju.store.effects import Held
from pushjuju.store.engine import Engine, OpenStore
from pushjuju.store.tx import Tx

MOST_LATER_S = 0.01  # seconds that a commit may be delayed, during which other processes wait

_UNDONE = "the last writes could not be committed and were undone"


class CommitGroup:
    """The shared transaction of a store."""

    def __init__(self, engine: Engine, store: OpenStore) -> None:
        self.is_open = False  # True while a transaction waits to be committed
        # the number of shared commits that failed; each failure undid all writes of its writers
        self.lost = 0
        self._engine = engine
        self._store = store
        self._waiters: list[asyncio.Future[None]] = []

    def joins(self, _model: str) -> bool:
        return self.is_open

    def look(self) -> AbstractContextManager[Tx]:
        return self._store.within()

    @contextmanager
    def part(self, model: str = "") -> Iterator[Tx]:
        """Open a part of the transaction; an exception rolls back this part only.

        Args:
            model: The same as for `Store.write`.
        """
        if not self.is_open:
            self._store.begin()
            self.is_open = True
            asyncio.get_running_loop().call_later(MOST_LATER_S, self._flush_quietly)
        held = self._store.held()
        with self._store.within(model) as tx:
            try:
                self._engine.connection.execute("SAVEPOINT part")
                yield tx
                self._engine.connection.execute("RELEASE part")
            except BaseException as error:
                self._undo_part(held)
                if (told := self._engine.explain(error)) is not None:
                    raise told from error
                raise

    def _undo_part(self, held: Held) -> None:
        if self._engine.is_open:
            self._store.forget(held)
            self._engine.connection.execute("ROLLBACK TO part")
            self._engine.connection.execute("RELEASE part")
        else:  # the engine has rolled back everything, since the disk is full
            self._store.forget()
            self._end(StoreError(_UNDONE))

    def flush(self) -> None:
        """Commit now.

        Raises:
            StoreError: The commit failed: all parts are undone, and `durable` raises it in each writer.
        """
        if not self.is_open:
            return
        try:
            self._store.release()
            self._engine.commit()
        except Exception as error:
            self._engine.rollback()
            self._store.forget()
            found = self._engine.explain(error) or StoreError(_UNDONE, detail=str(error))
            self._end(found)
            raise found from error
        except KeyboardInterrupt:
            if not self._engine.is_open:  # it came behind the commit
                self._end(None)
            raise
        self._end(None)

    def _end(self, error: StoreError | None) -> None:
        self.is_open = False
        self.lost += error is not None
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if waiter.done():
                continue
            if error is None:
                waiter.set_result(None)
            else:
                waiter.set_exception(error)

    def _flush_quietly(self) -> None:
        with contextlib.suppress(StoreError):  # `durable` raises it
            self.flush()

    def require(self, since: int) -> None:
        """Raise StoreError when writes of a writer were undone.

        Args:
            since: The value of `lost` when the writer began.
        """
        if self.lost != since:
            raise StoreError(_UNDONE)

    async def durable(self, since: int) -> None:
        """Wait until all writes are durable.

        Args:
            since: The value of `lost` when the writer began.
        """
        self.require(since)
        if self.is_open:
            loop = asyncio.get_running_loop()
            waiter: asyncio.Future[None] = loop.create_future()
            self._waiters.append(waiter)
            if len(self._waiters) == 1:
                # After the next round of the loop, so that a task that comes to this point in this round
                # shares the commit.
                loop.call_soon(loop.call_soon, self._flush_quietly)
            await waiter
