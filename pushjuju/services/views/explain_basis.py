"""The facts of a model that `explain` needs, read in one transaction."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from pushjuju.core.clock import from_iso
from pushjuju.core.status import Agent, InstanceStatus, StatusInfo, StatusKind
from pushjuju.core.values import dataclass
from pushjuju.services.entities.basis import statuses
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine.machine_work import UNUSABLE, Hands, hands
from pushjuju.services.entities.machine.machines import STOPPED, stopped
from pushjuju.services.entities.model import models, pools
from pushjuju.services.lifecycle.forced_ends import ends_ahead, forced_subject
from pushjuju.store.engine import Row
from pushjuju.store.queue import WorkItem
from pushjuju.store.rows.records import Application, Cleanup, Machine, Operation, Unit
from pushjuju.store.rows.storage_records import StorageInstance
from pushjuju.store.tx import ModelTx

UNDECIDED = "not decided yet"
UPDATE_STATUS = "the next update-status"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why an entity is in its state."""

    subject: str  # `web/0`, `web`, `machine 0`, `storage data/0`, `model`
    doing: str  # what the entity does: `run config-changed hook`, `idle`, `waiting`
    reason: str  # why, with the resolver that decided so in parentheses; may be empty
    # when a worker reads the entity again, or None when only a change makes a worker read it
    due: datetime | None = None
    attempts: int = 0  # failures in a row
    running: str = ""  # the operation that runs now under the machine's lock, with its unit; or empty
    # the time since when that operation runs, or the machine cannot be used; or None
    since: datetime | None = None
    held_by: str = ""  # the process that works on the entity now: host, pid and start; or empty
    attended_by: str = ""  # the process that will work on the entity when it is due; or empty
    unattended: bool = False  # True when there is work to do, but no process that does it
    leader: str = ""  # the leader unit of an application; or empty
    next: tuple[str, ...] = ()  # commands that continue the work, each with what it does


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A unit's decision: `answer` is run, idle, waiting or dead; `badge` names the resolver that decided."""

    answer: str
    text: str
    reason: str
    badge: str

    @property
    def waits_for(self) -> str:
        """Return the resolver that makes the unit wait, or an empty text when the unit does not wait."""
        return self.badge if self.answer == "waiting" else ""


