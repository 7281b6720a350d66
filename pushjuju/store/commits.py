"""One commit for several writers.

A disk takes milliseconds to make a commit safe, whether it holds one hook or a hundred. So writers that can
wait write into one open transaction, each in a part of its own that is undone alone when it fails; then they
wait together until it is on the disk. Nothing that the world outside sees may be done before that.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from sqlite3 import Connection
from typing import Protocol

from pushjuju.core.errors import StoreError
from pushjuju.store.faults import explain_error, is_of_the_file
from pushjuju.store.tx import Tx

MOST_LATER_S = 0.01  # how long a commit may be put off: all other processes wait for it

_UNDONE = "what was written last could not be kept, and was undone"


class OpenStore(Protocol):
    """What a group needs of the store that it belongs to."""

    path: Path

    def begin(self) -> None:
        """Begin a transaction that nothing ends but the group."""

    def within(self) -> AbstractContextManager[Tx]:
        """Give the transaction that is open."""

    def forget(self) -> None:
        """Forget what was read in a transaction that is undone."""


class CommitGroup:
    """The shared transaction of a store.

    Attributes:
        is_open: Whether something waits to be committed.
        lost: The number of shared commits that failed; with each, all writes of its writers were undone.
    """

    def __init__(self, connection: Connection, store: OpenStore) -> None:
        self.is_open = False
        self.lost = 0
        self._connection = connection
        self._store = store
        self._waiters: list[asyncio.Future[None]] = []

    @contextmanager
    def part(self) -> Iterator[Tx]:
        """Write a part; it is undone alone when the block raises."""
        if not self.is_open:
            self._store.begin()
            self.is_open = True
            asyncio.get_running_loop().call_later(MOST_LATER_S, self._flush_quietly)
        with self._store.within() as tx:
            try:
                self._connection.execute("SAVEPOINT part")
                yield tx
                self._connection.execute("RELEASE part")
            except BaseException as error:
                self._undo_part()
                if is_of_the_file(error):
                    raise explain_error(error, self._store.path) from error
                raise

    def _undo_part(self) -> None:
        self._store.forget()
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK TO part")
            self._connection.execute("RELEASE part")
        else:  # SQLite ends the whole by itself when the disk is full
            self._end(StoreError(_UNDONE))

    def flush(self) -> None:
        """Commit now.

        Raises:
            StoreError: It cannot be kept; all of it is undone, and each writer hears of it from `durable`.
        """
        if not self.is_open:
            return
        try:
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            self._store.forget()
            found = explain_error(error, self._store.path)
            self._end(found)
            raise found from error
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
        with contextlib.suppress(StoreError):  # who waits for it hears of it
            self.flush()

    async def durable(self, since: int) -> None:
        """Wait until all that was written is on the disk.

        Args:
            since: The value of `lost` when the writer began.
        """
        if self.lost != since:
            raise StoreError(_UNDONE)
        if self.is_open:
            loop = asyncio.get_running_loop()
            waiter: asyncio.Future[None] = loop.create_future()
            self._waiters.append(waiter)
            if len(self._waiters) == 1:
                # One round later, so that a process that comes to the same point in this
                # round shares the commit.
                loop.call_soon(loop.call_soon, self._flush_quietly)
            await waiter
