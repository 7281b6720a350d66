"""Claims keys of the work queue, does their work and gives them back, until stopped or nothing is due."""

from __future__ import annotations

import asyncio
import contextlib
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pushjuju.core.errors import (
    LeaseLost,
    PushjujuError,
    StoreAway,
    StoreDamaged,
    StoreError,
    StoreGone,
    StoreTooNew,
)
from pushjuju.core.problems import Problem, Subject
from pushjuju.core.values import dataclass
from pushjuju.services.entities.basis import notices
from pushjuju.services.entities.basis.clock_jumps import after_jump
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.secret.secrets import LOOP
from pushjuju.services.lifecycle.forced_ends import any_ahead
from pushjuju.services.requests.relation.cross_model import connected
from pushjuju.store.files.waits import Patience
from pushjuju.store.processes import CAUSE, TRACE, process_owner
from pushjuju.store.queue import Claim, WorkQueue, failed_since, next_lease
from pushjuju.store.rows.records import Status
from pushjuju.workers.events import ModelNames, Tell, silent
from pushjuju.workers.heartbeat import Heartbeat
from pushjuju.workers.loops import charm_updater, notifier, poller, secret_rotation
from pushjuju.workers.loops.cleaner import clean
from pushjuju.workers.loops.following import Follower
from pushjuju.workers.machine import firewaller, storage_worker
from pushjuju.workers.machine.machine_worker import MachineWorker
from pushjuju.workers.outcome import Outcome, Returns, problems_of
from pushjuju.workers.runtime import Runtime, no_checkpoint

if TYPE_CHECKING:
    from pushjuju.workers.counts import Counts

POLL_S = 0.05  # seconds between looks at the queue while this process works on keys
IDLE_POLL_S = 0.5  # seconds between looks while nothing is due
STORE_POLL_S = 0.5  # seconds between attempts while the store is busy, full or away (`store.absence`)
AWAY_S = 60.0  # seconds that a process that ends when it is idle waits for a store that cannot be used
AFTER_BUG_S = 60.0  # seconds that a key waits after an internal error
CHARMS = "charms"  # name of the loop that looks for newer charms
PATIENCE_S = 5.0  # seconds to wait for update-status hooks when all requested work is done


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """The state of the model when nothing is due any more."""

    problems: tuple[Problem, ...] = ()
    left: bool = False  # True when an update-status hook still runs, which another process must continue
    elsewhere: tuple[Problem, ...] = ()  # problems of the models that are related to the driver's model


