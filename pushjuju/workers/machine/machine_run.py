"""Runs the operations of units and the commands on one attached machine.

Each unit has at most one running operation, and decides again after each. Operations with the same lock run
one after the other, so that the snapshot of each contains the writes of the one before; operations without
lock (parallel actions, `exec`) run beside them. Mirrors: juju core/machinelock,
worker/uniter/operation/executor.go (3.6)
"""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from pushjuju.core.errors import (
    BadAnswer,
    LeaseLost,
    NotValid,
    Overtaken,
    PushjujuError,
    RemoteFailed,
    StoreError,
    TransportError,
)
from pushjuju.core.names import unit_tag
from pushjuju.core.problems import Problem, Subject
from pushjuju.core.status import Agent, Life
from pushjuju.core.values import changed
from pushjuju.runner.remote.base.results import KNOWN, named
from pushjuju.runner.session import MachineSession, with_disk_named
from pushjuju.runner.trust import intake
from pushjuju.services.entities.action import actions
from pushjuju.services.entities.basis import logs, statuses, tally
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import lost_results, machines
from pushjuju.services.lifecycle import removal
from pushjuju.store.leases import DeferredStore
from pushjuju.store.queue import ROUTINE
from pushjuju.store.rows.records import Machine, Operation, Relation, Seat, Unit
from pushjuju.store.tx import Questions
from pushjuju.uniter.action_runs import MACHINE, is_unwanted, next_lock
from pushjuju.uniter.ahead import Decided, drop
from pushjuju.uniter.commit import commit, take_flood
from pushjuju.uniter.decide.decision import Answer
from pushjuju.uniter.dispatch import Dispatch, prepared_operation, read_operation
from pushjuju.uniter.input.snapshot import own_questions, read_view
from pushjuju.uniter.requests import relation_of
from pushjuju.uniter.turn import Turn, ask_turn_ahead, take_turn
from pushjuju.workers import live
from pushjuju.workers.events import Event
from pushjuju.workers.machine import (
    commands,
    contact,
    deliver,
    exec_requests,
    running_operations,
    storage_worker,
)
from pushjuju.workers.machine.firewaller import Firewaller
from pushjuju.workers.machine.running_operations import EventSink, Lookout, RunningOperations
from pushjuju.workers.outcome import of_unit
from pushjuju.workers.provision.provisioner import is_manual
from pushjuju.workers.runtime import Runtime

if TYPE_CHECKING:
    from pushjuju.portable.frames import Op

MOST_KILLS = 5  # times in a row that a killed hook runs again at once
LOOP_ERROR = "resolver loop error"
LOGGER = "juju.worker.uniter"
FIREWALL = "firewall"  # key of the running firewall work, which needs no lock
LEFT_OUT = "plan"  # code of an operation of a plan that the machine did not begin
STORAGE = "storage"
_OPEN = ("prepared", "planned")
_OF_MACHINE = (BadAnswer, Overtaken, StoreError, TransportError)  # failures that concern every unit