Decide = Callable[[ModelTx, Unit, bool], Wanted | None]
"""Returns the last decision of a unit, or with True a new decision; None when it has not decided yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """What is read of a whole model at once, with as many statements for many entities as for few."""

    rows: Mapping[StatusKind, Mapping[str, Row]]  # rows of statuses: kind -> entity -> row
    running: Mapping[str, Sequence[Operation]]  # machine -> its operations that run

    def status(self, kind: StatusKind, entity: str) -> StatusInfo | None:
        """Return the present status of an entity, or None."""
        row = self.rows[kind].get(entity)
        if row is None:
            return None
        since = from_iso(row["since"]) if row["since"] else None
        return StatusInfo(
            status=row["status"], message=row["message"], data=json.loads(row["data"]), since=since
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The facts of a model at one moment."""

    now: datetime
    units: Mapping[str, Unit]
    machines: Mapping[str, Machine]
    # machines of this host that are stopped, although their status is still `running`
    stopped: Collection[str]
    applications: Mapping[str, Application]
    storage: Mapping[str, StorageInstance]
    ends: Sequence[Cleanup]
    items: Mapping[str, WorkItem]  # machine -> its row of the work queue
    loops: Sequence[WorkItem]  # the rows of the model's loops in the work queue
    hands: Callable[[WorkItem], Hands]  # returns the process that works on a row of the queue
    is_elsewhere: bool  # True when only processes of another host work the model
    decide: Decide
    # statuses and running operations of the whole model, or None when few entities are explained
    crowd: Crowd | None = None

    def status(self, tx: ModelTx, kind: StatusKind, entity: str) -> StatusInfo | None:
        """Return the present status of a unit's agent or of an instance, or None."""
        if self.crowd is None:
            return statuses.get_status(tx, kind, entity)
        return self.crowd.status(kind, entity)

    def running(self, tx: ModelTx, machine: str | None) -> Sequence[Operation]:
        """Return the operations that run under a machine's lock, the oldest first."""
        if machine is None:
            return ()
        if self.crowd is None:
            return tx.list(Operation, "operation_open", machine=machine)
        return self.crowd.running.get(machine, ())

    def is_due(self, item: WorkItem | None) -> bool:
        """Return True when a row of the queue is due now."""
        return item is not None and item.due is not None and item.due <= self.now

    def hands_of(self, item: WorkItem | None, *, retried: bool = False) -> Hands | None:
        """Return the process that works on a row of the queue, or None when there is nothing to do.

        Args:
            retried: True when a hook has failed and is tried again at its due time.
        """
        if item is None or item.due is None:
            return None
        pending = retried or self.is_due(item) or item.attempts > 0 or self.hands(item).working
        return self.hands(item) if pending else None

    def busy(self) -> list[str]:
        """Return the machines that a process works on or that failed, the units there, and retried units.

        Of the machines with work that nobody does, one stands for all.
        """
        by = {name: self.hands_of(item) for name, item in self.items.items()}
        found = {name for name, hand in by.items() if self.items[name].attempts or (hand and hand.working)}
        units = [unit.name for unit in self.units.values() if unit.retry_due or unit.machine in found]
        return [*units, *found, *[name for name, hand in by.items() if hand and hand.none][:1]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """A reason why work on a machine or unit is impossible at present, and since when."""

    why: str
    since: datetime | None


def with_crowd(tx: ModelTx, seen: Seen) -> Seen:
    """Return the facts with the statuses and operations of the whole model, for many entities."""
    running: dict[str, list[Operation]] = {}
    for row in sorted(tx.list(Operation, "operations_under_way"), key=lambda row: row.prepared):
        if row.state == "prepared":
            running.setdefault(row.machine, []).append(row)
    kinds = StatusKind.AGENT, StatusKind.INSTANCE
    rows = {
        kind: {row["entity"]: row for row in tx.rows("statuses_of_kind", kind=str(kind))} for kind in kinds
    }
    return replace(seen, crowd=Crowd(rows=rows, running=running))


def read(ctx: Context, tx: ModelTx, decide: Decide) -> Seen:
    """Read all facts that `explain` needs of a model."""
    machines, loops = {}, []
    for item in tx.list(WorkItem, "work_list", prefix=tx.model):
        _, kind, name = (*item.key.split("/", 2), "", "")[:3]
        if kind == "machine":
            machines[name] = item
        else:
            loops.append(item)
    instances = tx.list(StorageInstance, "storage_instance_list")
    every = tx.list(Machine, "machine_list")
    return Seen(
        now=ctx.clock.now(),
        units={unit.name: unit for unit in tx.list(Unit, "unit_list")},
        machines={item.id: item for item in every},
        stopped=_stopped(ctx, tx, every),
        applications={item.name: item for item in tx.list(Application, "application_list")},
        storage={item.id: item for item in instances if not item.is_disk},
        ends=ends_ahead(tx),
        items=machines,
        loops=loops,
        hands=hands(ctx, tx),
        is_elsewhere=pools.is_elsewhere(ctx, tx),
        decide=decide,
    )


def _stopped(ctx: Context, tx: ModelTx, every: Iterable[Machine]) -> set[str]:
    rows = tx.rows("status_of_kind", kind=str(StatusKind.INSTANCE))
    there = {row["entity"] for row in rows if row["status"] == InstanceStatus.RUNNING}
    running = {item.instance_id: item.id for item in every if item.id in there}
    return stopped(ctx, models.get(tx).cloud_type, running)


def ends_of(seen: Seen, subject: str) -> list[Cleanup]:
    """Return the forced ends of an entity: `web/0`, `machine 0`."""
    return [end for end in seen.ends if forced_subject(end.kind, end.entity) == subject]


def trouble(tx: ModelTx, seen: Seen, name: str | None) -> Trouble | None:
    """Return why a machine cannot be worked, or None when no reason is known."""
    machine = seen.machines.get(name or "")
    status = seen.status(tx, StatusKind.INSTANCE, machine.id) if machine else None
    if machine is None or status is None:
        return None
    why = str(status.data.get(UNUSABLE) or status.message)
    if machine.unreachable_since:
        return Trouble(why=why, since=machine.unreachable_since)
    if UNUSABLE in status.data:
        return Trouble(why=why, since=status.since)
    return Trouble(why=f"machine {machine.id} {STOPPED}", since=None) if machine.id in seen.stopped else None


def own_trouble(tx: ModelTx, seen: Seen, unit: Unit) -> Trouble | None:
    """Return why a unit is not worked while other units of its machine are, or None."""
    item = seen.items.get(unit.machine or "")
    agent = seen.status(tx, StatusKind.AGENT, unit.name)
    if item is None or not item.failed or agent is None or agent.status != Agent.FAILED:
        return None
    return Trouble(why=agent.message, since=agent.since)


def decided(seen: Seen, unit: Unit, wanted: Wanted | None) -> Reason:
    """Return the decision of a unit, and when the unit decides again."""
    if wanted is None:
        return Reason(subject=unit.name, doing=UNDECIDED, reason="")
    why = wanted.reason
    if wanted.answer == "idle" and unit.update_status_due and not unit.retry_due:
        is_due = unit.update_status_due <= seen.now
        why = "update-status is due" if is_due else f"{why} until {UPDATE_STATUS}"
    due = [moment for moment in (unit.retry_due, unit.update_status_due) if moment]
    return Reason(
        subject=unit.name,
        doing=wanted.text,
        reason=f"{why} ({wanted.badge})" if wanted.badge else why,
        due=min(due) if due else None,
        attempts=unit.retry_count if unit.retry_due else 0,
    )


def held_up(
    found: Reason, wanted: Wanted | None, mine: Operation | None, stuck: Trouble, item: WorkItem | None
) -> Reason:
    """Return the next work of a unit on an unusable machine, the obstacle, and the time of the next try."""
    what = found.reason
    if mine is not None:
        what = f"{mine.name} was started there, and its result is unknown"
    elif wanted is not None and wanted.answer == "run":
        what = f"to {found.doing}: {found.reason}"
    return replace(
        found,
        doing="waiting" if mine is not None or (wanted and wanted.answer == "run") else found.doing,
        reason="; ".join(text for text in (what, stuck.why) if text),
        since=stuck.since,
        due=item.due if item is not None else None,
        attempts=item.attempts if item is not None else 0,
    )
