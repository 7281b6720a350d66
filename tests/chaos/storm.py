"""Faults on a played fleet: machines with a life of their own, controller processes that die, freeze and lag.

Every wait, every named checkpoint and every write to the store is a *moment* (`Storm.strike`); a plan says
what happens at which of them. A process that freezes stands still in the middle of its own code while others
go on, so it wakes up with everything that it believed.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections import Counter
from collections.abc import Coroutine, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

from pushjuju.core.clock import Clock
from pushjuju.core.errors import ConnectionLost, Overtaken, StoreError
from pushjuju.plugins.api.providers import Started
from pushjuju.runner.remote.base.results import KNOWN
from pushjuju.services.entities.basis.context import Context
from pushjuju.store.db import Store
from pushjuju.store.queue import HEARTBEAT_S, LEASE_S, Claim
from pushjuju.store.rows.records import Machine
from pushjuju.store.tx import Tx
from pushjuju.workers.driver import AFTER_BUG_S
from pushjuju.workers.machine.machine_worker import Outcome
from tests.world.machine import result
from tests.world.stepped.cloud import SteppedCloud
from tests.world.stepped.controller import SteppedProcess
from tests.world.stepped.machine import SteppedMachine, SteppedSession, is_quiet, left_out, pause
from tests.world.stepped.random_model import RandomModel
from tests.world.stepped.runtime import SteppedRuntime

PACKAGE = Path(__file__).parents[2] / "pushjuju"
WAITS = ("connect", "cloud", "push", "send", "begun", "live", "answer", "result", "ack", "write", "wrote")
# Checkpoints of commands, which no lane passes; of firewalls, which these machines have not; of machines that
# stay off until somebody starts them, where these come back by themselves.
ELSEWHERE = ("enlisted", "firewall-applied", "firewall-cleared", "machine-resumed")
FAULTS = (
    *("kill", "kill", "freeze", "freeze", "cut", "silence", "reboot", "off", "runner"),
    *("full", "store", "clock", "box-clock", "join"),
)
MOST_PROCESSES = 4
MOST_BEATS = 6  # times that a frozen process lets others go on
STEP_S = 0.2
QUIET = ("install", "config-changed")  # they write nothing: what is planned behind them may begin at once


@cache
def checkpoints() -> tuple[str, ...]:
    """Return the name of every step at which the product may be told to die, read from its source."""
    text = "\n".join(path.read_text() for path in sorted(PACKAGE.rglob("*.py")))
    return tuple(sorted(set(re.findall(r'\bcheckpoint\("([a-z-]+)"\)', text))))


@cache
def moments() -> tuple[str, ...]:
    """Return every moment at which a fault may strike a lane."""
    return (*WAITS, *(f"at {name}" for name in checkpoints() if name not in ELSEWHERE))


class Killed(BaseException):
    """SIGKILL, as far as the store and the machines can see it."""


class HookBroke(Exception):
    """A hook tool failed, and the hook with it."""


@dataclass(eq=False)
class Fault:
    """What happens at a moment, or at any (`*`), after `count` earlier ones."""

    what: str
    moment: str
    count: int


# --- machines ---------------------------------------------------------------------------------------------


class Job:
    """An operation under way on a machine."""

    def __init__(self, played: Rig, frame: dict[str, Any]) -> None:
        self.frame = frame
        self.lock = frame.get("lock", "machine")
        self.call: dict[str, Any] | None = None
        self.answer: Any = None
        self._machine = played
        self._work: Coroutine[Any, Any, dict[str, Any]] | None = None  # it has not begun

    def go_on(self) -> None:
        """Go on to the next wait.

        Raises:
            StopIteration: It has ended, with this result.
        """
        if self._work is None:
            self._work = self._machine.perform(self)
        self._work.send(None)

    def end(self) -> None:
        """Be killed."""
        if self._work is not None:
            self._work.close()

    async def live(self, call: dict[str, Any]) -> Any:
        """Ask the controller, and wait for whoever answers."""
        self.call, self.answer = call, None
        while self.answer is None:
            await pause()
        self.call = None
        if self.answer[0]:
            raise HookBroke(self.answer)
        return self.answer


@dataclass
class Rig(SteppedMachine):
    """A machine that works on while nobody looks: a journal, a disk, a clock, processes that can be killed.

    Attributes:
        jobs: What runs, oldest first.
        full: How many operations its disk refuses.
        lease: The latest that it heard of.
        wakes: The step at which it answers again.
        reboots: Whether it was off meanwhile.
        started: Operation -> how often it was started.
    """

    town: Any = None
    jobs: dict[str, Job] = field(default_factory=dict)
    followers: dict[str, dict[str, Any]] = field(default_factory=dict)
    full: int = 0
    lease: int = 0
    skew: float = 0.0
    wakes: int = 0
    reboots: bool = False
    started: Counter[str] = field(default_factory=Counter)

    def hello(self) -> dict[str, Any]:
        """What it tells at each contact."""
        known = [{"id": key, "done": True} for key in self.results]
        running = [{"id": key, "done": False} for key in (*self.jobs, *self.waiting())]
        return {**super().hello(), "journal": known + running, "units": list(self.units)}

    def take(self, frame: dict[str, Any], lease: int) -> dict[str, Any] | None:
        """Begin an operation, unless its id is known.

        Returns:
            The refusal of a full disk, of which nothing is kept; else None.

        Raises:
            Overtaken: A later lease was heard of.
        """
        if frame["id"] in self.seen:
            return None
        if lease < self.lease:
            raise Overtaken("the machine works for another controller process now", self.lease)
        self.lease = lease
        if self.full:
            self.full -= 1
            refused = {"outcome": "error", "errno": 28, "message": "[Errno 28] No space left on device"}
            return {"t": "result", "id": frame["id"], **refused}
        self.seen.add(frame["id"])
        self.jobs[frame["id"]] = Job(self, frame)
        return None

    def follow(self, frame: dict[str, Any], lease: int) -> bool:
        """Let an operation wait until the one before it has ended well; False when that is not under way."""
        if frame["id"] in self.seen or lease < self.lease:
            return True
        before = frame["after"]
        if before in self.jobs or any(item["id"] == before for item in self.followers.values()):
            self.followers[before] = frame
            return True
        return False

    def _go_on_with_plan(self, before: str, result: dict[str, Any]) -> None:
        """Begin what follows an operation, or forget all of it."""
        frame = self.followers.pop(before, None)
        if frame is None:
            return
        if is_quiet(result):
            self.seen.add(frame["id"])
            self.jobs = {frame["id"]: Job(self, frame), **self.jobs}
            return
        self.leave_out(frame["id"])

    def leave_out(self, operation: str) -> None:
        """Forget what was to follow an operation, and that operation if it has not begun."""
        for before, frame in list(self.followers.items()):
            if frame["id"] == operation:
                del self.followers[before]
        while (frame := self.followers.pop(operation, None)) is not None:
            operation = frame["id"]

    def waiting(self) -> list[str]:
        """Return the operations of plans that have not begun."""
        return [str(frame["id"]) for frame in self.followers.values()]

    def answer(self, operation: str) -> dict[str, Any] | None:
        """Return the result of an operation as far as there is one."""
        found = self.results.get(operation)
        if found is None:
            done = operation in self.seen and operation not in self.jobs
            known = {"t": "result", "id": operation, "outcome": "error", "code": KNOWN, "events": []}
            return known if done else None
        return dict(found)

    async def perform(self, job: Job) -> dict[str, Any]:
        """Do what a frame asks, as `Session` does, but on its own."""
        frame = job.frame
        self.started[frame["id"]] += 1
        plain = result(frame)
        await pause()
        match frame["kind"]:
            case "hook":
                plain |= await self.town.charm(self, frame, job.live)
            case "action" | "commands" | "exec":
                plain |= self.town.task(self, frame)
            case "deploy":
                self.units[frame["unit"]] = frame["url"]
            case "remove-unit":
                self.units.pop(frame["unit"], None)
        for event in plain["events"]:
            event["e"]["time"] = self.town.clock.now().timestamp() + self.skew
        return plain

    def go_on(self) -> bool:
        """Let what runs go on to its next wait; operations that share a lock follow one another."""
        held: set[str] = set()
        for name, job in list(self.jobs.items()):
            if job.lock and job.lock in held:
                continue
            held.add(job.lock)
            try:
                job.go_on()
            except StopIteration as ended:
                del self.jobs[name]
                self.results[name] = ended.value
                self._go_on_with_plan(name, ended.value)
                if job.frame["kind"] == "reboot":
                    self.restart()
        return bool(self.jobs)

    def kill_runner(self, outcome: str = "terminated") -> None:
        """End everything of ours; what was under way is told as cut off."""
        for name, job in self.jobs.items():
            job.end()
            cut = {"outcome": outcome, "exit": None, "recovered": True, "writes": {}, "events": []}
            self.results[name] = {"t": "result", "id": name, "message": "", **cut}
            # A hook fails also when it had not begun, and `resolved --no-retry` may skip it.
            kind = job.frame["kind"]
            if kind == "hook" or (kind in ("action", "commands") and self.started[name]):
                self.town.witness.sent(job.frame, self.results[name])
        self.jobs, self.followers = {}, {}

    def restart(self) -> None:
        """Boot."""
        self.kill_runner()
        self.boot += 1

    def leave(self, steps: int, *, reboots: bool) -> None:
        """Stop answering for a while."""
        self.down, self.wakes, self.reboots = True, self.town.steps + steps, reboots
        if reboots:
            self.kill_runner()

    def come_back(self) -> None:
        """Answer again."""
        if self.down and self.reboots:
            self.restart()
        self.down = self.reboots = False


class RigCloud(SteppedCloud):
    """Makes machines that belong to a storm."""

    def __init__(self, town: Storm) -> None:
        super().__init__()
        self.box_type: Any = partial(Rig, town=town)  # type: ignore[misc]

    async def start(self, request: Any) -> Any:
        """Make a machine; one that runs already under this id is taken as it is."""
        there = self.of.get(request.machine_id, "")
        if there not in self.played_machines:
            return await super().start(request)
        await pause()
        return Started(instance=self._instance(there), base=request.base, nonce=request.nonce)


# --- controller processes ---------------------------------------------------------------------------------


class SkewedClock(Clock):
    """A clock that is wrong by some seconds."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.skew = 0.0

    def now(self) -> datetime:
        """Return what this process takes for the present moment."""
        return self._clock.now() + timedelta(seconds=self.skew)

    def monotonic(self) -> float:
        """Return the seconds that have passed."""
        return self._clock.monotonic()