class MachineRun:
    """The operations on one attached machine."""

    operations_type: type[RunningOperations] = RunningOperations

    def __init__(self, runtime: Runtime, machine: Machine, session: MachineSession) -> None:
        self.runtime = runtime
        self._store = DeferredStore(runtime.ctx.store)
        self.ctx: Context = changed(runtime.ctx, store=self._store)
        self.machine = machine
        self.model = machine.model
        self.session = session
        self.left_nothing = False  # True when all files of pushjuju were removed from the machine
        # unit -> why the unit was set aside; the next run tries it again
        self.setbacks: dict[str, Problem] = {}
        self.decided: dict[str, Decided] = {}  # unit -> the decision that it made a moment ago
        self.runs: list[float] = []  # how long each hook and action ran, in seconds
        self.firewaller = Firewaller.of(runtime, machine)
        self._next_look: datetime | None = None  # time of the next check of the firewall
        # The worker has done what was due.
        self._storage_look = self.ctx.clock.now() + timedelta(seconds=running_operations.LOOK_S)
        self.storage_problems: list[Problem] = []
        self._running = self.operations_type()
        self._asked = runtime.asked  # requested work goes before update-status
        self._routine: set[str] = set()  # units that run update-status
        self._postponed: dict[str, Decided | None] = {}  # units whose update-status waits
        self._locks: dict[str, str] = {}  # key of running work -> the lock that it holds
        self._last = ""  # the unit that began last: others go first
        self._foreseen: dict[str, Decided | None] = {}  # unit -> the decision that follows its plan
        self._kills: Counter[str] = Counter()
        self._reboot_asked = ""
        self._committed: list[tuple[str, str, str]] = []  # id, request of `juju-exec` and its error
        self._lost: set[str] = set()  # units that have run operations whose results the store lacks

    async def work(self) -> None:
        """Run what is due until every unit is at rest or set aside."""
        self._lost = set(self._machine().lost)
        await self._acknowledge()
        self._note_lost_charms()
        self._recover()
        self._begin_sweep()
        try:
            while True:
                self._begin_firewall()
                self._begin_storage()
                if not self._begin():
                    await self._save()
                if not (self._running or self._reboot_asked):
                    break
                if self._running:
                    await self._running.some_end()
                else:
                    await self._reboot()
            if self._lost:
                lost_results.forget(self.ctx, self.machine, busy=self.setbacks)
        finally:
            await self._running.close()

    async def _save(self) -> None:
        """Wait until all writes are on disk; then let the machine delete the committed results."""
        if not self._running:  # the worker asks it behind this wait
            with self.ctx.read(self.model) as tx:
                tx.ahead(_due_questions, self.machine.id, changes=True)
        # Taken before the wait: operations that others commit meanwhile are not on disk yet.
        done, self._committed = self._committed, []
        await self._store.durable()
        if done:
            self.runtime.checkpoint("saved")
        for operation_id, request, error in done:
            if error:
                self.session.answer(request, error)
            await self.session.ack(operation_id)
            self.runtime.checkpoint("acknowledged")

    async def leave(self) -> None:
        """Remove all files of pushjuju from a machine that leaves the model and goes on running."""
        await self._acknowledge()
        for name in self._unknown_units():
            await self._remove_files(name, last=False)
        # The mark of a machine that the user named is deleted by the provider.
        await self._remove_files("", last=True, release=not is_manual(self.machine))

    # --- what may begin -----------------------------------------------------------------------------------

    def _begin(self) -> bool:
        """Begin the operations that may run beside the running ones; return True when an operation began."""
        if self._reboot_asked:
            return False
        with self.ctx.read(self.model) as tx:
            tx.ahead(self._questions, self.machine.id, changes=True)
            for name in islice(reversed(self.decided), 1):  # the unit that decided last, mostly the next
                ask_turn_ahead(tx, name)
            generation = self.runtime.generation(tx)
            asked = commands.are_pending(tx, self.machine.id)
            units = self._in_turn(machines.seats_on(tx, self.machine.id))
            for unit in units[1:2] if generation is None else ():  # runs update-status after the first
                ask_turn_ahead(tx, unit.name)
        self._postponed = {}
        began = asked and self._begin_commands()
        # Where only update-status is due, a unit with other work does that work in its turn.
        if self._asked and (generation is not None or self.session.requests):
            began |= self._begin_units(units, routine=False)
            units = [unit for unit in units if unit.name in self._postponed]
        if not began:
            began = self._begin_units(units, routine=True)
        self._note_routine(generation)
        self._asked = True
        return began

    def _questions(self, machine: str) -> Questions:
        """Yield what is asked before operations begin, for `Tx.ahead`."""
        yield from self.runtime.questions()
        yield "unit_seats", {"machine": machine}

    def _note_routine(self, generation: int | None) -> None:
        """Record when only update-status runs: commands do not wait for the end of update-status."""
        if generation is not None and self._running and all(key in self._routine for key in self._running):
            self.runtime.note_routine(generation)

    def _begin_units(self, units: Sequence[Seat], *, routine: bool) -> bool:
        """Begin operations of units, update-status or others; return True when an operation began."""
        began = False
        with_tasks: frozenset[str] | None = None  # read only when something runs
        for unit in units:
            if unit.name in self._running or unit.name in self.setbacks:
                continue
            if held := self._held():
                with_tasks = self._units_with_tasks() if with_tasks is None else with_tasks
                if MACHINE in held and not with_tasks:
                    break  # every other unit needs this lock
                if not self._may_begin(unit, held, with_tasks):
                    continue
            began |= self._begin_unit(unit, routine=routine)
        return began

    def _begin_firewall(self) -> None:
        """Check the machine's firewall from time to time; send rules while hooks run."""
        now = self.ctx.clock.now()
        if (
            self.firewaller is None
            or FIREWALL in self._running
            or (self._next_look and now < self._next_look)
        ):
            return
        self._next_look = now + timedelta(seconds=running_operations.LOOK_S)
        if self.firewaller.is_stale(self.session):
            self._running.start(FIREWALL, self.firewaller.work(self.session))

    def _begin_storage(self) -> None:
        """Check from time to time whether storage needs a step; do the step while hooks run."""
        now = self.ctx.clock.now()
        if STORAGE in self._running or now < self._storage_look:
            return
        self._storage_look = now + timedelta(seconds=running_operations.LOOK_S)
        if storage_worker.is_due(self.ctx, self._machine()):
            self._running.start(STORAGE, self._do_storage())

    async def _do_storage(self) -> None:
        self.storage_problems += await storage_worker.while_attached(
            self.runtime, self._machine(), self.session
        )

    def _machine(self) -> Machine:
        with self.ctx.read(self.model) as tx:
            return machines.get(tx, self.machine.id)

    def _begin_commands(self) -> bool:
        began = False
        while dispatch := commands.take(self.ctx, self.machine, held=self._held()):
            self._start(dispatch.id, dispatch)
            began = True
        return began

    def _held(self) -> set[str]:
        return {lock for key, lock in self._locks.items() if lock and key in self._running}

    def _units(self) -> list[Seat]:
        with self.ctx.read(self.model) as tx:
            return machines.seats_on(tx, self.machine.id)

    def _in_turn(self, units: list[Seat]) -> list[Seat]:
        """Return units in the order of their turns: the unit that began last comes last."""
        cut = next((at + 1 for at, unit in enumerate(units) if unit.name == self._last), 0)
        return units[cut:] + units[:cut]

    def _units_with_tasks(self) -> frozenset[str]:
        with self.ctx.read(self.model) as tx:
            return actions.units_with_pending(tx, self.machine.id)

    def _may_begin(self, unit: Seat, held: set[str], with_tasks: frozenset[str]) -> bool:
        """Return True when the lock that a unit needs is free: MACHINE, or another lock for actions."""
        if unit.name not in with_tasks:
            return MACHINE not in held
        with self.ctx.read(unit.model) as tx:
            try:
                view = read_view(tx, unit.name)
            except NotValid:
                return True  # its turn reports the error and runs nothing
        return view is not None and next_lock(view) not in held

    def _begin_unit(self, unit: Seat, *, routine: bool) -> bool:
        turn = self._ask(unit, routine=routine)
        if turn.dispatch is not None:
            self._last = unit.name
            self._foreseen[unit.name] = turn.foreseen
            self._start(unit.name, turn.dispatch, turn.plan)
            if not routine:  # a user requested this retry with `resolved`
                self._routine.discard(unit.name)
            return True
        if turn.answer is Answer.DEAD and not self._has_subordinates(unit):
            self._locks[unit.name] = MACHINE
            self._running.start(unit.name, self._or_aside(unit.name, partial(self._bury, unit)))
            return True
        return False

    def _ask(self, unit: Seat, *, routine: bool) -> Turn:
        """Let a unit take its turn; repeat the turn when it only refused requests of `juju-exec`."""
        while True:
            requests = exec_requests.of_unit(self.session, unit.name)
            decided = self.decided.pop(unit.name, None) or self._postponed.get(unit.name)
            # Nothing is planned behind an operation that may be refused.
            loud = None if unit.name in self._lost else self.runtime.loud_hooks(self.model, unit.name)
            take = partial(take_turn, loud=loud, requests=requests, routine=routine, decided=decided)
            turn = self.runtime.observer.decision(unit.name, partial(or_failed, take, self.ctx, unit))
            if turn.failed:
                self.setbacks[unit.name] = Problem.of(Subject("unit", unit.name), turn.reason)
            if turn.postponed:
                self._postponed[unit.name] = turn.decided
            exec_requests.refuse(self.session, turn.refused)
            if turn.dispatch is not None or not turn.refused:
                return turn

    def _has_subordinates(self, unit: Seat) -> bool:
        with self.ctx.read(unit.model) as tx:
            return bool(removal.lives_of_subordinates(tx, unit.name))

    def _start(self, key: str, dispatch: Dispatch, plan: tuple[Dispatch, ...] = ()) -> None:
        self._locks[key] = str(dispatch.frame.get("lock", MACHINE))
        (self._routine.add if dispatch.title == ROUTINE else self._routine.discard)(key)
        work = partial(self._execute, dispatch, plan)
        self._running.start(key, self._or_aside(dispatch.unit, work) if dispatch.unit else work())

    async def _or_aside(self, unit: str, work: Callable[[], Awaitable[None]]) -> None:
        """Do the work of one unit; when it fails, set the unit aside, and let the others go on.

        Args:
            work: Called only when its result is awaited, since a task may be cancelled before it begins.
        """
        try:
            await work()
        except _OF_MACHINE:
            raise
        except PushjujuError as error:
            self._set_aside(unit, error)

    def _set_aside(self, unit: str, error: PushjujuError) -> None:
        """Do nothing more for a unit in this run, and set the reason as the unit's status."""
        self.setbacks[unit] = of_unit(unit, error)
        said = error.full_text if isinstance(error, RemoteFailed) else LOOP_ERROR
        note_failed(self.ctx, self.model, unit, said, error.full_text)
        machine = f"machine {self.machine.id}"
        self.runtime.tell(Event(entity=unit, text=f"failed: {error}", state="failed", parent=machine))

    # --- operations of an earlier controller process ------------------------------------------------------

    def _recover(self) -> None:
        """Continue the operations of an earlier process; their ids make sure that each runs once."""
        for operation in self._open_operations():
            try:
                dispatch = self._prepared_again(operation)
            except NotValid:
                continue  # its unit cannot decide and shows why; the machine keeps the result
            if dispatch is None:
                commit(self.ctx, operation.id, {"outcome": "gone"})
            elif self._is_overtaken(operation):
                commit(self.ctx, operation.id, {"outcome": "terminated"})  # the unit decides again
            elif operation.name == "reboot":
                self._reboot_asked = operation.id
            else:
                self._start(dispatch.unit or dispatch.id, dispatch)

    def _open_operations(self) -> list[Operation]:
        with self.ctx.read(self.model) as tx:
            return tx.list(Operation, "operation_open", machine=self.machine.id)

    def _begin_sweep(self) -> None:
        """Delete files of units that were removed by force while the machine could not be reached."""
        for name in self._unknown_units():
            key = f"files of {name}"
            self._locks[key] = MACHINE
            self._running.start(key, self._or_aside(name, partial(self._remove_files, name, last=False)))

    def _note_lost_charms(self) -> None:
        """Record the units whose charm is missing on the machine, so that they install the charm again."""
        present = self.session.hello.get("charms")
        if present is None:
            return
        lacking = [unit.name for unit in self._units() if unit.name not in present]
        if not lacking:
            return
        with self.ctx.read(self.model) as tx:
            for name in lacking:
                tx.ahead(own_questions, name, changes=True)
            found = [tx.find(Unit, "unit_get", name=name) for name in lacking]
        if lost := [unit.name for unit in found if unit is not None and unit.charm_url]:
            with self.ctx.write(self.model) as tx:
                for name in lost:
                    tx.run("unit_set_charm_gone", name=name, gone=1)

    def _unknown_units(self) -> list[str]:
        known = {unit.name for unit in self._units()}
        return [name for name in self.session.hello.get("units", []) if name not in known]

    def _is_overtaken(self, operation: Operation) -> bool:
        """Return True for an operation that never reached the machine and whose unit or relation is gone."""
        if not operation.unit or any(item["id"] == operation.id for item in self.session.hello["journal"]):
            return False
        if self._is_dead(operation.unit):
            return True
        hook = read_operation(operation.document).hook
        relation = hook.relation_id if hook else relation_of(operation.document)
        if relation is None:
            return False
        with self.ctx.read(self.model) as tx:
            return tx.find(Relation, "relation_get", id=relation) is None

    async def _acknowledge(self) -> None:
        """Acknowledge what is committed, and cancel operations of units that were removed."""
        journal = self.session.hello.get("journal", [])
        if journal:
            # A process that died may not have waited for its commits, which this process sees all the same.
            await self._store.durable()
        for item in journal:
            found = self._operation(item["id"])
            if found is not None and (found.model, found.machine) != (self.model, self.machine.id):
                found = None  # an operation of another machine, not to be shown to this one
            if found is None or found.state not in _OPEN:
                if not item["done"]:
                    await self._cancel(item["id"])  # its unit was removed by force
                exec_requests.tell_again(self.session, found)
                await self.session.ack(item["id"])

    async def _cancel(self, operation_id: str) -> None:
        await self.session.cancel(operation_id)
        await self.session.fetch(operation_id)

    def _operation(self, operation_id: str) -> Operation | None:
        with self.ctx.store.read(self.model) as tx:
            return tx.find(Operation, "operation_get", id=operation_id)

    def _prepared_again(self, operation: Operation) -> Dispatch | None:
        if operation.name == commands.TITLE and not operation.unit:
            return commands.again(self.ctx, operation)
        if not operation.unit:
            return Dispatch(
                id=operation.id, unit="", title=operation.name, frame=cast("Op", {})
            )  # only its result is needed
        with self.ctx.read(operation.model) as tx:
            view = read_view(tx, operation.unit)
            if view is None:
                return None
            document = operation.document
            return prepared_operation(
                tx, view, read_operation(document), operation.id, document.get("request")
            )

    async def _execute(self, dispatch: Dispatch, plan: tuple[Dispatch, ...] = ()) -> None:
        """Run an operation on the machine and commit its result, then the same with the plan behind it."""
        await self._save()
        self._tell_unit(dispatch, "running", "running")
        self.runtime.checkpoint("prepared")
        if dispatch.blob:
            blobs = self.ctx.controller.blobs
            like = blobs.find(dispatch.like) if dispatch.like else None
            blob = await deliver.at_hand(blobs, dispatch.blob)
            await self.session.put_blob(dispatch.blob, blob, (dispatch.like, like) if like else None)
            self.runtime.checkpoint("charm-pushed")
        try:
            following = await self._take_in(dispatch, await self._run(dispatch, plan))
            while following:
                await self._save()
                dispatch = self._promoted(following, plan)
                self._tell_unit(dispatch, "running", "running")
                self.runtime.checkpoint("promoted")
                following = await self._take_in(dispatch, await self._run_planned(dispatch))
            if plan and dispatch.id != plan[-1].id:
                await self._end_strays(plan, dispatch)
        finally:
            for item in plan:
                self.session.forget(item.id)

    async def _end_strays(self, plan: tuple[Dispatch, ...], last: Dispatch) -> None:
        """Cancel operations of a plan that the machine may have begun, when their unit was removed.

        Args:
            last: The last operation that was committed; those of the plan before it have ended.
        """
        ids = tuple(item.id for item in plan)
        behind = ids[ids.index(last.id) + 1 :] if last.id in ids else ids
        with self.ctx.store.read(self.model) as tx:
            tx.ahead(_operations, behind, changes=True)
            lacking = (name for name in behind if tx.find(Operation, "operation_get", id=name) is None)
            first = next(lacking, "")
            for name in ids:
                tx.forget("operation_get", id=name)
        if first:
            await self.session.cancel(first)  # the machine does not begin the operations after it

    def _promoted(self, operation_id: str, plan: tuple[Dispatch, ...]) -> Dispatch:
        """Return a planned operation that must run now: as it was sent, or built again after a restart."""
        sent = next((item for item in plan if item.id == operation_id), None)
        return sent or self._built_anew(operation_id)

    def _built_anew(self, operation_id: str) -> Dispatch:
        with self.ctx.store.read(self.model) as tx:
            found = tx.get(Operation, "operation_get", f"operation {operation_id} not found", id=operation_id)
        dispatch = self._prepared_again(found)
        if dispatch is None:
            raise NotValid(f"unit {found.unit} is gone", subject=Subject("unit", found.unit))
        return dispatch

    async def _run_planned(self, dispatch: Dispatch) -> dict[str, object]:
        """Wait for an operation of a plan; when the machine did not begin it, run it now, without plan."""
        result = await self._run(dispatch)
        if result.get("code") != LEFT_OUT or "after" not in dispatch.frame:
            return result
        with self.ctx.store.write(self.model) as tx:
            found = tx.find(Operation, "operation_get", id=dispatch.id)
            drop(tx, found.document.get("then", "") if found else "")  # these decisions may be out of date
        if found is None or self._is_overtaken(found):
            return {"outcome": "terminated"}  # the unit decides again
        return await self._run(self._built_anew(dispatch.id))

    async def _take_in(self, dispatch: Dispatch, result: dict[str, object]) -> str:
        """Commit the result of an operation; return the id of the planned operation to run now, or ""."""
        self.runtime.checkpoint("result")
        result = with_disk_named(result, f"machine {self.machine.id}")
        for _ in take_flood(self.ctx, dispatch.id, result):
            await asyncio.sleep(0)  # lets other tasks run
        foreseen = self._foreseen.get(dispatch.unit)
        decides = not self.session.requests
        act = partial(commit, self.ctx, dispatch.id, result, decides=decides, foreseen=foreseen)
        done = self.runtime.observer.commit(dispatch.unit, act)
        self.runtime.observer.operation(dispatch, result, done, lambda: self.runtime.program.tools)
        if dispatch.frame.get("kind") in ("hook", "action", "commands"):
            self.runs.append(tally.seconds_of(result))
        if result.get("code") == KNOWN:
            self._lost.add(dispatch.unit)
        if done.decided is not None:
            self.decided[dispatch.unit] = done.decided
        self._committed.append((dispatch.id, str(dispatch.frame.get("request", "")), done.error))
        self.runtime.checkpoint("committed")
        if dispatch.frame.get("kind") == "hook":
            loud = self.runtime.loud_hooks(self.model, dispatch.unit)
            (loud.add if done.loud else loud.discard)(dispatch.title)
        text, state = ("done", "done") if done.ok else (f"failed: {done.message}", "failed")
        self._tell_unit(dispatch, text, state)
        self._reboot_asked = done.reboot or self._reboot_asked
        self._count_kill(dispatch, killed=done.killed)
        if done.again_later:
            self.setbacks[dispatch.unit] = Problem.of(
                Subject("unit", dispatch.unit), f"{dispatch.title}: {done.message}"
            )
        return done.next

    def _count_kill(self, dispatch: Dispatch, *, killed: bool) -> None:
        """Raise an error when a hook was killed too often in a row, so that its unit is set aside."""
        self._kills[dispatch.unit] = self._kills[dispatch.unit] + 1 if killed else 0
        if self._kills[dispatch.unit] == MOST_KILLS:
            subject = Subject("unit", dispatch.unit)
            text = f"{subject}: {dispatch.title} was killed {MOST_KILLS} times in a row"
            raise RemoteFailed(text, subject=subject)

    async def _run(self, dispatch: Dispatch, plan: tuple[Dispatch, ...] = ()) -> dict[str, object]:
        """Wait for an operation's result; cancel the operation when its unit or task must end."""
        if dispatch.unit in self._lost and self._has_run(dispatch):
            return {"outcome": "error", "code": KNOWN}
        sink = EventSink(self.ctx, dispatch.id, self._show_line(dispatch) if self.runtime.watched else None)
        lookout = Lookout(lambda: self._end_if_unwanted(dispatch.id))
        try:
            frame, *behind = (self._frame(item) for item in (dispatch, *plan))
            return await self.session.run(frame, sink.take, self._answering(dispatch.unit), behind)
        finally:
            lookout.close()
            sink.close()

    def _has_run(self, dispatch: Dispatch) -> bool:
        """Return True for an operation that a unit has run before, whose result the store has lost."""
        if any(item["id"] == dispatch.id for item in self.session.hello.get("journal", ())):
            return False  # the machine knows this very operation, and answers with its result
        unit, name = named(dispatch.frame)
        return bool(name) and lost_results.is_lost(self._machine(), unit, name)

    def _frame(self, dispatch: Dispatch) -> Op:
        """Return a request, which asks for lines of output at once while a user watches."""
        frame = self.runtime.observer.request(dispatch.frame)
        return {**frame, "tail": True} if self.runtime.watched else frame

    async def _end_if_unwanted(self, operation_id: str) -> None:
        # Without a connection the hook goes on until the next check.
        with contextlib.suppress(PushjujuError):
            if self._is_unwanted(operation_id):
                await self.session.cancel(operation_id)

    def _is_unwanted(self, operation_id: str) -> bool:
        """Return True when the unit of a running operation is dead or removed, or its task was cancelled."""
        with self.ctx.store.read(self.model) as tx:
            found = tx.find(Operation, "operation_get", id=operation_id)
            if found is None or found.state not in _OPEN or is_unwanted(self.ctx.of(tx, found.model), found):
                return True
        return bool(found.unit) and self._is_dead(found.unit)

    def _is_dead(self, name: str) -> bool:
        with self.ctx.read(self.model) as tx:
            unit = tx.find(Unit, "unit_get", name=name)
        return unit is not None and unit.life == Life.DEAD

    def _answering(self, unit: str) -> Any:
        async def on_live(call: dict[str, Any]) -> live.LiveAnswer:
            try:
                if call["tool"] == deliver.TOOL:
                    return await deliver.answer(
                        self.runtime.ctx, self.session, self.model, unit, call["argv"]
                    )
                if call["tool"] in (tools := self.runtime.answered):
                    return await live.respond_for_plugin(self.runtime.ctx, self.model, unit, call, tools)
                return await live.respond(self.runtime.ctx, self.model, unit, call["tool"], call["argv"])
            except LeaseLost:
                raise asyncio.CancelledError from None  # no answer: the process with the lease answers

        return on_live

    async def _reboot(self) -> None:
        """Reboot the machine and attach again; a request causes one reboot, even after crashes."""
        operation_id, self._reboot_asked = self._reboot_asked, ""
        self.runtime.tell(Event(entity=f"machine {self.machine.id}", text="rebooting", state="running"))
        with self.ctx.store.read(self.model) as tx:
            found = tx.get(Operation, "operation_get", f"operation {operation_id} not found", id=operation_id)
        boot_id = str(found.document["boot_id"])
        await self._save()
        self.runtime.checkpoint("rebooting")
        if self.session.hello["boot_id"] == boot_id:
            await self.session.run({"t": "op", "id": operation_id, "kind": "reboot", "if_boot_id": boot_id})
            self.session = await contact.come_back(self.runtime, self.machine, boot_id)
            await self._do_storage()
        commit(self.ctx, operation_id, {"outcome": "ok"})

    async def _bury(self, unit: Seat) -> None:
        """Remove a finished unit's files from the machine, and the unit from the model."""
        await self._save()  # the removal deletes the machine's journal of the last hook
        others = [other for other in self._units() if other.name != unit.name]
        if others or stays(self.machine):
            await self._remove_files(unit.name, last=not others)
        self.runtime.checkpoint("files-removed")
        with self.ctx.write(unit.model) as tx:
            found = tx.find(Unit, "unit_get", name=unit.name)
            if found is not None:
                removal.remove_unit(tx, found)
        self.runtime.tell(Event(entity=unit.name, text="removed", state="done"))

    async def _remove_files(self, unit: str, *, last: bool, release: bool = False) -> None:
        """Remove a unit's files from the machine; with the last unit, remove all files of pushjuju.

        Args:
            release: True when the machine leaves the model: also delete the mark that names its holder.
        """
        if last and self.firewaller is not None:
            await self.firewaller.clear(self.session)
        operation_id = str(uuid.uuid4())
        frame: Op = {"t": "op", "id": operation_id, "kind": "remove-unit", "unit": unit, "last": last}
        if release:
            frame["release"] = True
        result = intake.read_result(await self.session.run(frame))
        if result["outcome"] not in ("ok", "missing"):
            subject = Subject("unit", unit) if unit else None
            what = f"{subject}: its files" if subject else "pushjuju's files"
            raise RemoteFailed(f"{what} could not be removed: {result.get('message', '')}", subject=subject)
        await self.session.ack(operation_id)
        self.left_nothing = last

    def _tell_unit(self, dispatch: Dispatch, text: str, state: str) -> None:
        machine = f"machine {self.machine.id}"
        self.runtime.tell(
            Event(
                entity=dispatch.unit or machine,
                text=f"{dispatch.title}: {text}",
                state=state,
                parent=machine if dispatch.unit else "",
                operation=dispatch.id,
            )
        )

    def _show_line(self, dispatch: Dispatch) -> Callable[[str], None]:
        entity = dispatch.unit or f"machine {self.machine.id}"
        return lambda line: self.runtime.tell(Event(entity=entity, line=line))


