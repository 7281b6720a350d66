"""Threads that open the store: facades are plain functions, and the event loop never waits for SQLite."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import ContextVar, copy_context
from typing import TypeVar

from pushjuju.services.entities.basis.context import Context

T = TypeVar("T")
Job = Callable[[Context], None]
PEER: ContextVar[str] = ContextVar("peer", default="localhost")
"""The address of the client whose request is answered; not set by the dashboard of this computer."""


class Pool:
    """Threads that run functions with a context; each thread opens the controller for itself."""

    def __init__(self, opened: Callable[[], Context], threads: int = 4) -> None:
        self._opened = opened
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._run, name=f"api-{number}", daemon=True) for number in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    def one_more(self) -> Pool:
        """Return another pool, with one thread, whose functions all share one open store."""
        return Pool(self._opened, threads=1)

    def _run(self) -> None:
        ctx: Context | None = None
        while (job := self._jobs.get()) is not None:
            if ctx is None:
                ctx = self._opened()
            job(ctx)
        if ctx is not None:
            ctx.close()

    async def run(self, function: Callable[[Context], T]) -> T:
        """Run a function in one of the threads, with the variables of the request; return what it returns."""
        return await asyncio.wrap_future(self._submit(function))

    def _submit(self, function: Callable[[Context], T]) -> Future[T]:
        future: Future[T] = Future()
        around = copy_context()  # of the request

        def job(ctx: Context) -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(around.run(function, ctx))
            except BaseException as error:  # noqa: BLE001 - the caller gets it
                future.set_exception(error)

        self._jobs.put(job)
        return future

    async def close(self) -> None:
        """End the threads after the functions that are already queued."""
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            await asyncio.to_thread(thread.join)
