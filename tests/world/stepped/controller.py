"""A controller whose processes go on when a test says so."""

from __future__ import annotations

import json
from collections.abc import Coroutine, Sequence
from typing import Any

from pushjuju.core.errors import LeaseLost, StoreError
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import firewall
from pushjuju.store.queue import Claim, SqliteWorkQueue
from pushjuju.store.rows.records import Operation as OperationRow
from pushjuju.workers.loops.cleaner import clean
from pushjuju.workers.outcome import Outcome
from tests.world.controller import TestController
from tests.world.stepped.cloud import SteppedCloud
from tests.world.stepped.machine import SteppedMachine
from tests.world.stepped.runtime import SteppedRuntime, SteppedWorker

MOST_STEPS = 20_000  # of one drive to rest; more means that it goes round in circles


class SteppedProcess:
    """One controller process; its workers go on when told."""

    runtime_type: type[SteppedRuntime] = SteppedRuntime

    def __init__(self, fleet: SteppedController, name: str, ctx: Context) -> None:
        self.fleet = fleet
        self.name = name
        self.ctx = ctx
        self.runtime = self.runtime_type(fleet, ctx)
        self.queue = SqliteWorkQueue(ctx.store, name, alive=fleet.is_alive)
        self.workers: dict[str, tuple[Claim, Coroutine[Any, Any, Outcome]]] = {}

    def step(self, pick: int = 0) -> bool:
        """Let one worker go on to its next wait; False: there is nothing to do now."""
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
        """Hear that the store could not be used."""
        raise error

    async def _work(self, claim: Claim) -> Outcome:
        model, kind, name = claim.key.split("/", 2)
        runtime: Any = self.runtime.holding(claim)
        if kind == "machine":
            return await SteppedWorker(runtime, model, name, claim.attempts).work()
        if name == "firewall":  # at once: nothing here has a clock that runs
            with runtime.ctx.write(model) as tx:
                firewall.wake(tx, claim.reason)
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
        """End all workers wherever they are."""
        for _, work in self.workers.values():
            work.close()
        self.workers = {}


class SteppedController(TestController):
    """A controller with one model; workers go on when told."""

    guarded = True  # by a firewall

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
        """Tell whether a controller process lives."""
        return owner == self.main.name

    @property
    def runtime(self) -> SteppedRuntime:
        """What the controller's lanes share."""
        return self.main.runtime

    @property
    def queue(self) -> SqliteWorkQueue:
        """The queue as the controller sees it."""
        return self.main.queue

    # --- what a test says how it goes ---------------------------------------------------------------------

    async def charm(self, played: SteppedMachine, frame: dict[str, Any], on_live: Any) -> dict[str, Any]:
        """Run a hook; returns what is not ordinary in its result."""
        raise NotImplementedError

    def task(self, played: SteppedMachine, frame: dict[str, Any]) -> dict[str, Any]:
        """Run an action or commands; returns what is not ordinary in the result."""
        raise NotImplementedError

    def committed(self, operation: str) -> None:
        """Hear that the controller has the result of an operation."""

    def operation(self, name: str) -> OperationRow | None:
        """Return the row of an operation."""
        found: OperationRow | None = self.read(lambda tx: tx.find(OperationRow, "operation_get", id=name))
        return found

    # --- working ------------------------------------------------------------------------------------------

    def step(self, pick: int = 0) -> bool:
        """Let one worker go on to its next wait; False: there is nothing to do now."""
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
        """End the controller's process, and start another one."""
        self.main.die()
        self.main = self._begin()

    # --- looking ------------------------------------------------------------------------------------------

    def rows(self, model: str) -> dict[str, list[tuple[Any, ...]]]:
        """Return what the tables hold of a model; tables without anything are left out."""
        found = {}
        for table, rows in self.tables().items():
            cells = [tuple(row.values()) for row in rows]
            mine = [row for row in cells if model in json.dumps([str(cell) for cell in row])]
            if mine:
                found[table] = sorted(mine, key=str)
        return found
