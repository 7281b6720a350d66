"""Predicts what the work in the queue would do now: everything is real except the machines.

Only for a copy of the store. Units take their real turns, and each operation is committed as a success that
wrote nothing, which is all that can be known beforehand; other effects are reported as unknown.
"""

from __future__ import annotations

from dataclasses import field

from pushjuju.core.clock import to_iso
from pushjuju.core.errors import NotValid, PushjujuError
from pushjuju.core.model.tasks import EXEC, Receiver, TaskStatus
from pushjuju.core.status import Agent, Life, StatusKind
from pushjuju.core.values import dataclass
from pushjuju.plugins.api.storage_types import StorageMade, StorageSeen
from pushjuju.services.entities.action import actions
from pushjuju.services.entities.basis import statuses, wake
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.charm import charm_profiles
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import models
from pushjuju.services.entities.storage import storage_work
from pushjuju.services.entities.storage.storage_work import Step as StorageStep
from pushjuju.services.entities.storage.storage_work import Todo
from pushjuju.services.lifecycle import removal
from pushjuju.services.lifecycle.forced_ends import ends_ahead, forced_subject
from pushjuju.store.rows.records import Machine, Model, Operation, Unit
from pushjuju.store.tx import ModelTx
from pushjuju.uniter.action_runs import task_number
from pushjuju.uniter.commit import commit
from pushjuju.uniter.decide.decision import Answer, OperationName
from pushjuju.uniter.decide.state import HookKind
from pushjuju.uniter.dispatch import read_operation
from pushjuju.uniter.turn import Turn, take_turn
from pushjuju.workers.loops.cleaner import force, forced_ends

MOST_HOOKS = 2000
_TELLS = (HookKind.RELATION_CREATED, HookKind.RELATION_JOINED, HookKind.RELATION_CHANGED)
_DONE = {"outcome": "ok", "exit": 0, "via": "hook", "message": "", "writes": {}, "events": []}


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """An operation that would run on a machine."""

    model: str
    machine: str
    unit: str  # name of the unit, or "" for commands on the machine itself
    title: str
    kind: str  # `hook`, `charm` (the charm is unpacked), `action` or `commands`
    under_way: bool = False  # True when the operation runs now, whatever is planned
    parallel: bool = False  # True when the operation holds no lock of the machine


@dataclass(slots=True)
class Rehearsal:
    """The foreseen operations in one possible order; those of each unit are in their real order.

    Attributes:
        unknown: Effects that cannot be foreseen, one sentence each.
        blocked: Entities that would remain of models that are removed, and why, one sentence each.
    """

    steps: list[Foreseen] = field(default_factory=list)
    unknown: dict[str, None] = field(default_factory=dict)  # used as a set that keeps its order
    blocked: list[str] = field(default_factory=list)

    def cannot_know(self, text: str) -> None:
        """Record a sentence about an unknown effect, once."""
        self.unknown[text] = None


def rehearse(ctx: Context) -> Rehearsal:
    """Do all work that is due in a copy of a store, and return the predicted operations."""
    ctx.store.throw_away()
    ctx.store.remember()
    found = Rehearsal()
    while len(found.steps) < MOST_HOOKS:
        now = ctx.clock.now()
        with ctx.store.write() as tx:
            keys = sorted(row["key"] for row in tx.rows("work_take_due", now=now))
        if not keys and not _force_next(ctx, found):
            found.blocked = blockers(ctx)
            return found
        for key in sorted(keys, key=_loops_first):
            model, kind, name = key.split("/", 2)
            if kind == "machine":
                _MachineRehearsal(ctx, found, model, name).work()
            else:
                _loops(ctx, found, model)
    found.cannot_know(f"what follows after the first {MOST_HOOKS} hooks")
    return found


def _loops_first(key: str) -> tuple[bool, str]:
    """Return a sort key that puts the loops of models, which run forced removals, before machines."""
    return ("/machine/" in key, key)


