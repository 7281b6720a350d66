"""One machine's lane: make it, reach it, let its units take their turns, end it. Layer: workers.

A lane runs one operation at a time, and asks each unit anew after every operation. It holds no state of its
own: kill it anywhere, and the next lane goes on from what the store and the machine's journal know.
"""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pushjuju.core.clock import from_iso
from pushjuju.core.errors import NotValid, PushjujuError, RemoteFailed
from pushjuju.core.life import Life
from pushjuju.core.status import InstanceStatus, StatusKind
from pushjuju.runner.session import MachineSession
from pushjuju.services import machines, removal, statuses
from pushjuju.services.context import Context
from pushjuju.state.records import Machine, Operation, Relation, Unit
from pushjuju.uniter.actions import is_unwanted
from pushjuju.uniter.commit import commit, take_events
from pushjuju.uniter.resolver import Answer, decide, reconcile_effects
from pushjuju.uniter.snapshot import look
from pushjuju.uniter.turn import Prepared, prepared_operation, read_operation, take_turn
from pushjuju.workers import commands, contact, live, provisioner
from pushjuju.workers.events import Event
from pushjuju.workers.provisioner import StartFailed, given
from pushjuju.workers.workshop import Workshop

BOOT_WAIT_S = 120.0  # how long a machine that was just made or rebooted may take to answer SSH
BOOT_POLL_S = 0.05
MOST_KILLS = 5  # times in a row that a killed hook is run again at once
FORCED_LOOK_S = 1.0  # how often a lane looks whether the unit of the running hook is still wanted
RETRY_FIRST_S = 5.0
RETRY_MOST_S = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a lane leaves behind.

    Attributes:
        due: When to look again without being touched; None: never.
        attempts: Failures in a row.
        reason: Why it waits, for people.
        failed: It could not do what it should.
    """

    due: datetime | None = None
    attempts: int = 0
    reason: str = ""
    failed: bool = False


def again_later(ctx: Context, attempts: int, reason: str) -> Outcome:
    """Return the outcome of a failure: another try, later each time."""
    delay = timedelta(seconds=min(RETRY_FIRST_S * 2 ** min(attempts, 10), RETRY_MOST_S))
    return Outcome(due=ctx.clock.now() + delay, attempts=attempts + 1, reason=reason, failed=True)


class Lane:
    """The work on one machine, from one claim."""

    def __init__(self, shop: Workshop, model: str, machine_id: str, attempts: int) -> None:
        self.shop = shop
        self.ctx: Context = shop.ctx
        self.model = model
        self.machine_id = machine_id
        self.attempts = attempts
        self.left_nothing = False
        self.kills = 0

    async def work(self) -> Outcome:
        """Do all that is due on the machine; failures come back as reasons."""
        try:
            return await self._work()
        except StartFailed as error:
            self._tell(str(error), "failed")
            due = self._in(error.retry_s) if error.retry_s is not None else None
            return Outcome(due=due, attempts=self.attempts + 1, reason=contact.full_text(error), failed=True)
        except PushjujuError as error:
            await self._gave_up(error)
            return again_later(self.ctx, self.attempts, contact.full_text(error))

    async def _work(self) -> Outcome:
        machine = self._machine()
        if machine is None:
            return Outcome()
        if not machine.instance_id:
            if machine.life != Life.ALIVE:
                self._remove(machine)
                return Outcome()
            if self._start_given_up(machine):
                return Outcome(reason="the machine could not be started; see status")
            machine = await provisioner.start(self.shop, machine)
            self.shop.checkpoint("machine-started")
        if self._must_go(machine):
            await self._tear_down(machine)
            return Outcome()
        if self._needs_machine(machine) or self._settle_units():
            await self._run_units(machine)
        machine = self._machine()
        if machine is not None and self._must_go(machine):
            await self._tear_down(machine)
            return Outcome()
        return Outcome(due=self._next_due())

    # --- what there is to do ------------------------------------------------------------------------------

    def _machine(self) -> Machine | None:
        with self.ctx.store.read() as tx:
            return tx.find(Machine, "machine_get", model=self.model, id=self.machine_id)

    def _units(self) -> list[Unit]:
        with self.ctx.store.read() as tx:
            return machines.units_on(tx, self.model, self.machine_id)

    def _start_given_up(self, machine: Machine) -> bool:
        with self.ctx.store.read() as tx:
            found = statuses.get_status(tx, machine.model, StatusKind.INSTANCE, machine.id)
        return found is not None and found.status == InstanceStatus.PROVISIONING_ERROR

    def _must_go(self, machine: Machine) -> bool:
        return machine.life != Life.ALIVE and not self._units()

    def _needs_machine(self, machine: Machine) -> bool:
        """Tell whether the machine must be reached: nothing is ever prepared before it answers."""
        if not machine.last_seen or self._open_operations():
            return True
        if commands.waiting(self.ctx, self.model, self.machine_id):
            return True
        return any(self._wants_to_run(unit) for unit in self._units())

    def _wants_to_run(self, unit: Unit) -> bool:
        now = self.ctx.clock.now()
        if any(due and from_iso(due) <= now for due in (unit.retry_due, unit.update_status_due)):
            return True
        with self.ctx.store.read() as tx:
            view = look(tx, unit.model, unit.name)
        if view is None:
            return False
        if reconcile_effects(view.local, view.remote):
            return True
        return decide(view.local, view.remote).answer in (Answer.RUN, Answer.RESTART, Answer.DEAD)

    def _open_operations(self) -> list[Operation]:
        with self.ctx.store.read() as tx:
            return tx.list(Operation, "operation_open", model=self.model, machine=self.machine_id)

    def _settle_units(self) -> bool:
        """Let units that have nothing to run report that.

        Returns:
            Whether one has something to run after all: it took a leadership that had become free.
        """
        idle = [unit for unit in self._units() if not self._wants_to_run(unit)]
        turns = [take_turn(self.ctx, unit.model, unit.name) for unit in idle]
        return any(turn.prepared is not None for turn in turns)

    def _next_due(self) -> datetime | None:
        dues = [due for unit in self._units() for due in (unit.retry_due, unit.update_status_due) if due]
        return from_iso(min(dues)) if dues else None

    async def _gave_up(self, error: PushjujuError) -> None:
        """Record why the machine could not be used."""
        machine = self._machine()
        if machine is None:
            return
        await self.shop.drop(machine)
        self._tell(str(error), "failed")
        contact.note_failure(self.ctx, machine, error)

    # --- units --------------------------------------------------------------------------------------------

    async def _run_units(self, machine: Machine) -> None:
        """Run what is due, one operation at a time, until every unit has said that nothing is left."""
        session = await contact.attach(self.shop, machine)
        self.shop.checkpoint("attached")
        session = await self._recover(machine, session)
        await self._sweep(session)
        busy = True
        while busy:
            busy = False
            if prepared := commands.take(self.ctx, machine):
                session = await self._execute(machine, session, prepared)
                busy = True
            for unit in self._units():
                turn = take_turn(self.ctx, unit.model, unit.name)
                if turn.prepared is not None:
                    boot_id = session.hello["boot_id"]
                    session = await self._execute(machine, session, turn.prepared)
                    if session.hello["boot_id"] != boot_id:
                        contact.note_facts(self.ctx, machine, session.hello)
                    busy = True
                elif turn.answer is Answer.DEAD:
                    busy |= await self._bury(machine, session, unit)

    async def _recover(self, machine: Machine, session: MachineSession) -> MachineSession:
        """Finish what an earlier controller began: each operation has its id, so it runs once."""
        await self._acknowledge(session)
        for operation in self._open_operations():
            prepared = self._prepared_again(operation)
            if prepared is None:
                commit(self.ctx, operation.id, {"outcome": "gone"})
            elif self._is_overtaken(session, operation):
                commit(self.ctx, operation.id, {"outcome": "terminated"})  # it decides anew
            elif operation.name == "reboot":
                session = await self._reboot(machine, session, operation.id)
            else:
                session = await self._execute(machine, session, prepared)
        return session

    def _is_overtaken(self, session: MachineSession, operation: Operation) -> bool:
        """Tell whether a hook that the machine never heard of is about a relation that is gone by now."""
        if not operation.unit or any(item["id"] == operation.id for item in session.hello["journal"]):
            return False
        hook = read_operation(operation.document).hook
        if hook is None or hook.relation_id is None:
            return False
        with self.ctx.store.read() as tx:
            return tx.find(Relation, "relation_get", model=self.model, id=hook.relation_id) is None

    async def _acknowledge(self, session: MachineSession) -> None:
        """Let the machine forget what is committed, and end what nobody waits for any more."""
        for item in session.hello.get("journal", []):
            if self._is_committed(item["id"]):
                if not item["done"]:
                    await self._cancel(session, item["id"])  # its unit was removed by force
                await session.ack(item["id"])

    async def _cancel(self, session: MachineSession, operation_id: str) -> None:
        await session.cancel(operation_id)
        await session.fetch(operation_id)

    def _is_committed(self, operation_id: str) -> bool:
        with self.ctx.store.read() as tx:
            found = tx.find(Operation, "operation_get", id=operation_id)
        return found is None or found.state != "prepared"

    def _is_unwanted(self, operation_id: str) -> bool:
        """Tell whether the unit of a running operation is gone, or its task was cancelled."""
        with self.ctx.store.read() as tx:
            found = tx.find(Operation, "operation_get", id=operation_id)
            return found is None or found.state != "prepared" or is_unwanted(tx, found)

    def _prepared_again(self, operation: Operation) -> Prepared | None:
        if operation.name == commands.TITLE and not operation.unit:
            return commands.again(self.ctx, operation)
        if not operation.unit:
            return Prepared(id=operation.id, unit="", title=operation.name, frame={})
        with self.ctx.store.read() as tx:
            view = look(tx, operation.model, operation.unit)
            if view is None:
                return None
            return prepared_operation(tx, view, read_operation(operation.document), operation.id)

    async def _execute(self, machine: Machine, session: MachineSession, prepared: Prepared) -> MachineSession:
        """Run an operation on the machine and take its result in."""
        self._tell_unit(prepared, "running", "running")
        self.shop.checkpoint("prepared")
        if prepared.blob:
            await session.put_blob(prepared.blob, self.ctx.controller.blobs.path(prepared.blob))
            self.shop.checkpoint("charm-pushed")
        result = await self._run(session, prepared)
        self.shop.checkpoint("result")
        done = commit(self.ctx, prepared.id, result)
        self.shop.checkpoint("committed")
        await session.ack(prepared.id)
        self.shop.checkpoint("acknowledged")
        self._tell_unit(
            prepared, "done" if done.ok else f"failed: {done.message}", "done" if done.ok else "failed"
        )
        if done.reboot:
            return await self._reboot(machine, session, done.reboot)
        self.kills = self.kills + 1 if done.killed else 0
        if self.kills == MOST_KILLS:
            what = f"unit {prepared.unit}: {prepared.title}"
            raise RemoteFailed(f"{what} was killed {self.kills} times in a row")
        if done.again_later:
            raise RemoteFailed(f"unit {prepared.unit}: {prepared.title}: {done.message}")
        return session

    async def _run(self, session: MachineSession, prepared: Prepared) -> dict[str, Any]:
        """Wait for an operation's result; end the operation when its unit or task is not wanted any more."""
        sink = _EventSink(self.ctx, prepared.id)
        answering = self._answering(prepared.unit)
        running = asyncio.create_task(session.run(prepared.frame, sink.take, answering), name=prepared.title)
        try:
            while not (await asyncio.wait({running}, timeout=FORCED_LOOK_S))[0]:
                if self._is_unwanted(prepared.id):
                    await session.cancel(prepared.id)
            return running.result()
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            sink.close()

    def _answering(self, unit: str) -> Any:
        async def on_live(call: dict[str, Any]) -> live.LiveAnswer:
            return live.answer(self.ctx, self.model, unit, call["tool"], call["argv"])

        return on_live

    async def _reboot(self, machine: Machine, session: MachineSession, operation_id: str) -> MachineSession:
        """Reboot the machine and attach again when it is back; once per request, whatever dies."""
        self._tell("rebooting")
        with self.ctx.store.read() as tx:
            found = tx.get(Operation, "operation_get", f"operation {operation_id} not found", id=operation_id)
        boot_id = str(found.document["boot_id"])
        self.shop.checkpoint("rebooting")
        if session.hello["boot_id"] == boot_id:
            frame = {"t": "op", "id": operation_id, "kind": "reboot", "if_boot_id": boot_id}
            await session.run(frame)
            session = await contact.come_back(self.shop, machine, boot_id)
        commit(self.ctx, operation_id, {"outcome": "ok"})
        return session

    async def _bury(self, machine: Machine, session: MachineSession, unit: Unit) -> bool:
        """Take a finished unit's files from the machine and its record from the model."""
        with self.ctx.store.read() as tx:
            if removal.subordinates(tx, unit):
                return False
        others = [other for other in self._units() if other.name != unit.name]
        if others or _stays(machine):
            await self._remove_files(session, unit.name, last=not others)
        self.shop.checkpoint("files-removed")
        with self.ctx.store.write() as tx:
            removal.remove_unit(tx, unit, self.ctx.clock.now())
        self.shop.tell(Event(entity=unit.name, text="removed", state="done"))
        return True

    async def _remove_files(self, session: MachineSession, unit: str, *, last: bool) -> None:
        """Take a unit's files from the machine; with the last one all of ours goes."""
        operation_id = str(uuid.uuid4())
        frame = {"t": "op", "id": operation_id, "kind": "remove-unit", "unit": unit, "last": last}
        result = await session.run(frame)
        if result["outcome"] not in ("ok", "missing"):
            what = f"files of unit {unit}" if unit else "our files"
            raise RemoteFailed(f"{what} could not be removed: {result.get('message', '')}")
        await session.ack(operation_id)
        self.left_nothing = last

    async def _sweep(self, session: MachineSession) -> None:
        """Take away files of units that were removed by force while the machine could not be asked."""
        known = {unit.name for unit in self._units()}
        for name in session.hello.get("units", []):
            if name not in known:
                await self._remove_files(session, name, last=False)

    # --- the end ------------------------------------------------------------------------------------------

    async def _leave(self, machine: Machine) -> None:
        """Leave nothing on a machine that goes on without us; one that is forced away may be silent."""
        if self.left_nothing or not machine.last_seen:
            return
        try:
            session = await contact.attach(self.shop, machine)
            await self._acknowledge(session)
            await self._sweep(session)
            await self._remove_files(session, "", last=True)
        except PushjujuError as error:
            if not machine.forced:
                raise
            self._tell(f"files of ours stay there: {error}", "failed")

    async def _tear_down(self, machine: Machine) -> None:
        if _stays(machine):
            await self._leave(machine)
        await self.shop.drop(machine)
        self._tell("stopping")
        try:
            await provisioner.stop(self.shop, machine)
        except PushjujuError as error:
            if not machine.forced:
                raise
            self._tell(f"forgotten though it could not be stopped: {error}", "failed")
        self.shop.checkpoint("machine-stopped")
        self._remove(machine)

    def _remove(self, machine: Machine) -> None:
        with self.ctx.store.write() as tx:
            if machines.units_on(tx, machine.model, machine.id):
                raise NotValid(f"machine {machine.id} still has units")
            removal.remove_machine(tx, machine, self.ctx.clock.now())
        self._tell("removed", "done")

    # --- telling ------------------------------------------------------------------------------------------

    def _in(self, seconds: float) -> datetime:
        return self.ctx.clock.now() + timedelta(seconds=seconds)

    def _tell(self, text: str, state: str = "running") -> None:
        self.shop.tell(Event(entity=f"machine {self.machine_id}", text=text, state=state))

    def _tell_unit(self, prepared: Prepared, text: str, state: str) -> None:
        self.shop.tell(
            Event(
                entity=prepared.unit or f"machine {self.machine_id}",
                text=f"{prepared.title}: {text}",
                state=state,
            )
        )


class _EventSink:
    """Takes the events of one operation into the model, those of one turn of the loop in one transaction."""

    def __init__(self, ctx: Context, operation_id: str) -> None:
        self._ctx = ctx
        self._id = operation_id
        self._waiting: list[tuple[int, dict[str, Any]]] = []
        self._handle: asyncio.Handle | None = None

    def take(self, number: int, event: dict[str, Any]) -> None:
        """Take one event."""
        self._waiting.append((number, event))
        if self._handle is None:
            self._handle = asyncio.get_running_loop().call_soon(self._flush)

    def _flush(self) -> None:
        self._handle = None
        events, self._waiting = self._waiting, []
        take_events(self._ctx, self._id, events)

    def close(self) -> None:
        """Leave the rest to the commit: the result holds every event."""
        if self._handle is not None:
            self._handle.cancel()


def _stays(machine: Machine) -> bool:
    """Tell whether a machine goes on when it is no longer ours."""
    return given(machine) or bool(machine.keep_instance)