class Driver:
    """Works on all keys below a prefix: a model's UUID, or "" for the whole controller.

    `checkpoint` is called with the name of each step between two writes; tests stop the process there.
    `settle` reports the failures of all work that any process claimed from the claim number `since` on; with
    None, from now on.
    """

    def __init__(
        self,
        ctx: Context,
        prefix: str = "",
        *,
        tell: Tell = silent,
        warn: Callable[[str], None] | None = None,
        checkpoint: Callable[[str], None] = no_checkpoint,
        watched: bool = False,
        since: int | None = None,
    ) -> None:
        ctx.store.remember()
        ctx.store.appear()
        self.ctx = ctx
        self._since = self._from_now() if since is None else since
        self.prefix = prefix
        self._prefixes: tuple[str, ...] = (prefix,)
        self._names = ModelNames(ctx, prefix)
        self.tell: Tell = lambda event: tell(self._names.named(event))
        self.runtime = Runtime(ctx, self.tell, warn, checkpoint, watched=watched)
        own = ctx.pools if ctx.store.engine.locks_models else None
        self.queue = WorkQueue(ctx.store, process_owner(), pools=own)
        self._returns = Returns(self.queue, ctx.clock, ctx.store.group().lost)
        self.counts: Counts | None = None
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._left: dict[str, int] = {}  # key -> generation, of keys left with only update-status due
        self._ended = asyncio.Event()  # set when a task has ended since the last claims
        self._broken: BaseException | None = None
        self._serving = False
        self._away = ""  # why the store could not be used at the last look
        self._checked = False  # True when this process has found the store sound and its keys complete
        self._latest: datetime | None = None  # time of the last reading of the clock

    async def settle(self, until: Callable[[], bool] = lambda: True, *, routine: bool = False) -> Settled:
        """Work until nothing is due now, here or in another process; then return what failed.

        An update-status hook that is due is started, but `settle` does not wait for its end: a hook may take
        long. An update-status that becomes due meanwhile is left to the next process, so that a short
        interval cannot keep a command from ending.

        Args:
            until: Called when nothing is due; when it returns False, go on with what becomes due later.
            routine: True when the user requested update-status: wait for it as for other work.
        """
        self._check_keys()
        begun = self.runtime.routine_until = self._now()
        self._prefixes = self._related()
        elsewhere = Follower(self.ctx, self.tell, process_owner(), self._prefixes)
        patience = Patience(self.ctx.store.path)
        try:
            calm: float | None = None  # time since which all requested work is done
            worked = time.monotonic()
            while True:
                try:
                    begun = min(begun, self._now())  # the clock may have been set back
                    if self._broken or self._anything_asked(begun, routine=routine):
                        calm = None
                    elif not until():
                        calm = self.runtime.routine_until = None
                    else:
                        calm = time.monotonic() if calm is None else calm
                        busy = bool(self._tasks) or self._anything_free(begun)
                        if not busy or time.monotonic() - calm > PATIENCE_S:
                            elsewhere.catch_up()
                            return replace(self._summary(), left=busy)
                    self._claim_all()
                    elsewhere.look(self._prefixes, self._tasks)
                    patience.end()
                except StoreAway as error:
                    patience.wait(error)
                worked = time.monotonic() if self._tasks else worked
                # While others work, a look each tenth of the wait is soon enough, and leaves them the store.
                await self._wait(min(max(POLL_S, (time.monotonic() - worked) / 10), IDLE_POLL_S))
        finally:
            await self._end()

    async def run(self, stop: asyncio.Event, *, idle_exit_s: float | None = None) -> None:
        """Work until stopped, or until nothing was due for some seconds.

        Args:
            stop: When set, finish the running operations and return.
            idle_exit_s: Return after so many seconds without work; None means never.
        """
        self._serving = self.runtime.serves = True
        try:
            await self._serve(stop, idle_exit_s)
        finally:
            await self._end()

    def wake(self) -> None:
        """Look at the queue now: another process has made work due."""
        self._ended.set()

    async def _serve(self, stop: asyncio.Event, idle_exit_s: float | None) -> None:
        worked = time.monotonic()
        while not stop.is_set():
            if not self._claim_if_usable():
                if idle_exit_s is not None and time.monotonic() - worked > idle_exit_s + AWAY_S:
                    return  # the next command starts another background process
                await self._wait(STORE_POLL_S)
                continue
            worked = time.monotonic() if self._tasks else worked
            rests = idle_exit_s is not None and time.monotonic() - worked > idle_exit_s
            if rests and not self._work_ahead():
                return
            await self._wait(POLL_S if self._tasks else IDLE_POLL_S)

    def _now(self) -> datetime:
        """Return the present time; when the clock was set back, correct due times first."""
        now, latest = self.ctx.clock.now(), self._latest
        if latest is None or now < latest:
            after_jump(self.ctx, latest)
        self._latest = now
        return now

    def _from_now(self) -> int:
        with self.ctx.store.read() as tx:
            return next_lease(tx)

    def _related(self) -> tuple[str, ...]:
        """Return the models to work: the driver's model, and those related to its applications."""
        if not self.prefix:
            return ("",)
        with self.ctx.read(self.prefix) as tx:
            return (self.prefix, *connected(tx))

    def _check_keys(self) -> None:
        """Check that the keys that encrypt secrets exist, before the work on any key."""
        with self.ctx.store.read() as tx:
            self.ctx.controller.keyring.check(tx)

    # --- claims -------------------------------------------------------------------------------------------

    def _claim_if_usable(self) -> bool:
        """Claim what is due; return False while the store is busy or its disk is full."""
        try:
            if not self._checked:
                self.ctx.store.check()
                self._check_keys()
                self._checked = True
            self._claim_all()
        except (StoreDamaged, StoreGone, StoreTooNew):
            raise
        except StoreError as error:
            if str(error) != self._away:  # not each few seconds while a server is away
                self.runtime.warn(error.full_text)
            self._away = str(error)
            return False
        if self._away:
            self.runtime.warn("the store can be used again")
        self._away = ""
        return True

    def _claim_all(self) -> None:
        self._ended.clear()
        self.ctx.require()
        self._returns.again(self._tasks, self.ctx.store.group().lost)
        if self._broken is not None:
            raise self._broken
        now = self._now()
        for prefix in self._prefixes:
            free = self.ctx.at_once - len(self._tasks)
            if free <= 0:
                break
            left = self._left if self.runtime.routine_until else {}
            for claim in self.queue.claim_some(prefix, now, free, busy=self._tasks, left=left, later=True):
                if self.counts is not None:
                    self.counts.claimed(claim, now)
                task = asyncio.create_task(self._work(claim), name=claim.key)
                self._tasks[claim.key] = task
                task.add_done_callback(self._finished)
        self._returns.claiming = False

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.pop(task.get_name(), None)
        if self.counts is not None:
            self.counts.held -= 1
        self._ended.set()
        bug = None if task.cancelled() else task.exception()
        if bug is None:
            return
        if self._serving and isinstance(bug, PushjujuError):
            self.runtime.warn(str(bug))
        elif self._serving:
            traceback.print_exception(bug)  # one broken worker does not end a controller process
        else:
            self._broken = self._broken or bug

    async def _work(self, claim: Claim) -> None:
        TRACE.set(claim.trace)  # in this task: what the work makes due was asked for by the same span, if any
        CAUSE.set(claim.cause)  # so that operations and further work name the request that they follow
        heartbeat = Heartbeat(self.ctx, self.queue, claim)
        outcome = Outcome(due=self.ctx.clock.now(), attempts=claim.attempts, reason="interrupted")
        try:
            outcome = await self._dispatch(claim)
        except LeaseLost as lost:
            if self.counts is not None:
                self.counts.lost += 1
            outcome = Outcome(reason=lost.message)  # another process works on the key now
        except StoreAway:
            pass  # the claims report it; the key is due again when the store is back
        except Exception as bug:
            again = self.ctx.clock.now() + timedelta(seconds=AFTER_BUG_S)
            failure = Problem(f"internal error: {bug!r}")
            outcome = Outcome(due=again, attempts=claim.attempts + 1, problems=(failure,))
            raise
        finally:
            self._left.pop(claim.key, None)
            if outcome.routine:
                self._left[claim.key] = claim.generation
            try:
                await heartbeat.end()
            finally:  # also when the wait is cancelled: the key must not stay claimed
                self._returns.finish(claim, outcome)
            with contextlib.suppress(StoreAway):  # a count of less
                self._count(claim.key, outcome)

    def _count(self, key: str, outcome: Outcome) -> None:
        """Record and count the contacts with the machine of a key."""
        model, _, machine = key.split("/", 2)
        if self.counts is not None:
            self.counts.note(outcome)
        for contact in outcome.contacts:
            with self.ctx.store.write(model, later=True) as tx:
                contact.record(self.ctx.of(tx, model), machine)

    async def _dispatch(self, claim: Claim) -> Outcome:
        model, kind, name = claim.key.split("/", 2)
        if model != self.prefix:
            self._names.of(model)  # before a provider reports from a thread of its own
        if kind == "machine":
            return await MachineWorker(self.runtime.holding(claim), model, name, claim.attempts).work()
        if name == LOOP:
            return await secret_rotation.look_after(self.runtime.holding(claim), model, claim.attempts)
        if name == CHARMS:
            return await charm_updater.look_for_newer(self.runtime.holding(claim), model)
        if name == "storage":
            return await storage_worker.tend(self.runtime.holding(claim), model)
        if name == notices.LOOP:
            return await notifier.deliver(self.runtime.holding(claim), model)
        if name.partition("/")[0] == "firewall":
            application = name.partition("/")[2]
            return await firewaller.wake(self.runtime.holding(claim), model, application, claim.reason)
        if name == "poller":
            return await poller.poll(self.runtime.holding(claim), model, claim.attempts)
        return await clean(self.runtime.holding(claim), model, claim.attempts)

    def anything_due(self) -> bool:
        """Return True when a key is due, here or in another process."""
        now = self.ctx.clock.now()
        return any(self.queue.anything_due(prefix, now) for prefix in self._prefixes)

    def _anything_asked(self, since: datetime, *, routine: bool = False) -> bool:
        """Return True when a key is due for more than an update-status; see `anything_asked` of the queue."""
        now = self._now()
        return any(
            self.queue.anything_asked(prefix, now, since, self._left, routine=routine)
            for prefix in self._prefixes
        )

    def _anything_free(self, at: datetime) -> bool:
        """Return True when a key was due at a time and no process works on the key."""
        return any(self.queue.anything_free(prefix, at, self._tasks, self._left) for prefix in self._prefixes)

    def _work_ahead(self) -> bool:
        """Return True when work is due, or a removal will be forced later, or the store cannot be asked."""
        try:
            return self.anything_due() or any_ahead(self.ctx)
        except StoreAway:
            return True

    async def _wait(self, seconds: float) -> None:
        """Wait until a task has ended, for some seconds at most."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._ended.wait()

    async def _end(self) -> None:
        """Cancel all work: running hooks continue on their machines, and a later process commits them."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.runtime.close()
        with contextlib.suppress(StoreError):  # not written: the leases will expire
            self.ctx.store.group().flush()

    # --- the end ------------------------------------------------------------------------------------------

    def _summary(self) -> Settled:
        problems: dict[str, list[Problem]] = {model: [] for model in self._prefixes}
        with self.ctx.store.read() as tx:
            for prefix in self._prefixes:
                for key, failed in failed_since(tx, prefix, self._since).items():
                    problems.setdefault(key.partition("/")[0], []).extend(problems_of(key, failed))
            for model, found in problems.items():
                errors = tx.list(Status, "units_in_error", model=model)
                found += [Problem.of(Subject("unit", item.entity), item.message) for item in errors]
        return Settled(
            problems=tuple(item for model in problems if self._is_ours(model) for item in problems[model]),
            elsewhere=tuple(
                item for model in problems if not self._is_ours(model) for item in problems[model]
            ),
        )

    def _is_ours(self, model: str) -> bool:
        """Return True for the driver's model; a driver without prefix works on all models."""
        return self.prefix in ("", model)