class StormStore(Store):
    """The store as one process sees it: moments before and after each write, and a disk that may be full."""

    def __init__(self, store: Store, process: Process) -> None:
        super().__init__(store.engine)
        self._store = store
        self._process = process
        self.full = 0

    @contextmanager
    def read(self, model: str = "", *, recent: bool = False) -> Iterator[Tx]:
        """Open a reading transaction."""
        with self._store.read(model, recent=recent) as tx:
            yield tx

    def concluded(self, key: Hashable, *, recent: bool = False) -> Any:
        """Return what was concluded before."""
        return self._store.concluded(key, recent=recent)

    @contextmanager
    def write(self, *model: str, **_options: bool) -> Iterator[Tx]:
        """Open a writing transaction, which may fail at its end."""
        town = self._process.town
        town.strike("write", self._process)
        with self._store.write(*model) as tx:
            yield tx
            if self.full:
                self.full -= 1
                raise StoreError("the disk of the store is full")
        town.hear()
        town.strike("wrote", self._process)


class Wire(SteppedSession):
    """A connection that can be cut at any time; what the machine does goes on without it."""

    process: Process

    def __init__(self, fleet: Storm, played: Rig) -> None:
        super().__init__(fleet, played)
        self.town, self.rig = fleet, played
        self.cut = False
        self.lease = 0
        self.boot = played.boot

    async def travel(self, moment: str) -> None:
        """Let something be on its way, as long as there is one."""
        await pause()
        self.town.strike(moment, self.process, self.rig)  # and on with it, whatever was missed meanwhile
        if self.cut or self.rig.down or self.boot != self.rig.boot:
            raise ConnectionLost("the connection to the machine was lost")

    async def run(
        self, frame: dict[str, Any], on_event: Any = None, on_live: Any = None, plan: Sequence[Any] = ()
    ) -> dict[str, Any]:
        """Run an operation; when the connection is cut, connect again, or not."""
        while True:
            try:
                return await self._carry(frame, on_live, plan)
            except ConnectionLost:
                if self.rig.down or self.town.chance.random() < 0.5:
                    raise
                self.cut, self.boot, self.hello = False, self.rig.boot, self.rig.hello()

    async def _carry(self, frame: dict[str, Any], on_live: Any, plan: Sequence[Any]) -> dict[str, Any]:
        await self.travel("send")
        if "after" in frame and not self.rig.follow(frame, self.lease):
            return left_out(frame)
        refused = None if frame["id"] in self.rig.waiting() else self.rig.take(frame, self.lease)
        for item in plan:
            self.rig.follow(item, self.lease)
        await self.travel("begun")
        while (found := refused or self.rig.answer(frame["id"])) is None:
            job = self.rig.jobs.get(frame["id"])
            if job is None and frame["id"] not in self.rig.waiting():
                return left_out(frame)
            if job and job.call and job.answer is None and on_live:
                await self._answer(job, on_live)
            await self.travel("wait")
        self.town.strike("result", self.process, self.rig)
        await pause()
        if self.cut or self.rig.down:
            raise ConnectionLost("the connection to the machine was lost")
        return found

    async def _answer(self, job: Job, on_live: Any) -> None:
        call = job.call
        await self.travel("live")
        try:
            answer = await on_live(call)
        except asyncio.CancelledError:
            return  # somebody else is to answer
        await self.travel("answer")
        if job.call is call:  # the first answer counts
            job.answer = answer

    async def put_blob(self, sha256: str, path: Any, like: Any = None) -> None:
        """Take an archive."""
        assert path.is_file(), sha256
        await self.travel("push")

    async def ack(self, operation: str) -> None:
        """Forget a result, if the message arrives."""
        self.town.strike("ack", self.process, self.rig)
        self.cut = self.cut or self.rig.down  # what a living connection carries arrives
        if not self.cut:
            self.rig.results.pop(operation, None)

    async def cancel(self, operation: str) -> None:
        """Interrupt an operation."""
        await self.travel("send")
        job = self.rig.jobs.pop(operation, None)
        self.rig.leave_out(operation)
        if job is not None:
            job.end()
            self.rig.results[operation] = {"id": operation, "outcome": "terminated", "signal": 9}

    async def fetch(self, operation: str) -> None:
        """Wait for the result of an operation."""
        await self.travel("wait")


