"""A controller without SSH: the real store, services, queue, lanes and cleaner, on machines that are played.

Nothing runs by itself: `step` lets one worker go on to its next wait, so a test decides what happens between
which two writes, and `crash` ends all workers wherever they are.
"""

from __future__ import annotations

import copy
import json
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType, coroutine
from typing import Any, Self

from pushjuju.core.errors import ConnectionLost, LeaseLost, StoreError, Unreachable
from pushjuju.core.firewall import MachineRules
from pushjuju.core.status import InstanceStatus
from pushjuju.plugins.api.firewalls import Firewall, GuardedMachine
from pushjuju.plugins.api.providers import Instance, Started, StartRequest
from pushjuju.plugins.api.targets import SSHTarget
from pushjuju.plugins.manager import PluginHost
from pushjuju.runner.remote.base import results
from pushjuju.runner.session import ExecResult
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import firewall
from pushjuju.store.leases import LeasedStore
from pushjuju.store.queue import Claim, SqliteWorkQueue
from pushjuju.store.rows.records import Machine
from pushjuju.store.rows.records import Operation as OperationRow
from pushjuju.workers.events import Event
from pushjuju.workers.loops.cleaner import clean
from pushjuju.workers.machine.machine_run import MachineRun
from pushjuju.workers.machine.machine_worker import MachineWorker
from pushjuju.workers.machine.running_operations import RunningOperations
from pushjuju.workers.outcome import Outcome
from pushjuju.workers.runtime import Runtime
from tests.world.controller import TestController
from tests.world.machine import hello, result

MOST_STEPS = 20_000  # of one drive to rest; more means that it goes round in circles


@coroutine
def pause() -> Iterator[None]:
    """Wait until the scheduler picks this worker again."""
    yield


def is_quiet(result: Mapping[str, Any]) -> bool:
    """Tell whether what follows a hook in a plan may begin, as the real machine does."""
    plain = {"events": [], **result}
    return results.is_quiet({"outcome": "ok", "reboot": "", "writes": {}, **plain}) and not plain.get("asked")


