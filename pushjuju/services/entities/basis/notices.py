"""Events of which users want to be told, written in the transaction that makes them true.

Each event has a row for each target that wants the event; `workers.loops.notifier` delivers the rows. Equal
events within some minutes become one row with a count. Without targets, nothing is written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from pushjuju.core.clock import from_iso, to_iso
from pushjuju.core.problems import Subject
from pushjuju.core.status import Agent, Life, StatusKind, Workload
from pushjuju.core.values import dataclass
from pushjuju.store.engine import Row
from pushjuju.store.queue import model_key, touch
from pushjuju.store.rows import notify_records
from pushjuju.store.rows.records import Machine, Model, Status
from pushjuju.store.tx import ModelTx

if TYPE_CHECKING:
    from pushjuju.store.statement_names import StatementName

LOOP = "notify"
TEST = "test"
EVENTS: Mapping[str, str] = {
    "unit.error": "a hook of a unit failed",
    "unit.recovered": "a unit is not in error any more, or not blocked any more",
    "unit.blocked": "a unit has been blocked for 10 minutes",
    "unit.flapping": "a unit changed to and from error 5 times within 5 minutes",
    "machine.unreachable": "a machine does not answer",
    "machine.back": "a machine answers again",
    "machine.flapping": "a machine was lost and found 5 times within 5 minutes",
    "model.settled": "a command has done its work on a model",
    "task.finished": "an action has ended",
    "removal.stuck": "an entity still waits for its removal after 15 minutes",
    "secret.expiring": "a revision of a secret expires within a day",
    "driver.gone": "a controller process died, or lost the store",
}
"""The events that a target can want, and when they come."""

BLOCKED_S = 600.0
STUCK_S = 900.0
EXPIRING_S = 86400.0
EXPIRING, GONE, SETTLED, FINISHED = "secret.expiring", "driver.gone", "model.settled", "task.finished"
_EQUAL_S = 300.0  # seconds in which equal events become one
_FLAPS = 5
_MOST_TEXT = 1000  # letters of a status or problem in an event
_ERROR, _BLOCKED, _RECOVERED = "unit.error", "unit.blocked", "unit.recovered"
_STUCK = "removal.stuck"
_UNREACHABLE, _BACK = "machine.unreachable", "machine.back"
_PAIRS = {_ERROR: _RECOVERED, _RECOVERED: _ERROR, _UNREACHABLE: _BACK, _BACK: _UNREACHABLE}
_ENTITIES: tuple[tuple[str, StatementName, str], ...] = (
    ("application", "shown_applications", "name"),
    ("unit", "shown_units", "name"),
    ("machine", "shown_machines", "id"),
)
"""Kinds that may wait for their removal, the statement that lists them, and the column of the name."""
_NO_DATA: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class _Listener:
    """A target, with patterns of the events and names of the models that it wants; empty for all."""

    name: str
    events: tuple[str, ...]
    models: tuple[str, ...]

    def wants(self, event: str, model: str | None) -> bool:
        """Return True when the target wants an event of a model (`owner/name`); None for any model."""
        if self.events and not any(fnmatchcase(event, pattern) for pattern in self.events):
            return False
        short = None if model is None else model.rpartition("/")[2]
        return model is None or not self.models or model in self.models or short in self.models


def _listeners(rows: Iterable[Row]) -> tuple[_Listener, ...]:
    return tuple(
        _Listener(row["name"], tuple(json.loads(row["events"])), tuple(json.loads(row["models"])))
        for row in rows
    )


def wanted(tx: ModelTx, event: str) -> bool:
    """Return True when a target wants an event, from any model."""
    return any(target.wants(event, None) for target in _known(tx))


def _known(tx: ModelTx) -> tuple[_Listener, ...]:
    return tx.made(_listeners, "notify_target_names")


def record(tx: ModelTx, event: str, subject: Subject, text: str, data: Mapping[str, Any] = _NO_DATA) -> None:
    """Write an event for each target that wants it, and wake the loop that delivers events.

    Args:
        text: A sentence for people.
        data: What programs want to know besides.
    """
    known = _known(tx)
    if not known:
        return
    name = _model_name(tx)
    listening = [target.name for target in known if target.wants(event, name)]
    for target in listening:
        _add(tx, target, event, subject, text[:_MOST_TEXT], data)
    if listening:
        touch(tx, model_key(tx.model, LOOP), tx.now, "events wait for their delivery")


def _model_name(tx: ModelTx) -> str:
    found = tx.find(Model, "model_by_uuid", uuid=tx.model) if tx.model else None
    return found.qualified if found is not None else ""


def _add(tx: ModelTx, target: str, event: str, subject: Subject, text: str, data: Mapping[str, Any]) -> None:
    """Add an event for a target, or count it with an equal event of the last minutes."""
    tx.run("notice_prune", before=tx.now - timedelta(seconds=_EQUAL_S))
    about = {"target": target, "kind": subject.kind, "entity": subject.name}
    due = tx.now
    for name in (f"{subject.kind}.flapping", event) if event in _PAIRS else (event,):
        last = tx.find(notify_records.NoticeRow, "notice_last", event=name, **about)
        if last is None or (last.text != text and (last.sent or event not in _PAIRS)):
            continue
        if last.sent is None:
            _count(tx, last, text, data)
            return
        due = last.sent + timedelta(seconds=_EQUAL_S)
    row = notify_records.NoticeRow(
        model=tx.model, number=tx.next(tx.model, "notice"), event=event, text=text, data=data, time=tx.now,
        latest=tx.now, count=1, due=due, sent=None, **about,
    )  # fmt: skip
    tx.insert("notice", row)


def _count(tx: ModelTx, last: notify_records.NoticeRow, text: str, data: Mapping[str, Any]) -> None:
    """Count an event with an equal event that waits; five changes there and back become one other event.

    The event moves behind those that came meanwhile, so the last event of an entity tells its state.
    """
    event = last.event
    if event in _PAIRS and last.count + 1 >= _FLAPS:
        about = {"target": last.target, "kind": last.kind, "entity": last.entity}
        event = f"{last.kind}.flapping"
        other = tx.find(notify_records.NoticeRow, "notice_last", event=_PAIRS[last.event], **about)
        if other is not None and other.sent is None:
            tx.run("notice_drop", number=other.number)
    tx.run("notice_drop", number=last.number)
    number, count = tx.next(tx.model, "notice"), last.count + 1
    row = replace(last, number=number, event=event, text=text, data=data, count=count, latest=tx.now)
    tx.insert("notice", row)


# --- states that last -------------------------------------------------------------------------------------


def alarm(
    tx: ModelTx,
    event: str,
    subject: Subject,
    text: str,
    *,
    after_s: float = 0,
    data: Mapping[str, Any] = _NO_DATA,
) -> None:
    """Note that an entity is in a state of which an event tells: at once, or if it lasts for some seconds."""
    if not _known(tx):
        return
    about = {"kind": subject.kind, "entity": subject.name, "event": event}
    known = tx.find(notify_records.AlarmRow, "alarm_get", **about)
    if known is not None and (after_s or known.text == text):
        return
    due = tx.now + timedelta(seconds=after_s) if after_s else None
    tx.run("alarm_set", **about, text=text, since=tx.now, due=due)
    if due is None:
        record(tx, event, subject, text, data)
    else:
        touch(tx, model_key(tx.model, LOOP), due)


def clear(tx: ModelTx, event: str, subject: Subject) -> bool:
    """Note that an entity is not in a state any more; return True when an event has told of the state."""
    if not _known(tx):
        return False
    about = {"kind": subject.kind, "entity": subject.name, "event": event}
    known = tx.find(notify_records.AlarmRow, "alarm_get", **about)
    if known is None:
        return False
    tx.run("alarm_delete", **about)
    return known.due is None


def joined(tx: ModelTx) -> None:
    """Note the states that began before the first target came, so that targets get their ends.

    No event tells of such a state itself, unless the state lasts long enough only from now on. A removal
    counts from now on, because the store does not keep when the removal began.
    """
    for row in tx.list(Status, "units_in_error"):
        _was(tx, _ERROR, Subject("unit", row.entity), row.since, _in_error(row.entity, row.message))
    for row in tx.list(Status, "statuses_of_kind", kind=str(StatusKind.WORKLOAD)):
        if row.status == Workload.BLOCKED:
            text = _blocked(row.entity, row.message)
            _was(tx, _BLOCKED, Subject("unit", row.entity), row.since, text, after_s=BLOCKED_S)
    for machine in tx.list(Machine, "machine_list"):
        if machine.unreachable_since is not None:
            subject, since = Subject("machine", machine.id), machine.unreachable_since
            _was(tx, _UNREACHABLE, subject, since, _silent(machine.id))
    for subject in _waiting(tx):
        _was(tx, _STUCK, subject, None, _waits(subject), after_s=STUCK_S)


def _waiting(tx: ModelTx) -> Iterator[Subject]:
    """Yield the entities that wait for their removal."""
    model = tx.find(Model, "model_by_uuid", uuid=tx.model)
    if model is not None and model.life != Life.ALIVE:
        yield Subject("model", model.qualified)
    for kind, statement, key in _ENTITIES:
        for row in tx.rows(statement):
            if row["life"] != Life.ALIVE:
                yield Subject(kind, row[key])


def _was(
    tx: ModelTx, event: str, subject: Subject, since: datetime | None, text: str, after_s: float = 0
) -> None:
    """Note a state that nobody has noted; its event comes only when its time is still ahead."""
    about = {"kind": subject.kind, "entity": subject.name, "event": event}
    if tx.find(notify_records.AlarmRow, "alarm_get", **about) is not None:
        return
    begun = since or tx.now
    due = begun + timedelta(seconds=after_s)
    ahead = due if due > tx.now else None
    tx.run("alarm_set", **about, text=text, since=begun, due=ahead)
    if ahead is not None:
        touch(tx, model_key(tx.model, LOOP), ahead)


def forget(tx: ModelTx, subject: Subject) -> None:
    """Forget the states of an entity that is removed."""
    if _known(tx):
        tx.run("alarm_forget", kind=subject.kind, entity=subject.name)


def raise_due(tx: ModelTx) -> datetime | None:
    """Write the events of states that have lasted long enough; return when the next state will have."""
    for row in tx.list(notify_records.AlarmRow, "alarm_due", now=tx.now):
        tx.run("alarm_told", kind=row.kind, entity=row.entity, event=row.event)
        record(tx, row.event, Subject(row.kind, row.entity), row.text, {"since": to_iso(row.since)})
    due = tx.scalar("alarm_next")
    return from_iso(due) if due else None


def _in_error(unit: str, message: str) -> str:
    return f"unit {unit} is in error: {message}"[:_MOST_TEXT]


def _blocked(unit: str, message: str) -> str:
    return f"unit {unit} is blocked: {message}"[:_MOST_TEXT]


def _silent(machine: str) -> str:
    return f"machine {machine} does not answer"


def _waits(subject: Subject) -> str:
    return f"{subject} still waits for its removal"


# --- the entities -----------------------------------------------------------------------------------------


def of_status(tx: ModelTx, kind: StatusKind, entity: str, before: str, status: str, message: str) -> None:
    """Note a status of a unit that was written."""
    unit = Subject("unit", entity)
    data = {"status": status, "message": message[:_MOST_TEXT]}
    if kind == StatusKind.WORKLOAD:
        if status == Workload.BLOCKED:
            alarm(tx, _BLOCKED, unit, _blocked(entity, message), after_s=BLOCKED_S)
        elif before == Workload.BLOCKED and clear(tx, _BLOCKED, unit):
            record(tx, _RECOVERED, unit, f"unit {entity} is not blocked any more: {status}", data)
    elif status == Agent.ERROR:
        alarm(tx, _ERROR, unit, _in_error(entity, message), data=data)
    elif status == Agent.IDLE and clear(tx, _ERROR, unit):
        record(tx, _RECOVERED, unit, f"unit {entity} is not in error any more", data)


def unreachable(tx: ModelTx, machine: str, error: str) -> None:
    """Note that a machine does not answer."""
    data = {"error": error[:_MOST_TEXT]}
    alarm(tx, _UNREACHABLE, Subject("machine", machine), _silent(machine), data=data)


def reachable(tx: ModelTx, machine: str) -> None:
    """Note that a machine which did not answer answers again."""
    subject = Subject("machine", machine)
    if clear(tx, _UNREACHABLE, subject):
        record(tx, _BACK, subject, f"machine {machine} answers again")


def before_expiry(tx: ModelTx, when: datetime) -> datetime:
    """Return when the loop for secrets must look at a secret that is due at a time."""
    return max(tx.now, when - timedelta(seconds=EXPIRING_S)) if wanted(tx, EXPIRING) else when


def dying(tx: ModelTx, kind: str, name: str) -> None:
    """Note that the removal of an entity has begun."""
    subject = Subject(kind, name)
    alarm(tx, _STUCK, subject, _waits(subject), after_s=STUCK_S)