def stays(machine: Machine) -> bool:
    """Return True when a machine goes on running after it has left the model."""
    return is_manual(machine) or machine.keep_instance


def _due_questions(machine: str) -> Questions:
    """Yield what the worker asks the store when its machine is at rest, for `Tx.ahead`."""
    yield "unit_dues", {"machine": machine}


def _operations(ids: tuple[str, ...]) -> Questions:
    """Yield the questions for these operations, for `Tx.ahead`."""
    return (("operation_get", {"id": name}) for name in ids)


def or_failed(decide: Callable[[Context, str, str], Turn], ctx: Context, unit: Seat) -> Turn:
    """Let a unit decide; when it cannot decide, set the reason as its status and delay no other unit."""
    try:
        return decide(ctx, unit.model, unit.name)
    except StoreError:
        raise
    except PushjujuError as error:
        note_failed(ctx, unit.model, unit.name, LOOP_ERROR, str(error))
        return Turn(answer=Answer.WAITING, reason=str(error), failed=True)


def note_failed(ctx: Context, model: str, name: str, said: str, why: str) -> None:
    """Set agent status failed for a unit, and log the reason once."""
    now = ctx.clock.now()
    with ctx.write(model) as tx:
        if tx.find(Unit, "unit_get", name=name) is None:
            return
        if statuses.set_agent_status(tx, name, Agent.FAILED, said, now=now):
            logs.append(tx, unit_tag(name), "ERROR", LOGGER, why, now=now)