def left_out(frame: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer for an operation of a plan that is not begun."""
    return {"t": "result", "id": frame["id"], "outcome": "not-begun", "events": [], "code": "plan"}


Charm = Callable[["SteppedMachine", Mapping[str, Any]], Coroutine[Any, Any, dict[str, Any]]]


@dataclass
class SteppedMachine:
    """A machine: it runs an operation once and keeps its result until it is acknowledged.

    Attributes:
        number: Of the instance; machines of one id have other numbers.
        down: It does not answer.
        requests: What `juju-exec` asks for there, and has not begun.
        rules: Digest of the firewall rules in force.
    """

    number: int
    boot: int = 1
    down: bool = False
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    units: dict[str, str] = field(default_factory=dict)
    requests: dict[str, dict[str, Any]] = field(default_factory=dict)
    rules: str = ""

    @property
    def address(self) -> str:
        """Its one address."""
        return f"10.1.{self.number // 250}.{self.number % 250 + 1}"

    def hello(self) -> dict[str, Any]:
        """What it tells at each contact."""
        name, boot = f"box-{self.number}", f"boot-{self.boot}"
        return hello(name, boot, self.address, self.results, prefix=16, charms=list(self.units))


class SteppedSession:
    """A connection to a machine."""

    def __init__(self, fleet: SteppedController, box: SteppedMachine) -> None:
        self.fleet = fleet
        self.box = box
        self.hello = box.hello()
        self.requests = box.requests
        self.on_requests: Callable[[], None] = lambda: None

    async def run(
        self, frame: dict[str, Any], on_event: Any = None, on_live: Any = None, plan: Sequence[Any] = ()
    ) -> dict[str, Any]:
        """Run an operation: one wait before the machine does it, one before its answer is here.

        What follows it in a plan is done before anybody has heard of it.
        """
        await self._travel()
        known = self.box.results.get(frame["id"])
        if known is None and "after" in frame:
            known = left_out(frame)
        for order in (frame, *plan) if known is None else ():
            assert order["id"] not in self.box.seen, f"{order['id']} is acknowledged, and runs again"
            self.box.seen.add(order["id"])
            result = self.box.results[order["id"]] = await self._do(order, on_live)
            known = known or result
            if not is_quiet(result):
                break
        await self._travel()
        assert known is not None
        return known

    def forget(self, operation: str) -> None:
        """Let go of an operation of a plan; here nothing is kept for it."""

    async def look_again(self) -> None:
        """Hear what the machine says of itself now."""
        await self._travel()
        self.hello = self.box.hello()

    async def _travel(self) -> None:
        await pause()
        if self.box.down:
            raise ConnectionLost("the connection to the machine was lost")

    async def _do(self, frame: dict[str, Any], on_live: Any) -> dict[str, Any]:
        plain = result(frame)
        match frame["kind"]:
            case "hook":
                plain |= await self.fleet.charm(self.box, frame, on_live)
            case "commands" if "request" in frame:
                assert self.box.requests.pop(frame["request"])["unit"] == frame["unit"]
                plain |= self.fleet.task(self.box, frame)
            case "action" | "commands" | "exec":
                plain |= self.fleet.task(self.box, frame)
            case "deploy":
                self.box.units[frame["unit"]] = frame["url"]
            case "remove-unit":
                self.box.units.pop(frame["unit"], None)
                mine = [key for key, item in self.box.requests.items() if item["unit"] == frame["unit"]]
                for key in mine:
                    del self.box.requests[key]
            case "reboot":
                self.box.boot += 1
            case "rules":
                self.box.rules = frame["script"]
        return plain

    async def exec(self, *, script: str, timeout: float) -> ExecResult:  # noqa: ASYNC109
        """Take firewall rules: all that is ever sent here without being noted before."""
        assert timeout
        name = f"exec-{uuid.uuid4()}"
        await self.run({"id": name, "kind": "rules", "script": script})
        self.box.results.pop(name)
        return ExecResult(exit=0, signal=None, stdout="", stderr="")

    async def put_blob(self, sha256: str, path: Any, like: Any = None) -> None:
        """Take an archive."""
        assert path.is_file(), sha256
        await self._travel()

    async def ack(self, operation: str) -> None:
        """Forget the result of an operation; the controller has it."""
        if operation in self.box.results:
            self.fleet.committed(operation)
        self.box.results.pop(operation, None)

    def answer(self, request: str, error: str) -> None:
        """Answer a request of `juju-exec` with an error."""
        self.box.requests.pop(request, None)

    async def cancel(self, operation: str) -> None:
        """Interrupt an operation; here none goes on."""

    async def fetch(self, operation: str) -> None:
        """Wait for the result of an operation."""


class SteppedFirewall:
    """A firewall: the digest of its rules goes to the machine."""

    async def apply(self, machine: GuardedMachine, rules: MachineRules) -> None:
        """Bring them."""
        assert (await machine.run(rules.digest())).rc == 0

    async def clear(self, machine: GuardedMachine) -> None:
        """Take them away."""
        assert (await machine.run("")).rc == 0


class SteppedCloud:
    """The provider: machines that are there at once."""

    box_type = SteppedMachine

    def __init__(self) -> None:
        self.boxes: dict[str, SteppedMachine] = {}
        self.of: dict[str, str] = {}
        self.made = 0

    async def start(self, request: StartRequest) -> Started:
        """Make a machine; a second one of the same id takes the place of the first."""
        box = self.box_type(number=self.made)
        self.made += 1
        self.boxes.pop(self.of.get(request.machine_id, ""), None)
        self.of[request.machine_id] = name = f"i-{box.number}"
        self.boxes[name] = box
        await pause()
        return Started(instance=self._instance(name), base=request.base, nonce=request.nonce)

    def _instance(self, name: str) -> Instance:
        machine = next((machine for machine, mine in self.of.items() if mine == name), "")
        return Instance(id=name, status=InstanceStatus.RUNNING, message="Running", machine_id=machine)

    async def ssh_target(self, instance: Instance) -> SSHTarget:
        """Tell how a machine is reached."""
        return SSHTarget(host=self.boxes[instance.id].address)

    async def get(self, ids: Sequence[str]) -> list[Instance | None]:
        """Tell what became of machines."""
        return [self._instance(name) if name in self.boxes else None for name in ids]

    async def list(self) -> list[Instance]:
        """Return all machines."""
        return [self._instance(name) for name in self.boxes]

    async def stop(self, ids: Sequence[str]) -> None:
        """End machines."""
        for name in ids:
            self.boxes.pop(name, None)

    async def destroy_model(self) -> None:
        """End what belongs to the model as a whole."""
        assert not self.boxes


@cache
def plugins() -> PluginHost:
    """Return what is known of types of providers."""
    return PluginHost(environ={})


class SteppedRuntime:
    """What lanes share."""

    session_type: type[SteppedSession] = SteppedSession
    asked: Any = Runtime.asked  # what is left of a claim is told by the product itself
    generation: Any = Runtime.generation
    note_routine: Any = Runtime.note_routine

    def __init__(self, fleet: SteppedController, ctx: Context) -> None:
        self.fleet = fleet
        self.ctx = self.base_ctx = ctx
        self.leases = (0, 0)
        self._claim: Claim | None = None
        self.sessions: dict[str, SteppedSession] = {}

    def holding(self, claim: Claim) -> Self:
        """Return the same for whoever holds a claim."""
        held = copy.copy(self)
        held.ctx = replace(self.base_ctx, store=LeasedStore(self.base_ctx.store, claim))
        held.leases = (claim.lease, claim.previous)
        held._claim = claim
        return held

    def tell(self, event: Event) -> None:
        """Keep the story."""
        self.fleet.told.append(f"{event.entity}: {event.text}")

    warn = checkpoint = staticmethod(lambda text: None)

    host = property(lambda _: plugins())
    answered: Mapping[str, Any] = MappingProxyType({})

    @staticmethod
    async def within(_seconds: float, call: Awaitable[Any]) -> Any:
        """Wait for a cloud that always answers; nothing here has a clock that runs."""
        return await call

    @asynccontextmanager
    async def starts(self, machine: Any) -> Any:
        """No limit."""
        yield

    def features(self, kind: str) -> frozenset[str]:
        """Machines of the one cloud have no profiles of charms."""
        del kind
        return frozenset()

    def kind_of(self, machine: Any) -> str:
        """Return the type of the one cloud."""
        return self.cloud_type(machine.model)

    def provider(self, model: str, cloud: str | None = None) -> SteppedCloud:
        """Return the one provider of a model."""
        return self.fleet.cloud

    def provider_of(self, machine: Machine) -> SteppedCloud:
        """The same."""
        return self.fleet.cloud

    def cloud_type(self, model: str) -> str:
        """Return a type that is not `manual`."""
        return "local"

    def firewall(self, machine: Machine) -> Firewall | None:
        """Return the one firewall."""
        return SteppedFirewall() if self.fleet.guarded else None

    async def session(self, machine: Machine) -> SteppedSession:
        """Return the connection to a machine."""
        box = self.fleet.cloud.boxes.get(machine.instance_id)
        if box is None or box.down:
            raise Unreachable("the machine does not answer")
        found = self.sessions.get(machine.instance_id)
        if found is None or found.box is not box or found.hello["boot_id"] != box.hello()["boot_id"]:
            found = self.sessions[machine.instance_id] = self.session_type(self.fleet, box)
        return found

    def attached(self, machine: Machine) -> SteppedSession | None:
        """Return the connection to a machine, if there is one."""
        return self.sessions.get(machine.instance_id)

    def is_attached(self, machine: Machine) -> bool:
        """Tell whether there is a connection, and the machine still answers."""
        found = self.sessions.get(machine.instance_id)
        box = self.fleet.cloud.boxes.get(machine.instance_id)
        return found is not None and found.box is box and not found.box.down

    async def drop(self, machine: Machine) -> None:
        """Close a connection."""
        self.sessions.pop(machine.instance_id, None)


class SteppedOperations(RunningOperations):
    """Operations under way at once: in this machine's turn the oldest goes on to its next wait."""

    def __init__(self) -> None:
        self._open: dict[str, Coroutine[Any, Any, None]] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._open

    def __bool__(self) -> bool:
        return bool(self._open)

    def __iter__(self) -> Iterator[str]:
        return iter(self._open)

    def start(self, key: str, work: Coroutine[Any, Any, None]) -> None:
        """Let an operation begin."""
        self._open[key] = work

    async def some_end(self) -> None:
        """Let one go on, and the next one the next time."""
        key, work = next(iter(self._open.items()))
        del self._open[key]
        try:
            work.send(None)
        except StopIteration:
            return
        self._open[key] = work
        await pause()

    async def close(self) -> None:
        """Let go of all."""
        for work in self._open.values():
            work.close()
        self._open = {}


class SteppedRun(MachineRun):
    """A visit whose waits are ours."""

    crew_type = SteppedOperations

    async def _run(self, dispatch: Any, plan: Sequence[Any] = ()) -> dict[str, Any]:
        behind = [item.frame for item in plan]
        return await self.session.run(dispatch.frame, None, self._answering(dispatch.unit), behind)


class SteppedWorker(MachineWorker):
    """A lane whose waits are ours."""

    visit_type = SteppedRun


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
            with runtime.ctx.store.write() as tx:
                firewall.wake(tx, model, runtime.ctx.clock.now(), claim.reason)
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
            failed=outcome.failed,
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

    async def charm(self, box: SteppedMachine, frame: dict[str, Any], on_live: Any) -> dict[str, Any]:
        """Run a hook; returns what is not ordinary in its result."""
        raise NotImplementedError

    def task(self, box: SteppedMachine, frame: dict[str, Any]) -> dict[str, Any]:
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
        connection = self.ctx.store._connection
        found = {}
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            every = [tuple(row) for row in connection.execute(f"SELECT * FROM {table}")]
            mine = [row for row in every if model in json.dumps([str(cell) for cell in row])]
            if mine:
                found[table] = sorted(mine, key=str)
        return found
