"""Threads that open the store: facades are plain functions, and the event loop never waits for SQLite."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import ContextVar, copy_context
from typing import TypeVar

from pushjuju.core.errors import StoreBusy
from pushjuju.services.entities.basis.context import Context

T = TypeVar("T")
_AGAIN_S = 0.5  # between looks at a store that cannot be used
Job = Callable[["_Opened"], None]
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
        opened = _Opened(self._opened)
        while (job := self._jobs.get()) is not None:
            job(opened)
        if opened.ctx is not None:
            opened.ctx.close()

    async def run(self, function: Callable[[Context], T]) -> T:
        """Run a function in one of the threads, with the variables of the request; return what it returns."""
        return await asyncio.wrap_future(self._submit(function))

    async def run_patiently(self, function: Callable[[Context], T]) -> T:
        """Do the same as `run`, as soon as the store can be used."""
        while True:
            try:
                return await self.run(function)
            except StoreBusy:
                await asyncio.sleep(_AGAIN_S)

    def _submit(self, function: Callable[[Context], T]) -> Future[T]:
        future: Future[T] = Future()
        around = copy_context()  # of the request

        def job(opened: _Opened) -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(around.run(function, opened.get()))
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


class _Opened:
    """The controller as a thread has opened it, or will: the store may be away at the first job."""

    def __init__(self, open_controller: Callable[[], Context]) -> None:
        self._open = open_controller
        self.ctx: Context | None = None

    def get(self) -> Context:
        """Return the controller; open it first when it is not open."""
        if self.ctx is None:
            self.ctx = self._open()
        return self.ctx