class StormRuntime(SteppedRuntime):
    """What the lanes of one process share."""

    session_type = Wire
    process: Process

    def checkpoint(self, name: str) -> None:  # type: ignore[override]
        """Be at a named step."""
        self.process.town.strike(f"at {name}", self.process)

    async def session(self, machine: Machine) -> SteppedSession:
        """Return the connection to a machine."""
        played: Any = self.fleet.cloud.played_machines.get(machine.instance_id)
        self.process.town.strike("connect", self.process, played)
        await pause()
        found: Any = self.sessions.get(machine.instance_id)
        if found is not None and (found.cut or found.lease not in self.leases):
            del self.sessions[machine.instance_id]
        made: Any = await super().session(machine)
        made.process, made.lease = self.process, self.leases[0]
        return made

    def provider_of(self, machine: Machine) -> SteppedCloud:
        """Return the one provider, about to be asked for something."""
        self.process.town.strike("cloud", self.process)
        return super().provider_of(machine)

    def provider(self, model: str, cloud: str | None = None) -> SteppedCloud:
        """The same."""
        self.process.town.strike("cloud", self.process)
        return super().provider(model, cloud)


class Process(SteppedProcess):
    """A controller process with a clock of its own; it dies, freezes and starves by itself."""

    runtime_type = StormRuntime

    def __init__(self, town: Storm, name: str, ctx: Context) -> None:
        self.town = town
        self.clock = SkewedClock(ctx.clock)
        self.store = StormStore(ctx.store, self)
        super().__init__(town, name, replace(ctx, clock=self.clock, store=self.store))
        self.runtime.process = self  # type: ignore[attr-defined]
        self._beat = ctx.clock.now()

    def step(self, pick: int = 0) -> bool:
        """Let one worker go on; a death on the way is this process's own."""
        try:
            self._heartbeat()
            return super().step(pick)
        except Killed:
            self.town.bury(self)
            return True
        except StoreError:
            return True  # nothing could be claimed or given back: tried again later

    def _heartbeat(self) -> None:
        if (self.town.clock.now() - self._beat).total_seconds() < HEARTBEAT_S:
            return
        self._beat = self.town.clock.now()
        for claim, work in list(self.workers.values()):
            if not self.queue.heartbeat(claim, self.ctx.clock.now()):
                with contextlib.suppress(asyncio.CancelledError, Killed):
                    work.throw(asyncio.CancelledError())
                del self.workers[claim.key]

    def _broke(self, claim: Claim, error: StoreError) -> None:
        later = self.ctx.clock.now() + timedelta(seconds=AFTER_BUG_S)
        self._finish(claim, Outcome(due=later, attempts=claim.attempts + 1, reason=str(error)))


