"""The main loop of a controller process: do due work until a signal, or until nothing is left."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import traceback
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Self

from pushjuju import __version__
from pushjuju.core.clock import SystemClock
from pushjuju.core.errors import StoreDamaged, StoreError, StoreGone, StoreTooNew, WrongKey
from pushjuju.core.problems import Subject
from pushjuju.services.entities.basis import notices
from pushjuju.services.entities.basis.context import Context
from pushjuju.store import processes
from pushjuju.store.db import Store
from pushjuju.store.engine import Wakes
from pushjuju.workers.background import only_one
from pushjuju.workers.driver import Driver
from pushjuju.workers.events import Tell, silent

if TYPE_CHECKING:
    from pushjuju.workers.counts import Counts

LINGER_S = 10.0  # seconds that a background process waits for more work
_TRIES = 20
_DRAIN_LOOK_S = 1.0
_APART_S = 2.0  # seconds between two clocks that are worth a warning
_AGAIN_S = 5.0  # seconds until the next try to listen, while the store cannot be reached


class Drained(Exception):
    """A user has asked this process to end (`controller drain`)."""


_FINAL = (
    Drained,
    StoreDamaged,
    StoreGone,
    StoreTooNew,
    WrongKey,
)  # after them this process cannot or may not use the store again


def serve(
    ctx: Context,
    *,
    tell: Tell = silent,
    warn: Callable[[str], None] | None = None,
    until_idle: bool = False,
    beside: Sequence[AbstractAsyncContextManager[object]] = (),
    counts: Counts | None = None,
) -> bool:
    """Work on all models of a controller until a signal (SIGTERM, SIGINT), or until idle.

    With `until_idle`, this process leaves the work to another process that works on the controller already;
    otherwise it works in parallel with such a process.

    Args:
        beside: Contexts to hold open in the same event loop until the work ends, for example a server.
        counts: Counts what the process does, for its metrics.

    Returns:
        False when another process works for the controller, so that this process has nothing to do.

    Raises:
        Drained: A user has asked for the end; the work was given back.
    """

    def driver() -> Driver:
        made = Driver(ctx, tell=tell, warn=warn)
        made.counts = counts
        return made

    async def work() -> bool:
        async with contextlib.AsyncExitStack() as stack:
            for other in beside:
                await stack.enter_async_context(other)
            return await _serve(ctx, driver, warn, until_idle=until_idle)

    return asyncio.run(work())


async def _serve(
    ctx: Context, driver: Callable[[], Driver], warn: Callable[[str], None] | None, *, until_idle: bool
) -> bool:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)

    def ended(task: asyncio.Task[None]) -> None:
        stop.set()
        if not task.cancelled():
            task.exception()  # asyncio tells of an error that nobody has looked at

    clocks = _Clocks(ctx, None if until_idle else warn)
    drained = asyncio.create_task(_stop_when_drained(ctx, stop, clocks))
    drained.add_done_callback(ended)
    try:
        served = await (_serve_until_idle if until_idle else _serve_always)(ctx, stop, driver, warn)
        if drained.done():
            drained.result()  # raises what has ended it
        return served
    finally:
        drained.cancel()
        _strike_off(ctx)


async def _serve_always(
    ctx: Context, stop: asyncio.Event, driver: Callable[[], Driver], warn: Callable[[str], None] | None
) -> bool:
    if warn is not None:
        for text in ctx.store.engine.doubts():
            warn(text)
    _enlist(ctx)
    with only_one(ctx.controller, tries=_TRIES):
        await _run(driver(), stop)
    return True


class _Clocks:
    """Warns once when the clock of this host is wrong, also when that begins later."""

    def __init__(self, ctx: Context, warn: Callable[[str], None] | None) -> None:
        self._ctx = ctx
        self._warn = warn
        self.compare()

    def compare(self) -> None:
        """Compare the clocks, unless a difference was reported before."""
        if self._warn is not None and (text := _clocks_apart(self._ctx)):
            self._warn(text)
            self._warn = None


def _clocks_apart(ctx: Context) -> str:
    """Return a text when the clock of this host is wrong by the clock of the store, else ""."""
    if abs(apart := _seconds_apart(ctx)) < _APART_S:
        return ""
    how = "ahead of" if apart > 0 else "behind"
    return f"the clock of this host is {abs(apart):.0f} s {how} the clock of the store, which counts"


def _seconds_apart(ctx: Context) -> float:
    """Return how far the clock of this host is ahead of the clock of the store, if the store has one."""
    if ctx.store.engine.clock() is None:
        return 0.0
    return (SystemClock().now() - ctx.clock.now()).total_seconds()


async def _run(driver: Driver, stop: asyncio.Event, idle_exit_s: float | None = None) -> None:
    with Waking(driver.ctx.store, driver.wake):
        await driver.run(stop, idle_exit_s=idle_exit_s)


def _enlist(ctx: Context) -> None:
    ctx.store.appear()
    with ctx.store.write() as tx:
        processes.enlist(tx, ctx.clock.now(), __version__, ctx.store.lives, ctx.pools, ctx.api)


def _strike_off(ctx: Context) -> None:
    """Delete the row of this process: a row without its process tells others that the process died."""
    with contextlib.suppress(StoreError), ctx.store.write() as tx:
        tx.run("process_forget", owner=processes.process_owner())


async def _stop_when_drained(ctx: Context, stop: asyncio.Event, clocks: _Clocks) -> None:
    """Look whether this process has to end.

    Raises:
        Drained: A user asks for it.
        StoreError: The store has moved, or a newer pushjuju has changed it: this process has to end.
    """
    enlisted, told = False, ""
    while not stop.is_set():
        await asyncio.sleep(_DRAIN_LOOK_S)
        try:
            enlisted = _look(ctx, enlisted=enlisted)
            clocks.compare()
        except _FINAL:
            raise
        except StoreError:
            continue  # the driver tells of a busy store
        except Exception as bug:  # noqa: BLE001 - no bug ends a controller process
            if repr(bug) != told:  # once: it would come each second
                traceback.print_exception(bug)
            told = repr(bug)


def _look(ctx: Context, *, enlisted: bool) -> bool:
    """Do what others ask of this process; return True when it had a row in the store, now or earlier.

    The row of the process is made again when another process took this one for dead, while its connection to
    the store was lost.
    """
    with ctx.store.read() as tx:
        own = processes.own(tx)
        gone = processes.gone(tx, ctx.store.lives)
        ctx.controller.exchange(tx)
    _bury(ctx, gone)
    if own is not None and own.draining:
        raise Drained
    if own is None and enlisted:
        _enlist(ctx)
    return enlisted or own is not None


def _bury(ctx: Context, gone: Sequence[str]) -> None:
    """Delete the rows of processes that died, and tell of them; other processes go on with their work."""
    for owner in gone:
        with ctx.write("", whole=True) as tx:
            if tx.run("process_forget", owner=owner):
                name = ":".join(processes.place_of(owner))
                text = f"the controller process {name} died or lost the store; others do its work"
                notices.record(tx, notices.GONE, Subject("process", name), text)


async def _serve_until_idle(
    ctx: Context, stop: asyncio.Event, driver: Callable[[], Driver], _: Callable[[str], None] | None
) -> bool:
    """Hold the lock while there is work, and look for work once more after releasing the lock.

    A command that finds the lock held relies on this process, even if the process is about to end.
    """
    while not stop.is_set():
        with only_one(ctx.controller, tries=_TRIES) as free:
            if not free:
                return False
            _enlist(ctx)
            await _run(driver(), stop, idle_exit_s=LINGER_S)
        _strike_off(ctx)  # before the last look: a command that finds the row relies on this process
        if not Driver(ctx).anything_due():
            return True
    return True


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