def _force_next(ctx: Context, found: Rehearsal) -> bool:
    """Force the removal that is due to be forced next; return False when there is no such removal."""
    with ctx.store.write() as tx:
        uuids = [model.uuid for model in tx.list(Model, "model_list")]
        ends = [end for uuid in uuids for end in ends_ahead(ctx.of(tx, uuid))]
        if not ends:
            return False
        first = min(ends, key=lambda end: end.due)
        subject = forced_subject(first.kind, first.entity)
        found.cannot_know(f"whether {subject} goes by itself before it is forced away at {to_iso(first.due)}")
        of = ctx.of(tx, first.model)
        force(of, first)
        wake.cleaner(of, ctx.clock.now(), "forced away")
    return True


def blockers(ctx: Context) -> list[str]:
    """Return what remains of models that are being removed, with the reasons."""
    with ctx.store.read() as tx:
        going = [model for model in tx.list(Model, "model_list") if model.life != Life.ALIVE]
        return [
            f"model {model.name}: {why}"
            for model in going
            for why in removal.blockers(ctx.of(tx, model.uuid))
        ]


def _loops(ctx: Context, found: Rehearsal, model: str) -> None:
    """Do the work of the model's own loops for removals."""
    with ctx.read(model) as tx:
        for end in ends_ahead(tx):
            if end.kind == removal.FORCE_UNIT and end.due <= ctx.clock.now():
                found.cannot_know(f"which hooks {end.entity} still runs: it is forced away at once")
    forced_ends(ctx, model)
    with ctx.write(model) as tx:
        for todo in list(storage_work.on_no_machine(tx)):
            storage_work.destroyed(tx, todo.backing)
        removal.finish_applications(tx)
        present = tx.find(Model, "model_by_uuid", uuid=model)
        if present is not None and present.life != Life.ALIVE and not removal.blockers(tx):
            models.delete(tx)