# --- the whole --------------------------------------------------------------------------------------------


class Storm(RandomModel):
    """A town with up to four controller processes, and faults that were planned.

    Attributes:
        plan: What is still to happen.
        calm: Nothing happens any more.
        struck: (moment, fault) that happened.
        good: Unit -> operations whose hooks ran well, in order.
    """

    guarded = False

    def __init__(self, *args: Any) -> None:
        self.processes: list[Process] = []
        self.stores: list[Store] = []  # those of processes in PostgreSQL, of dead ones too
        self.frozen: list[Process] = []
        self.plan: list[Fault] = []
        self.calm = True
        self.chance = Random(0)
        self.struck: Counter[tuple[str, str]] = Counter()
        self.good: dict[str, list[str]] = {}
        super().__init__(*args)
        self.cloud = RigCloud(self)
        self.witness.late = True

    def _begin(self) -> SteppedProcess:
        self.lives += 1
        made = Process(self, f"worker-{self.lives}", self._connected())
        self.processes.append(made)
        return made

    def _connected(self) -> Context:
        """Return the controller as a process opens it: in PostgreSQL with its own connection and cache."""
        place = self.ctx.store.place
        if isinstance(place, Path):
            return self.ctx
        self.stores.append(Store.open(place))
        self.stores[-1].remember()
        return replace(self.ctx, store=self.stores[-1])

    def is_alive(self, owner: str) -> bool:
        """Tell whether a controller process lives; those of other hosts cannot be looked at."""
        return any(process.name == owner for process in self.processes)

    def bury(self, process: Process) -> None:
        """End a process; another one is started when it was the last."""
        process.die()
        self.processes.remove(process)
        if not self.processes:
            self._begin()

    def crash(self) -> None:
        """Kill every process, and start another one."""
        for process in list(self.processes):
            self.bury(process)

    # --- going on -----------------------------------------------------------------------------------------

    def step(self, pick: int = 0) -> bool:
        """Let machines go on, and one process."""
        self.steps += 1
        self.clock.advance(STEP_S)
        works = [self._go_on(played) for played in self.cloud.played_machines.values()]
        awake = [process for process in self.processes if process not in self.frozen]
        cut = pick % len(awake) if awake else 0
        return any(process.step(pick) for process in awake[cut:] + awake[:cut]) or any(works)

    def _go_on(self, played: Any) -> bool:
        if played.down and played.wakes and self.steps >= played.wakes:
            played.come_back()
        return bool(played.go_on()) or (played.down and bool(played.wakes))

    # --- what happens -------------------------------------------------------------------------------------

    def strike(self, moment: str, process: Process, played: Any = None) -> None:
        """Be at a moment: what is planned for it happens now."""
        if self.calm:
            return
        for fault in [item for item in self.plan if item.moment in (moment, "*")]:
            fault.count -= 1
            if fault.count < 0 and fault in self.plan:  # others may have met it while one was frozen
                self.plan.remove(fault)
                self.struck[moment, fault.what] += 1
                self.witness.story.append(f"! {fault.what} at {moment} of {process.name}")
                self._happen(fault.what, process, played or self._any_box())

    def _any_box(self) -> Any:
        machines = list(self.cloud.played_machines.values())
        return self.chance.choice(machines) if machines else None

    def _happen(self, what: str, process: Process, played: Any) -> None:
        match what:
            case "kill":
                raise Killed
            case "freeze":
                self._freeze(process)
            case "store":
                process.store.full = self.chance.randint(1, 4)
            case "clock":
                process.clock.skew = self.chance.choice((-3600.0, -40.0, 40.0, 3600.0))
            case "join":
                if len(self.processes) < MOST_PROCESSES:
                    self._begin()
            case _ if played is not None:
                self._break(what, process, played)

    def _break(self, what: str, process: Process, played: Any) -> None:
        match what:
            case "cut":
                for session in process.runtime.sessions.values():
                    session.cut = session.cut or session.played is played  # type: ignore[attr-defined]
            case "silence":
                played.leave(self.chance.randint(1, 40), reboots=False)
            case "off":
                played.leave(self.chance.randint(1, 40), reboots=True)
            case "reboot":
                played.restart()
            case "runner":
                played.kill_runner()
            case "full":
                played.full = self.chance.randint(1, 3)
            case "box-clock":
                played.skew = self.chance.choice((-86400.0, 86400.0))

    def _freeze(self, process: Process) -> None:
        """Let a process stand still beyond its lease, in the middle of what it does, while others go on."""
        if process in self.frozen:
            return
        if len(self.processes) == len(self.frozen) + 1:
            self._begin()
        self.frozen.append(process)
        for _ in range(self.chance.randint(1, MOST_BEATS)):
            self.clock.advance(self.chance.choice((STEP_S, LEASE_S / 2, LEASE_S)))
            for _ in range(self.chance.choice((1, 5, 30))):
                self.step(self.chance.randint(0, 5))
        self.frozen.remove(process)

    def stop_faults(self) -> None:
        """Let nothing more happen, and everything answer and tell the right time."""
        self.calm, self.plan = True, []
        for process in self.processes:
            process.clock.skew, process.store.full = 0.0, 0
        for played in self.cloud.played_machines.values():
            played.come_back()  # type: ignore[attr-defined]
            played.full = 0  # type: ignore[attr-defined]

    # --- hooks --------------------------------------------------------------------------------------------

    async def charm(self, played: SteppedMachine, frame: dict[str, Any], on_live: Any) -> dict[str, Any]:
        """Run a hook that counts: what it writes tells whether any write was lost, doubled or halved."""
        self.hear()
        try:
            result = await super().charm(played, frame, on_live)
        except HookBroke:
            result = {"outcome": "failed", "exit": 1}
            self.witness.sent(frame, result)
        if result.get("outcome", "ok") != "ok" or not result:  # failed, or its unit is gone
            return result
        context, name = frame["context"], frame["id"]
        if frame["hook"] in QUIET:
            return result
        count = int(context["state"].get("count", "0")) + 1
        writes = result["writes"]
        writes["state"] = {**writes.get("state", {}), "count": str(count), "last": name}
        if frame["hook"].endswith(("-created", "-joined")):  # in others it would never end
            for bags in writes.get("relations", {}).values():
                bags["unit"]["op"] = name
        self.good.setdefault(frame["unit"], []).append(name)
        return result

    def hear(self) -> None:
        """Tell the witness what the store has taken in by now."""
        for name in list(self.witness._sent):
            row = self.operation(name)
            if row is not None and row.outcome == "failed" and "is not leader of" in str(row.result):
                # It wrote as the leader that it had been when it began: nothing of it counts.
                self.good[row.unit] = [good for good in self.good.get(row.unit, []) if good != name]
            if row is None or row.state not in ("prepared", "planned"):
                self.committed(name)
