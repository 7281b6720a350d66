"""One machine's worker: make it, reach it, let its units take their turns, end it.

A worker holds no state of its own: kill it anywhere, and the next worker goes on from what the store and the
machine's journal know.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta

from pushjuju.core.errors import (
    HeldElsewhere,
    LeaseLost,
    NotValid,
    Overtaken,
    PushjujuError,
    StoreError,
    TransportError,
)
from pushjuju.core.model.life import Life
from pushjuju.core.names import parent_machine
from pushjuju.core.problems import Problem, Subject
from pushjuju.core.status import InstanceStatus, StatusKind
from pushjuju.runner.session import MachineSession
from pushjuju.services.entities.basis import statuses
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import credential_validity, machines
from pushjuju.services.lifecycle import removal
from pushjuju.store.queue import lease_at_least, skip_leases
from pushjuju.store.rows.records import Machine, Operation, Seat, Unit
from pushjuju.store.tx import ModelTx
from pushjuju.uniter.decide.loop import decide
from pushjuju.uniter.decide.reconcile import reconcile_effects
from pushjuju.uniter.input.snapshot import read_view
from pushjuju.uniter.turn import WORK, Decided, ask
from pushjuju.workers.events import Event
from pushjuju.workers.machine import commands, contact, exec_requests, keywriter, profiles, storage_worker
from pushjuju.workers.machine.firewaller import Firewaller
from pushjuju.workers.machine.machine_run import MachineRun, or_failed, stays
from pushjuju.workers.outcome import Outcome, of_unit, problem_of
from pushjuju.workers.provision import hostkeys, installing, provisioner
from pushjuju.workers.provision.provisioner import StartFailed, is_manual
from pushjuju.workers.runtime import Runtime

RETRY_FIRST_S = 5.0
RETRY_MOST_S = 300.0
MOST_AHEAD_D = 3650.0  # days that a lease may be ahead; a machine that claims more has made it up


def again_later(ctx: Context, attempts: int, *problems: Problem) -> Outcome:
    """Return the outcome of a failure: another try, later each time."""
    delay = timedelta(seconds=min(RETRY_FIRST_S * 2 ** min(attempts, 10), RETRY_MOST_S))
    return Outcome(due=ctx.clock.now() + delay, attempts=attempts + 1, problems=problems)


class MachineWorker:
    """The work on one machine, from one claim."""

    visit_type: type[MachineRun] = MachineRun

    def __init__(self, runtime: Runtime, model: str, machine_id: str, attempts: int) -> None:
        self.runtime = runtime
        self.ctx: Context = runtime.ctx
        self.model = model
        self.machine_id = machine_id
        self.attempts = attempts
        self.left_nothing = False
        self._stored: list[Problem] = []  # what could not be done for storage
        self._decided: dict[str, Decided] = {}  # unit -> what it has to do, for the run
        self._setbacks: dict[str, Problem] = {}  # unit, or `profiles` with whose -> what is tried again later
        self.unguarded: PushjujuError | None = None  # why the machine's firewall is not in force

    async def work(self) -> Outcome:
        """Do all that is due on the machine; failures come back as reasons."""
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
            return self._catch_up(overtaken)
        except StoreError as error:  # the machine is not to blame
            await self._let_go()  # it may keep what is committed and not acknowledged
            return again_later(self.ctx, self.attempts, Problem(str(error)))
        except PushjujuError as error:
            await self._gave_up(error)
            later = again_later(self.ctx, self.attempts, problem_of(error))
            if isinstance(error, TransportError) and await self._was_stopped():
                return replace(later, due=self.ctx.clock.now())  # the next contact starts it
            return later

    async def _was_stopped(self) -> bool:
        """Return True when the machine stopped during the work; one that stops each time rests in between."""
        machine = self._machine()
        return machine is not None and not self.attempts and await contact.can_resume(self.runtime, machine)

    async def _work(self) -> Outcome:
        machine = self._machine()
        if machine is None:
            return Outcome()
        if not machine.instance_id:
            # A start that was cut off may have left an instance without a record of it.
            if machine.life != Life.ALIVE:
                await self._stop_unrecorded(machine)
                self._remove(machine)
                return Outcome()
            # After a refused start only `retry-provisioning` lets the worker try again.
            if self._start_given_up(machine):
                return Outcome(reason="the machine could not be started; see status")
            if host := self._awaited_host(machine):
                return Outcome(reason=f"waits for machine {host}")  # which touches it when it answers
            machine = await provisioner.start(self.runtime, machine)
            self.runtime.checkpoint("machine-started")
        # Another system may answer SSH while a cloud installs the machine: see `installing`.
        if not machine.last_seen and not self._must_go(machine):
            machine = await installing.wait(self.runtime, machine)
        if self._must_go(machine):
            return await self._end(machine)
        # Before the units run: an LXD profile must be there when the install hook needs it.
        applied = await self._apply_profiles(machine)
        if self._needs_machine(machine) or self._has_work(machine) or self._wants_rules(machine):
            await self._use(machine)
            # A unit may have been placed, or a charm refreshed, while the others ran.
            while applied and (present := self._machine()) and profiles.lacking(self.runtime, present):
                if applied := await self._apply_profiles(present):
                    await self._use(present)
        machine = self._machine()
        if machine is not None and applied and not self._must_go(machine):
            await self._apply_profiles(machine)  # without those of units that are gone
        if machine is not None and self._must_go(machine):
            return await self._end(machine)
        return self._at_rest(machine)

    async def _apply_profiles(self, machine: Machine) -> bool:
        """Let a machine have its profiles; where it cannot, only the charms that need them wait."""
        try:
            await profiles.apply(self.runtime, machine)
        except profiles.ProfilesFailed as error:
            self._tell(str(error), "failed")
            lacking = profiles.lacking(self.runtime, machine)
            waiting = [seat.name for seat in self._seats() if seat.name.partition("/")[0] in lacking]
            self._setbacks |= {f"profiles of {unit}": of_unit(unit, error) for unit in waiting}
            if not waiting:  # a profile stays that nobody wants any more
                self._setbacks["profiles"] = problem_of(error)
            return False
        return True

    async def _use(self, machine: Machine) -> None:
        """Reach the machine and do what is due on it."""
        machine_run = await self._visit(machine)
        if machine.keys_due:
            await keywriter.write(self.runtime, machine, machine_run.session)
        self._stored = await storage_worker.on_visit(self.runtime, machine, machine_run.session)
        machine_run.decided, self._decided = self._decided, {}
        await machine_run.work()
        self._stored += machine_run.storage_problems
        self._setbacks |= machine_run.setbacks
        self.left_nothing = machine_run.left_nothing
        self.unguarded = machine_run.firewaller.problem if machine_run.firewaller is not None else None
        if self.attempts:
            contact.note_success(self.ctx, machine, machine_run.session.hello)

    def _at_rest(self, machine: Machine | None) -> Outcome:
        """Return what is left behind when nothing more can be done now."""
        dues = [self._next_due(), storage_worker.next_due(self.ctx, machine) if machine is not None else None]
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
        failures.sort(key=lambda problem: problem.subject is not None)  # the machine's own come first
        reason = "" if failures else held or self._waits(machine)
        routine = due is not None and due == self._next_update_status()
        return Outcome(due=due, attempts=attempts, reason=reason, problems=tuple(failures), routine=routine)

    def _held_by_containers(self, machine: Machine | None) -> tuple[str, bool]:
        """Return which containers a machine that is to go waits for, and whether one of them cannot go."""
        if machine is None or machine.life == Life.ALIVE:
            return "", False
        with self.ctx.read(machine.model) as tx:
            return machines.containers_waited_for(tx, machine)

    def _waits(self, machine: Machine | None) -> str:
        """Return what the storage of a machine waits for, or why one without units is still there."""
        if machine is None or not machine.storage:
            return ""
        return storage_worker.waits(self.ctx, machine)

    async def _end(self, machine: Machine) -> Outcome:
        """End a machine that nothing holds any more; else tell what it waits for."""
        waits = await storage_worker.empty(self.runtime, machine, self._session_of, stays=stays(machine))
        if waits and not machine.forced:
            again = storage_worker.next_due(self.ctx, machine)
            failure = Problem(f"machine {machine.id} has attachments: {'; '.join(waits)}")
            return Outcome(due=again, problems=(failure,))
        await self._tear_down(machine)
        return Outcome()

    async def _session_of(self, machine: Machine) -> MachineSession:
        return (await self._visit(machine)).session

    # --- what there is to do ------------------------------------------------------------------------------

    def _machine(self) -> Machine | None:
        with self.ctx.read(self.model) as tx:
            return tx.find(Machine, "machine_get", id=self.machine_id)

    def _seats(self) -> list[Seat]:
        with self.ctx.read(self.model) as tx:
            return machines.seats_on(tx, self.machine_id)

    def _start_given_up(self, machine: Machine) -> bool:
        return self._instance_status(machine) == InstanceStatus.PROVISIONING_ERROR

    def _instance_status(self, machine: Machine) -> str:
        with self.ctx.read(machine.model) as tx:
            found = statuses.get_status(tx, StatusKind.INSTANCE, machine.id)
        return found.status if found is not None else InstanceStatus.PENDING

    def _awaited_host(self, machine: Machine) -> str:
        """Return the host of a container when it never answered yet."""
        host = parent_machine(machine.id)
        if host is None:
            return ""
        with self.ctx.read(self.model) as tx:
            return "" if machines.get(tx, host).last_seen else host

    def _must_go(self, machine: Machine) -> bool:
        if machine.life == Life.ALIVE or self._seats():
            return False
        with self.ctx.read(self.model) as tx:
            return not machines.containers_on(tx, self.machine_id)

    def _needs_machine(self, machine: Machine) -> bool:
        """Return True when the machine must be reached: no operation is prepared before the machine answers.

        A machine with an open session is run at once: its run asks each unit, which need not be asked here as
        well.
        """
        if (
            not machine.last_seen
            or machine.look_again
            or machine.keys_due
            or self.runtime.is_attached(machine)
        ):
            return True
        if self._open_operations():
            return True
        if storage_worker.is_due(self.ctx, machine):
            return True
        return bool(
            commands.waiting(self.ctx, self.model, self.machine_id)
            or exec_requests.waiting(self.runtime, machine)
        )

    def _has_work(self, machine: Machine) -> bool:
        """Return True when a unit has something to do; units that have nothing to do take their turns.

        Units of a machine that was silent claim no leadership before the machine answers: two such machines
        would wake each other for ever.
        """
        if machine.unreachable_since is not None:
            with self.ctx.read(self.model) as tx:
                units = machines.units_on(tx, self.machine_id)
                if any(self._wants_to_run(tx, unit) for unit in units):
                    return True
        return any(self._has_turn(unit) for unit in self._seats())

    def _has_turn(self, unit: Seat) -> bool:
        turn = or_failed(ask, self.ctx, unit)
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
            return False  # its turn says so
        if view is None:
            return False
        if reconcile_effects(view.local, view.remote):
            return True
        return decide(view.local, view.remote).answer in WORK

    def _wants_rules(self, machine: Machine) -> bool:
        """Return True when the machine's firewall differs from what the model needs."""
        firewaller = Firewaller.of(self.runtime, machine)
        return firewaller is not None and firewaller.wants_contact()

    def _open_operations(self) -> list[Operation]:
        with self.ctx.read(self.model) as tx:
            return tx.list(Operation, "operation_open", machine=self.machine_id)

    def _next_due(self) -> datetime | None:
        with self.ctx.read(self.model) as tx:
            units = machines.units_on(tx, self.machine_id)
        dues = [due for unit in units for due in (unit.retry_due, unit.update_status_due) if due]
        return min(dues, default=None)

    def _next_update_status(self) -> datetime | None:
        with self.ctx.read(self.model) as tx:
            units = machines.units_on(tx, self.machine_id)
        dues = [unit.update_status_due for unit in units if unit.update_status_due]
        return min(dues, default=None)

    async def _gave_up(self, error: PushjujuError) -> None:
        """Record why the machine could not be used."""
        machine = self._machine()
        if machine is None:
            return
        await self.runtime.drop(machine)
        with self.ctx.write(self.model) as tx:
            credential_validity.note(tx, error)
        self._tell(str(error), "failed")
        contact.note_failure(self.ctx, machine, error)

    def _catch_up(self, overtaken: Overtaken) -> Outcome:
        """Draw a lease later than any that the machine knows: this one is lost, or the store was restored."""
        now = self.ctx.clock.now()
        if overtaken.lease > lease_at_least(now + timedelta(days=MOST_AHEAD_D)):
            return again_later(self.ctx, self.attempts, Problem(str(overtaken)))
        with self.ctx.store.write() as tx:
            skip_leases(tx, overtaken.lease)
        return Outcome(due=now, attempts=self.attempts + 1, reason=str(overtaken))

    async def _let_go(self) -> None:
        """Close the connection: another process answers the machine, and what it told us gets old."""
        machine = self._machine()
        if machine is not None:
            await self.runtime.drop(machine)

    async def _visit(self, machine: Machine) -> MachineRun:
        session = await contact.attach(self.runtime, machine)
        self.runtime.checkpoint("attached")
        return self.visit_type(self.runtime, machine, session)

    # --- the end ------------------------------------------------------------------------------------------

    async def _leave(self, machine: Machine) -> None:
        """Leave nothing on a machine that goes on without us; one that is forced away may be silent."""
        # One of ours that is kept is let go even when its last unit took all files with it.
        if (self.left_nothing and is_manual(machine)) or not machine.last_seen:
            return
        try:
            await (await self._visit(machine)).leave()
        except HeldElsewhere as error:  # whatever is there is not ours
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
        """Delete profiles that are no longer used; what remains is deleted with the model at the latest."""
        try:
            await profiles.sweep(self.runtime, machine)
        except PushjujuError as error:
            self._tell(f"profiles of charms stay on the server: {error}", "failed")

    async def _stop_unrecorded(self, machine: Machine) -> None:
        """End what was made for a machine by a process that died before it could record it."""
        if self._instance_status(machine) == InstanceStatus.PENDING:
            return  # nobody ever began
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

    # --- telling ------------------------------------------------------------------------------------------

    def _in(self, seconds: float) -> datetime:
        return self.ctx.clock.now() + timedelta(seconds=seconds)

    def _tell(self, text: str, state: str = "running") -> None:
        self.runtime.tell(Event(entity=f"machine {self.machine_id}", text=text, state=state))
