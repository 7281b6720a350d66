"""Stores for workers: one refuses writes when the lease has ended, one makes writes durable later.

A process that was suspended, or whose clock stopped, may not know that another process has taken over its
lease. So each writing transaction first checks the number of the lease; only one process can write at a time,
so the number stays valid until the commit.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from pushjuju.core.errors import LeaseLost
from pushjuju.store.db import Store
from pushjuju.store.queue import Claim, WorkQueue, model_of
from pushjuju.store.tx import Tx

if TYPE_CHECKING:
    from datetime import datetime

    from pushjuju.store.engine import Group


class LeasedStore(Store):
    """A store that may be written while a claim is valid, and read at any time.

    Readers use what the process saw a moment ago: a worker that misses a wake of this moment finds the wake
    when it gives its key back.
    """

    def __init__(self, store: Store, claim: Claim) -> None:
        super().__init__(store.engine)
        self._store = store
        self._claim = claim
        self.home = model_of(claim.key)

    def read(self, model: str = "", *, recent: bool = True) -> AbstractContextManager[Tx]:
        return self._store.read(model, recent=recent)

    @contextmanager
    def write(self, model: str = "", *, later: bool = False) -> Iterator[Tx]:
        """Open the one writing transaction.

        Raises:
            LeaseLost: Another process has taken over the key; nothing was written.
        """
        with self._store.write(model, later=later) as tx:
            if tx.scalar("work_holds", key=self._claim.key, lease=self._claim.lease) is None:
                raise LeaseLost(f"another controller process works on {self._claim.key} now")
            yield tx

    def concluded(self, key: Hashable, *, recent: bool = True) -> Any:
        return self._store.concluded(key, recent=recent)

    def group(self) -> Group:
        return self._store.group()


class DeferredStore(Store):
    """A store whose writes become durable with the next shared commit, or when `durable` returns.

    Without a running event loop, writes are durable at once. Readers use what the process saw a moment ago,
    as those of `LeasedStore` do.
    """

    def __init__(self, store: Store) -> None:
        super().__init__(store.engine)
        self._store = store
        self._since = store.group().lost
        self.home = store.home

    def read(self, model: str = "", *, recent: bool = True) -> AbstractContextManager[Tx]:
        return self._store.read(model, recent=recent)

    @contextmanager
    def write(self, model: str = "", *, later: bool = True) -> Iterator[Tx]:
        """Open a writing transaction.

        Raises:
            StoreError: Earlier writes of this store may be lost, so its reader has to begin anew.
        """
        with self._store.write(model, later=later) as tx:
            self.group().require(self._since)
            yield tx

    def concluded(self, key: Hashable, *, recent: bool = True) -> Any:
        return self._store.concluded(key, recent=recent)

    def group(self) -> Group:
        return self._store.group()

    async def durable(self) -> None:
        """Wait until all writes are durable."""
        await self.group().durable(self._since)


async def renewed(store: Store, queue: WorkQueue, claim: Claim, now: datetime) -> bool:
    """Renew a lease, and wait for the disk together with others; return False when the lease is lost.

    Raises:
        StoreError: The lease may not have been renewed.
    """
    deferred = DeferredStore(store)
    held = queue.heartbeat(claim, now, later=True)
    await deferred.durable()
    return held
