"""The worker of one machine: start it, reach it, let its units take their turns, remove it.

A worker keeps nothing in memory that matters: after a kill, the next worker continues from the store and the
machine's journal.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from pushjuju.core.clock import from_iso
from pushjuju.core.errors import (
    HeldElsewhere,
    LeaseLost,
    NotValid,
    Overtaken,
    PushjujuError,
    StoreAway,
    StoreError,
    TransportError,
)
from pushjuju.core.problems import Problem, Subject
from pushjuju.core.status import InstanceStatus, Life, StatusKind
from pushjuju.core.values import changed
from pushjuju.runner.session import MachineSession
from pushjuju.services.entities.basis import statuses
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import credential_validity, machines
from pushjuju.services.lifecycle import removal
from pushjuju.store.leases import DeferredStore
from pushjuju.store.queue import lease_at_least, skip_leases
from pushjuju.store.rows.records import Machine, Operation, Seat, Unit
from pushjuju.store.tx import ModelTx, Questions
from pushjuju.uniter.ahead import Decided
from pushjuju.uniter.decide.loop import decide
from pushjuju.uniter.decide.reconcile import reconcile_effects
from pushjuju.uniter.input.snapshot import ask_ahead, read_view
from pushjuju.uniter.turn import WORK, ask, rests
from pushjuju.workers.events import Event
from pushjuju.workers.machine import commands, contact, exec_requests, keywriter, profiles, storage_worker
from pushjuju.workers.machine.firewaller import Firewaller
from pushjuju.workers.machine.machine_run import MachineRun, or_failed, stays
from pushjuju.workers.outcome import Contact, Outcome, of_unit, problem_of
from pushjuju.workers.provision import hostkeys, installing, joining, provisioner
from pushjuju.workers.provision.provisioner import StartFailed, is_manual
from pushjuju.workers.runtime import Runtime

if TYPE_CHECKING:
    from pushjuju.store.statement_names import StatementName

_OF_MACHINE: tuple[StatementName, ...] = ("operation_open", "unit_dues", "unit_seats")
RETRY_FIRST_S = 5.0
RETRY_MOST_S = 300.0
MOST_AHEAD_D = 3650.0  # days that a machine's lease may be ahead of the clock; a later lease is an error


def again_later(ctx: Context, attempts: int, *problems: Problem) -> Outcome:
    """Return the outcome of a failure: another attempt, after a delay that grows with each failure."""
    delay = timedelta(seconds=min(RETRY_FIRST_S * 2 ** min(attempts, 10), RETRY_MOST_S))
    return Outcome(due=ctx.clock.now() + delay, attempts=attempts + 1, problems=problems)


def _questions(runtime: Runtime, machine: str) -> Questions:
    """Yield what the work on a machine at rest asks the store, for `Tx.ahead`."""
    yield from runtime.questions()
    yield "machine_get", {"id": machine}
    for query in _OF_MACHINE:
        yield query, {"machine": machine}


class MachineWorker:
    """The work on one machine, from one claim."""

    run_type: type[MachineRun] = MachineRun

    def __init__(self, runtime: Runtime, model: str, machine_id: str, attempts: int) -> None:
        self.runtime = runtime
        self.ctx: Context = runtime.ctx
        self._turns = DeferredStore(runtime.ctx.store)
        self.model = model
        self.machine_id = machine_id
        self.attempts = attempts
        self.left_nothing = False
        self._stored: list[Problem] = []  # failed steps for storage
        self._decided: dict[str, Decided] = {}  # unit -> its decision, for the run
        self._setbacks: dict[str, Problem] = {}  # unit, or `profiles...` -> its failure in this work
        self._contacts: list[Contact] = []
        self._runs: list[float] = []  # of the last contact, in seconds
        self._session: MachineSession | None = None  # of the last contact
        self._known: Machine | None = None  # the machine as it was read last
        self.unguarded: PushjujuError | None = None  # why the machine's firewall is not in force

    async def work(self) -> Outcome:
        """Do everything that is due on the machine; return failures as problems of the outcome."""
        outcome = await self._outcome()
        return replace(outcome, contacts=tuple(self._contacts)) if self._contacts else outcome

    async def _outcome(self) -> Outcome:
        try:
            return await self._work()
        except StartFailed as error:
            self._tell(str(error), "failed")
            due = self._in(error.retry_s) if error.retry_s is not None else None
            return Outcome(due=due, attempts=self.attempts + 1, problems=(Problem(error.full_text),))
        except installing.DeployFailed as error:
            self._tell(error.full_text, "failed")
            again = self._in(installing.FAILED_LOOK_S)
            return Outcome(due=again, problems=(problem_of(error),))
        except (LeaseLost, asyncio.CancelledError):
            await self._let_go()
            raise
        except Overtaken as overtaken:
            await self._let_go()
            return replace(self._catch_up(overtaken), overtaken=True)
        except StoreAway:  # the driver goes on when the store is back
            await self._let_go()
            raise
        except StoreError as error:  # no fault of the machine
            await self._let_go()  # results may be committed, but not acknowledged
            return again_later(self.ctx, self.attempts, Problem(str(error)))
        except PushjujuError as error:
            await self._gave_up(error)
            later = again_later(self.ctx, self.attempts, problem_of(error))
            if isinstance(error, TransportError) and await self._was_stopped():
                return replace(later, due=self.ctx.clock.now())  # the next contact starts it
            return later

    async def _was_stopped(self) -> bool:
        """Return True when the machine stopped during the work, at its first failure in a row."""
        machine = self._machine()
        return machine is not None and not self.attempts and await contact.can_resume(self.runtime, machine)

    async def _work(self) -> Outcome:
        machine = self._machine_ahead()
        if machine is None:
            return Outcome()
        if not machine.instance_id:
            # An interrupted start may have left an instance that is not recorded.
            if machine.life != Life.ALIVE:
                await self._stop_unrecorded(machine)
                self._remove(machine)
                return Outcome()
            # After a refused start, the worker tries again only after `retry-provisioning`.
            if self._start_given_up(machine):
                return Outcome(reason="the machine could not be started; see status")
            if waiting := joining.waits(self.ctx, machine):
                return waiting
            machine = await joining.start(self.runtime, machine)
            self.runtime.checkpoint("machine-started")
        # Another system may answer SSH while a cloud installs the machine: see `installing`.
        if not machine.last_seen and not self._must_go(machine):
            machine = await installing.wait(self.runtime, machine)
        if self._must_go(machine):
            return await self._end(machine)
        # Before the units run: an LXD profile must be there when the install hook needs it.
        applied = await self._use_if_due(machine, applied=await self._apply_profiles(machine))
        machine = self._machine()
        if machine is not None and applied and not self._must_go(machine):
            await self._apply_profiles(machine)  # removes the profiles of removed units
        if machine is not None and self._must_go(machine):
            return await self._end(machine)
        return self._at_rest(machine)

    async def _use_if_due(self, machine: Machine, *, applied: bool) -> bool:
        """Reach the machine if something is due on it; return whether its profiles are applied then."""
        if not (self._needs_machine(machine) or self._has_work(machine) or self._wants_rules(machine)):
            await self._turns.durable()
            if self.runtime.is_attached(machine):
                await self.runtime.session(machine)  # stays open for the next claim
            return applied
        await self._use(machine)
        # Meanwhile, a unit may have been placed, or a charm refreshed.
        while applied and (present := self._machine()) and profiles.lacking(self.runtime, present):
            if applied := await self._apply_profiles(present):
                await self._use(present)
        return applied

    async def _apply_profiles(self, machine: Machine) -> bool:
        """Apply profiles to a machine; after a failure, only the units whose charms need them wait."""
        try:
            await profiles.apply(self.runtime, machine)
        except profiles.ProfilesFailed as error:
            self._tell(str(error), "failed")
            lacking = profiles.lacking(self.runtime, machine)
            waiting = [seat.name for seat in self._seats() if seat.name.partition("/")[0] in lacking]
            self._setbacks |= {f"profiles of {unit}": of_unit(unit, error) for unit in waiting}
            if not waiting:  # an unused profile could not be removed
                self._setbacks["profiles"] = problem_of(error)
            return False
        return True

    async def _use(self, machine: Machine) -> None:
        """Reach the machine and do everything that is due on it."""
        reused, serves = self.runtime.is_attached(machine), self.runtime.serves
        begun, moment, result = time.monotonic(), self.ctx.clock.now(), "failed"
        known, self._runs = self.runtime.attached(machine), []
        before = known.traffic if known is not None else (0, 0)
        try:
            with self.runtime.observer.contact(machine, reused=reused, serves=serves):
                await self._do_all(machine)
            result = "ok"
        except TransportError:
            result = "unreachable"
            raise
        finally:
            used = self._session or known
            sent, received = used.traffic if used is not None else (0, 0)
            if used is known:
                sent, received = sent - before[0], received - before[1]
            took = time.monotonic() - begun
            self._contacts.append(Contact(result, moment, took, sent, received, self._runs))

    async def _do_all(self, machine: Machine) -> None:
        machine_run = await self._attach(machine)
        if machine.keys_due:
            await keywriter.write(self.runtime, machine, machine_run.session)
        self._stored = await storage_worker.while_attached(self.runtime, machine, machine_run.session)
        machine_run.decided, self._decided = self._decided, {}
        machine_run.runs = self._runs
        await machine_run.work()
        self._stored += machine_run.storage_problems
        self._setbacks |= machine_run.setbacks
        self.left_nothing = machine_run.left_nothing
        self.unguarded = machine_run.firewaller.problem if machine_run.firewaller is not None else None
        if self.attempts:
            contact.note_success(self.ctx, machine, machine_run.session.hello)

    def _at_rest(self, machine: Machine | None) -> Outcome:
        """Return the outcome when nothing more can be done now."""
        retry, update_status = self._next_dues()
        storage = storage_worker.next_due(self.ctx, machine) if machine is not None else None
        dues = [retry, update_status, storage]
        failures, attempts = list(self._stored), 0
        if self.unguarded is not None:
            failures.append(Problem(self.unguarded.full_text))
        if self.unguarded is not None or self._setbacks:
            again = again_later(self.ctx, self.attempts)
            dues, attempts = [*dues, again.due], again.attempts
        due = min((moment for moment in dues if moment is not None), default=None)
        held, stuck = self._held_by_containers(machine)
        failures += [Problem(held)] if stuck else []
        failures = [*failures, *self._setbacks.values()]
        failures.sort(key=lambda problem: problem.subject is not None)  # those of the machine first
        reason = "" if failures else held or self._waits(machine)
        routine = due is not None and due == update_status
        return Outcome(due=due, attempts=attempts, reason=reason, problems=tuple(failures), routine=routine)

    def _held_by_containers(self, machine: Machine | None) -> tuple[str, bool]:
        """Return the containers for which a dying machine waits, and True when one cannot be removed."""
        if machine is None or machine.life == Life.ALIVE:
            return "", False
        with self.ctx.read(machine.model) as tx:
            return machines.containers_waited_for(tx, machine)

    def _waits(self, machine: Machine | None) -> str:
        """Return what the storage of a machine waits for, or why a machine without units is kept."""
        if machine is None or not machine.storage:
            return ""
        return storage_worker.waits(self.ctx, machine)

    async def _end(self, machine: Machine) -> Outcome:
        """Remove a dying machine without units, or return an outcome with what it waits for."""
        waits = await storage_worker.empty(self.runtime, machine, self._session_of, stays=stays(machine))
        if waits and not machine.forced:
            again = storage_worker.next_due(self.ctx, machine)
            failure = Problem(f"machine {machine.id} has attachments: {'; '.join(waits)}")
            return Outcome(due=again, problems=(failure,))
        await self._tear_down(machine)
        return Outcome()

    async def _session_of(self, machine: Machine) -> MachineSession:
        return (await self._attach(machine)).session

    # --- what must be done --------------------------------------------------------------------------------

    def _machine_ahead(self) -> Machine | None:
        """Return the machine; send what the work will ask, so that few waits serve all of it."""
        with self.ctx.read(self.model) as tx:
            tx.ahead(partial(_questions, self.runtime), self.machine_id, changes=True)
            for seat in machines.seats_on(tx, self.machine_id)[:1]:
                ask_ahead(tx, seat.name)
            return self._found(tx)

    def _machine(self) -> Machine | None:
        with self.ctx.read(self.model) as tx:
            return self._found(tx)

    def _found(self, tx: ModelTx) -> Machine | None:
        found = tx.find(Machine, "machine_get", id=self.machine_id)
        self._known = found or self._known
        return found

    def _seats(self) -> list[Seat]:
        with self.ctx.read(self.model) as tx:
            return machines.seats_on(tx, self.machine_id)

    def _start_given_up(self, machine: Machine) -> bool:
        return self._instance_status(machine) == InstanceStatus.PROVISIONING_ERROR

    def _instance_status(self, machine: Machine) -> str:
        with self.ctx.read(machine.model) as tx:
            found = statuses.get_status(tx, StatusKind.INSTANCE, machine.id)
        return found.status if found is not None else InstanceStatus.PENDING

    def _must_go(self, machine: Machine) -> bool:
        if machine.life == Life.ALIVE or self._seats():
            return False
        with self.ctx.read(self.model) as tx:
            return not machines.containers_on(tx, self.machine_id)

    def _needs_machine(self, machine: Machine) -> bool:
        """Return True when the machine must be reached; no operation is prepared before it answers."""
        if not machine.last_seen or machine.look_again or machine.keys_due:
            return True
        if storage_worker.is_due(self.ctx, machine) or exec_requests.waiting(self.runtime, machine):
            return True
        with self.ctx.read(self.model) as tx:
            if tx.list(Operation, "operation_open", machine=self.machine_id):
                return True
            return commands.are_pending(tx, self.machine_id)

    def _has_work(self, machine: Machine) -> bool:
        """Return True when a unit has something to do; for units without work, this is a complete turn.

        Units of a silent machine claim no leadership before it answers: two silent machines would wake
        each other for ever. Over an open session, the run lets each unit decide that does not rest.
        """
        if self.runtime.is_attached(machine):
            return not all(rests(self.ctx, unit.model, unit.name) for unit in self._seats())
        if machine.unreachable_since is not None:
            with self.ctx.read(self.model) as tx:
                units = machines.units_on(tx, self.machine_id)
                if any(self._wants_to_run(tx, unit) for unit in units):
                    return True
        return any(self._has_turn(unit) for unit in self._seats())

    def _has_turn(self, unit: Seat) -> bool:
        turn = or_failed(ask, changed(self.ctx, store=self._turns), unit)
        if turn.failed:
            self._setbacks[unit.name] = Problem.of(Subject("unit", unit.name), turn.reason)
        if turn.decided is not None:
            self._decided[unit.name] = turn.decided
        return turn.answer in WORK

    def _wants_to_run(self, tx: ModelTx, unit: Unit) -> bool:
        now = self.ctx.clock.now()
        routine = min(now, self.ctx.routine_until or now)
        if any(
            due and due <= limit for due, limit in ((unit.retry_due, now), (unit.update_status_due, routine))
        ):
            return True
        try:
            view = read_view(tx, unit.name)
        except NotValid:
            return False  # its turn reports the error
        if view is None:
            return False
        if reconcile_effects(view.local, view.remote):
            return True
        return decide(view.local, view.remote).answer in WORK

    def _wants_rules(self, machine: Machine) -> bool:
        """Return True when the machine's firewall differs from what the model needs."""
        firewaller = Firewaller.of(self.runtime, machine)
        return firewaller is not None and firewaller.wants_contact()

    def _next_dues(self) -> tuple[datetime | None, datetime | None]:
        """Return when the next retry and the next update-status of the machine's units are due."""
        with self.ctx.read(self.model) as tx:
            row = tx.row("unit_dues", machine=self.machine_id)
        retry, routine = (row["retry"], row["routine"]) if row is not None else (None, None)
        return from_iso(retry) if retry else None, from_iso(routine) if routine else None

    async def _gave_up(self, error: PushjujuError) -> None:
        """Record why the machine could not be used."""
        machine = self._machine()
        if machine is None:
            return
        await self.runtime.drop(machine)
        with self.ctx.write(self.model, whole=True) as tx:
            credential_validity.note(tx, error)
        self._tell(str(error), "failed")
        contact.note_failure(self.ctx, machine, error)

    def _catch_up(self, overtaken: Overtaken) -> Outcome:
        """Skip to a lease above the machine's: this process lost its lease, or the store was restored."""
        now = self.ctx.clock.now()
        if overtaken.lease > lease_at_least(now + timedelta(days=MOST_AHEAD_D)):
            return again_later(self.ctx, self.attempts, Problem(str(overtaken)))
        with self.ctx.store.write() as tx:
            skip_leases(tx, overtaken.lease)
        return Outcome(due=now, attempts=self.attempts + 1, reason=str(overtaken))

    async def _let_go(self) -> None:
        """Close the connection: another process works on the machine now, and the session's facts get old."""
        if self._known is not None:
            await self.runtime.drop(self._known)

    async def _attach(self, machine: Machine) -> MachineRun:
        self._session = session = await contact.attach(self.runtime, machine)
        self.runtime.checkpoint("attached")
        return self.run_type(self.runtime, machine, session)

    # --- the end ------------------------------------------------------------------------------------------

    async def _leave(self, machine: Machine) -> None:
        """Remove pushjuju from a machine that goes on running; a forced removal ignores failures."""
        # A kept machine must be released even when the removal of its last unit has deleted all files.
        if (self.left_nothing and is_manual(machine)) or not machine.last_seen:
            return
        try:
            await (await self._attach(machine)).leave()
        except HeldElsewhere as error:  # the files there are another controller's
            self._tell(f"nothing is changed there: {error}", "failed")
        except PushjujuError as error:
            if not machine.forced:
                raise
            self._tell(f"files of pushjuju stay there: {error}", "failed")

    async def _tear_down(self, machine: Machine) -> None:
        if stays(machine):
            await keywriter.clear(self.runtime, machine)
            await self._leave(machine)
        await self.runtime.drop(machine)
        self._tell("being released" if stays(machine) else "stopping")
        try:
            await provisioner.stop(self.runtime, machine)
        except PushjujuError as error:
            if not machine.forced:
                raise
            self._tell(f"forgotten though it could not be stopped: {error}", "failed")
            hostkeys.forget(self.ctx, machine)
        else:
            await self._sweep_profiles(machine)
        self.runtime.checkpoint("machine-stopped")
        self._remove(machine)

    async def _sweep_profiles(self, machine: Machine) -> None:
        """Delete profiles that no unit uses; those that remain are deleted with the model."""
        try:
            await profiles.sweep(self.runtime, machine)
        except PushjujuError as error:
            self._tell(f"profiles of charms stay on the server: {error}", "failed")

    async def _stop_unrecorded(self, machine: Machine) -> None:
        """Stop an instance that an interrupted start may have made for the machine without recording it."""
        if self._instance_status(machine) == InstanceStatus.PENDING:
            return  # no start was ever begun
        try:
            await provisioner.stop_unrecorded(self.runtime, machine)
        except PushjujuError:
            if not machine.forced:
                raise

    def _remove(self, machine: Machine) -> None:
        with self.ctx.write(machine.model) as tx:
            if machines.units_on(tx, machine.id):
                raise NotValid(f"machine {machine.id} still has units")
            removal.remove_machine(tx, machine)
        self._tell("released" if stays(machine) else "removed", "done")

    # --- helpers ------------------------------------------------------------------------------------------

    def _in(self, seconds: float) -> datetime:
        return self.ctx.clock.now() + timedelta(seconds=seconds)

    def _tell(self, text: str, state: str = "running") -> None:
        self.runtime.tell(Event(entity=f"machine {self.machine_id}", text=text, state=state))
