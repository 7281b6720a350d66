"""A controller whose processes run only when a test calls `step`."""

from __future__ import annotations

import json
from collections.abc import Coroutine, Sequence
from typing import Any

from pushjuju.core.errors import LeaseLost, StoreError
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import firewall
from pushjuju.store.queue import Claim, WorkQueue
from pushjuju.store.rows.records import Operation as OperationRow
from pushjuju.workers.loops.cleaner import clean
from pushjuju.workers.outcome import Outcome
from tests.world.controller import TestController
from tests.world.stepped.cloud import SteppedCloud
from tests.world.stepped.machine import SteppedMachine
from tests.world.stepped.runtime import SteppedRuntime, SteppedWorker

MOST_STEPS = 20_000  # steps to rest; more steps mean an endless loop


class SteppedProcess:
    """A controller process whose workers run only in `step`."""

    runtime_type: type[SteppedRuntime] = SteppedRuntime

    def __init__(self, fleet: SteppedController, name: str, ctx: Context) -> None:
        self.fleet = fleet
        self.name = name
        self.ctx = ctx
        self.runtime = self.runtime_type(fleet, ctx)
        self.queue = WorkQueue(ctx.store, name, lives=fleet.is_alive)
        self.workers: dict[str, tuple[Claim, Coroutine[Any, Any, Outcome]]] = {}

    def step(self, pick: int = 0) -> bool:
        """Run one worker to its next wait; return False when there is nothing to do."""
        while (claim := self.queue.claim(self.fleet.model, self.ctx.clock.now(), self.workers)) is not None:
            self.workers[claim.key] = (claim, self._work(claim))
        if not self.workers:
            return False
        key = sorted(self.workers)[pick % len(self.workers)]
        claim, work = self.workers[key]
        try:
            work.send(None)
        except StopIteration as ended:
            self._finish(claim, ended.value)
        except LeaseLost as lost:
            self._finish(claim, Outcome(reason=lost.message))
        except StoreError as error:
            self._broke(claim, error)
        return True

    def _broke(self, claim: Claim, error: StoreError) -> None:
        """Handle an error of the store."""
        raise error

    async def _work(self, claim: Claim) -> Outcome:
        model, kind, name = claim.key.split("/", 2)
        runtime: Any = self.runtime.holding(claim)
        if kind == "machine":
            return await SteppedWorker(runtime, model, name, claim.attempts).work()
        if name.startswith("firewall"):  # without a delay, because the clock stands still
            with runtime.ctx.write(model) as tx:
                firewall.wake(tx, name.partition("/")[2], claim.reason)
            return Outcome()
        return await clean(runtime, model)

    def _finish(self, claim: Claim, outcome: Outcome) -> None:
        del self.workers[claim.key]
        self.queue.finish(
            claim,
            self.ctx.clock.now(),
            outcome.due,
            attempts=outcome.attempts,
            reason=outcome.reason,
            problems=outcome.problems,
        )

    def die(self) -> None:
        """End all workers at their current wait."""
        for _, work in self.workers.values():
            work.close()
        self.workers = {}


class SteppedController(TestController):
    """A controller with one model, whose workers run only in `step`."""

    guarded = True  # whether machines have a firewall

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.cloud = SteppedCloud()
        self.told: list[str] = []
        self.lives = 0
        self.steps = 0
        self.main = self._begin()

    def _begin(self) -> SteppedProcess:
        """Start a controller process."""
        self.lives += 1
        return SteppedProcess(self, f"worker-{self.lives}", self.ctx)

    def is_alive(self, owner: str) -> bool:
        """Return True when a controller process lives."""
        return owner == self.main.name

    @property
    def runtime(self) -> SteppedRuntime:
        """What the machine workers of the controller share."""
        return self.main.runtime

    @property
    def queue(self) -> WorkQueue:
        """The queue in the controller's store."""
        return self.main.queue

    # --- what a test overrides ----------------------------------------------------------------------------

    async def charm(self, played: SteppedMachine, frame: dict[str, Any], on_live: Any) -> dict[str, Any]:
        """Run a hook; return the parts of its result that differ from a plain success."""
        raise NotImplementedError

    def task(self, played: SteppedMachine, frame: dict[str, Any]) -> dict[str, Any]:
        """Run an action or commands; return the parts of the result that differ from a plain success."""
        raise NotImplementedError

    def committed(self, operation: str) -> None:
        """Called when the controller has committed the result of an operation."""

    def operation(self, name: str) -> OperationRow | None:
        found: OperationRow | None = self.read(lambda tx: tx.find(OperationRow, "operation_get", id=name))
        return found

    # --- working ------------------------------------------------------------------------------------------

    def step(self, pick: int = 0) -> bool:
        """Run one worker to its next wait; return False when there is nothing to do."""
        went_on = self.main.step(pick)
        self.steps += went_on
        return went_on

    def rest(self, picks: Sequence[int] = (0,)) -> None:
        """Work until nothing is due."""
        for count in range(MOST_STEPS):
            if not self.step(picks[count % len(picks)]):
                return
        raise AssertionError(f"never at rest: {self.told[-30:]}")

    def crash(self) -> None:
        """End the controller process, and start another."""
        self.main.die()
        self.main = self._begin()

    # --- looking ------------------------------------------------------------------------------------------

    def rows(self, model: str) -> dict[str, list[tuple[Any, ...]]]:
        """Return table -> rows of a model, without empty tables and the audit log, which outlives models."""
        found = {}
        for table, rows in self.tables().items():
            if table == "audit":
                continue
            cells = [tuple(row.values()) for row in rows]
            mine = [row for row in cells if model in json.dumps([str(cell) for cell in row])]
            if mine:
                found[table] = sorted(mine, key=str)
        return found
