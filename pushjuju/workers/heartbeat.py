"""Renews the lease of a claim while its key is worked on.

Most work ends before the first heartbeat. Until then there is only a timer, which costs less than a task.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING

from pushjuju.core.errors import StoreError
from pushjuju.store.leases import renewed
from pushjuju.store.queue import HEARTBEAT_S, LEASE_S, Claim, WorkQueue

if TYPE_CHECKING:
    from pushjuju.services.entities.basis.context import Context


class Heartbeat:
    """The heartbeat of the current task's claim, until `end`."""

    def __init__(self, ctx: Context, queue: WorkQueue, claim: Claim) -> None:
        self._ctx = ctx
        self._queue = queue
        self._claim = claim
        self._work = asyncio.current_task()
        self._end = time.monotonic() + LEASE_S
        self._renewals: asyncio.Task[None] | None = None
        wait = min(HEARTBEAT_S, LEASE_S)
        self._timer = asyncio.get_running_loop().call_later(wait, self._begin)

    async def end(self) -> None:
        """Renew the lease no longer."""
        self._timer.cancel()
        if self._renewals is not None:
            self._renewals.cancel()
            await asyncio.gather(self._renewals, return_exceptions=True)

    def _begin(self) -> None:
        self._renewals = asyncio.create_task(self._renew())

    async def _renew(self) -> None:
        """Renew the lease regularly; cancel the work when the lease is lost, or may be."""
        held = True
        while True:
            begun = time.monotonic()
            with contextlib.suppress(StoreError):  # a busy store: the next heartbeat renews the lease
                held = await renewed(self._ctx.store, self._queue, self._claim, self._ctx.clock.now())
                self._end = begun + LEASE_S
            if not (held and begun < self._end):
                if self._work is not None:
                    self._work.cancel()
                return
            await asyncio.sleep(max(0.0, min(HEARTBEAT_S, self._end - time.monotonic())))