class _MachineRehearsal:
    """The work of one machine's worker, without the machine."""

    def __init__(self, ctx: Context, found: Rehearsal, model: str, machine: str) -> None:
        self.ctx = ctx
        self.found = found
        self.model = model
        self.machine = machine

    def work(self) -> None:
        """Let the units take their turns until all are at rest; remove a dying machine without units."""
        row = self._row()
        if row is None:
            return
        if not row.instance_id and row.life == Life.ALIVE:
            self.found.cannot_know(f"the addresses of machine {row.id}, which has to be made or added first")
        with self.ctx.write(row.model) as tx:
            charm_profiles.take_as_applied(tx, row)
        self._finish_open()
        self._commands()
        self._storage(row)
        while self._round() and len(self.found.steps) < MOST_HOOKS:
            pass
        self._storage(row)
        self._end()

    def _row(self) -> Machine | None:
        with self.ctx.read(self.model) as tx:
            return tx.find(Machine, "machine_get", id=self.machine)

    def _units(self) -> list[Unit]:
        with self.ctx.read(self.model) as tx:
            return machines.units_on(tx, self.machine)

    def _finish_open(self) -> None:
        """Commit the operations that run at this moment, as successes."""
        with self.ctx.read(self.model) as tx:
            rows = tx.list(Operation, "operation_open", machine=self.machine)
        for row in rows:
            if row.unit:
                self._commit(row.id, row.unit, row.name, under_way=True)

    def _commands(self) -> None:
        """Commit the commands on the machine itself, as successes."""
        with self.ctx.write(self.model) as tx:
            if not tx.find(Machine, "machine_get", id=self.machine):
                return
            for task in actions.pending(tx, Receiver.MACHINE, self.machine):
                done = TaskStatus.COMPLETED
                actions.finish(tx, task.id, done)
                self._foresee("", EXEC, "commands", parallel=task.parallel)
                self.found.cannot_know("what the commands do")

    def _foresee(
        self, unit: str, title: str, kind: str, *, under_way: bool = False, parallel: bool = False
    ) -> None:
        self.found.steps.append(
            Foreseen(
                model=self.model, machine=self.machine, unit=unit, title=title, kind=kind,
                under_way=under_way, parallel=parallel,
            )
        )  # fmt: skip

    def _round(self) -> bool:
        """Let each unit take one turn; return True when a unit did something."""
        turns = [self._turn(unit) for unit in self._units()]
        return any(turns)

    def _turn(self, unit: Unit) -> bool:
        try:
            turn = take_turn(self.ctx, self.model, unit.name)
        except PushjujuError as error:
            self.found.cannot_know(f"what {unit.name} does: {error.message}")
            return False
        if turn.dispatch is not None:
            return self._commit(turn.dispatch.id, unit.name, turn.dispatch.title)
        if turn.answer is Answer.DEAD:
            return self._bury(unit)
        self._at_rest(unit, turn)
        return False

    def _commit(self, operation_id: str, unit: str, title: str, *, under_way: bool = False) -> bool:
        """Commit an operation as a success that wrote nothing."""
        with self.ctx.store.read() as tx:
            row = tx.get(Operation, "operation_get", "the operation is gone", id=operation_id)
        kind, parallel = self._note(row)
        done = commit(self.ctx, operation_id, {"t": "result", "id": operation_id, **_DONE})
        self._foresee(unit, title, kind, under_way=under_way, parallel=parallel)
        if not done.ok:
            self.found.cannot_know(f"what follows {title} of {unit}: {done.message}")
        return done.ok

    def _note(self, row: Operation) -> tuple[str, bool]:
        """Record what the outcome of an operation leaves unknown; return its kind, and True when parallel."""
        operation = read_operation(row.document)
        match operation.name:
            case OperationName.INSTALL | OperationName.UPGRADE:
                return "charm", False
            case OperationName.RUN_ACTION:
                return self._note_task(row, parallel=not operation.lock)
            case OperationName.RUN_COMMANDS:
                return "commands", False
        hook = operation.hook
        if hook is not None and hook.kind in _TELLS and hook.relation_id is not None:
            self.found.cannot_know(
                f"what units tell each other in relation {hook.relation_id} ({operation.endpoint}): "
                "each change runs relation-changed on the other side"
            )
        return "hook", False

    def _note_task(self, row: Operation, *, parallel: bool) -> tuple[str, bool]:
        with self.ctx.read(row.model) as tx:
            task = actions.get_task(tx, int(task_number(row) or 0))
        if task.action == EXEC:
            self.found.cannot_know("what the commands do")
            return "commands", parallel
        self.found.cannot_know(f"what the action {task.action} does: only its charm defines that")
        return "action", parallel

    def _bury(self, unit: Unit) -> bool:
        with self.ctx.write(unit.model) as tx:
            if removal.lives_of_subordinates(tx, unit.name):
                return False
            removal.remove_unit(tx, unit)
        return True

    def _at_rest(self, unit: Unit, turn: Turn) -> None:
        """Record why a unit stops, unless it is idle."""
        with self.ctx.read(unit.model) as tx:
            agent = statuses.get_status(tx, StatusKind.AGENT, unit.name)
        if turn.answer is Answer.WAITING or (agent is not None and agent.status == Agent.ERROR):
            self.found.cannot_know(f"what {unit.name} does next: {turn.reason}")

    # --- storage and the end ------------------------------------------------------------------------------

    def _storage(self, row: Machine) -> None:
        """Commit each step for storage as done."""
        for _ in range(MOST_HOOKS):
            with self.ctx.write(self.model) as tx:
                present = tx.find(Machine, "machine_get", id=self.machine)
                todos = storage_work.on_machine(tx, present) if present is not None else []
                if not todos:
                    return
                self._step(tx, row, todos[0])

    def _step(self, tx: ModelTx, row: Machine, todo: Todo) -> None:
        backing, host, _now = todo.backing, todo.host, self.ctx.clock.now()
        match todo.step:
            case StorageStep.CREATE:
                self.found.cannot_know(f"whether {storage_work.label(backing)} can be made")
                made = StorageMade(provider_id=f"planned-{backing.id}", size=backing.size)
                storage_work.created(tx, backing, made)
            case StorageStep.ATTACH if host is not None:
                storage_work.seen(tx, host, StorageSeen(device="planned"))
                storage_work.attached(tx, backing, host, row.boot_id)
            case StorageStep.DETACH if host is not None:
                storage_work.detached(tx, backing, host)
            case StorageStep.DESTROY:
                storage_work.destroyed(tx, backing)
            case _:
                raise NotValid(f"storage step {todo.step} without a machine")

    def _end(self) -> None:
        row = self._row()
        if row is None or row.life == Life.ALIVE or self._units():
            return
        with self.ctx.write(row.model) as tx:
            removal.remove_machine(tx, row)
