"""Actions and commands as tasks: recorded, started, finished or cancelled.

An operation is what one command of a user asks for; it has a task for each unit or machine, which that
machine's worker runs. Mirrors: juju apiserver/facades/client/action, state/action.go, state/operation.go
(3.6)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pushjuju.charms.format.actions import juju_exec
from pushjuju.charms.values.model import ActionSpec
from pushjuju.core.errors import NotFound
from pushjuju.core.model.tasks import EXEC, Receiver, TaskStatus
from pushjuju.core.problems import Subject
from pushjuju.services.entities.application import applications
from pushjuju.services.entities.basis import notices, tally
from pushjuju.services.entities.charm import charms
from pushjuju.store.rows.records import Application, Task, TaskLog, Unit
from pushjuju.store.tx import ModelTx

UNIT_REMOVED = "unit removed"
MACHINE_REMOVED = "machine removed"


# --- declared actions -------------------------------------------------------------------------------------


def specs(tx: ModelTx, application: Application, url: str = "") -> Mapping[str, ActionSpec]:
    """Return the actions of the charm with this URL, by default of the application's present charm."""
    return charms.get(tx, url or application.charm_url).actions


def spec_of(tx: ModelTx, unit: Unit, action: str) -> ActionSpec:
    """Return the declaration of an action in the charm that a unit runs.

    Raises:
        NotFound: The charm has no such action; the message is Juju's.
    """
    if action == EXEC:
        return juju_exec()
    application = applications.get(tx, unit.application)
    spec = specs(tx, application, unit.charm_url).get(action)
    if spec is None:
        raise NotFound(f'action "{action}" not defined on unit "{unit.name}"')
    return spec


# --- running ----------------------------------------------------------------------------------------------


def get_task(tx: ModelTx, number: int) -> Task:
    """Return a task, or raise NotFound."""
    return tx.get(Task, "task_get", f'task "{number}" not found', id=number)


def pending(tx: ModelTx, kind: Receiver, receiver: str) -> list[Task]:
    """Return the pending tasks of a unit or machine, oldest first."""
    return tx.list(Task, "task_pending", kind=kind, receiver=receiver)


def units_with_pending(tx: ModelTx, machine: str) -> frozenset[str]:
    """Return the units on a machine that have pending tasks."""
    return frozenset(row["name"] for row in tx.rows("unit_with_tasks", machine=machine))


def start(tx: ModelTx, number: int) -> None:
    """Record that a task has started."""
    tx.run("task_start", id=number, now=tx.now)


def finish(
    tx: ModelTx,
    number: int,
    status: TaskStatus,
    *,
    message: str = "",
    results: Mapping[str, Any] | None = None,
) -> bool:
    """Record how a task ended; a task that has already ended is left as it is.

    Returns:
        True when the task had not ended before.
    """
    text = json.dumps(results or {}, separators=(",", ":"), sort_keys=True)
    changed = tx.run("task_finish", id=number, status=status, message=message, results=text, now=tx.now)
    if changed:
        _note_end(tx, number, status, message)
    return bool(changed)


def _note_end(tx: ModelTx, number: int, status: TaskStatus, message: str) -> None:
    """Count a task that has ended, and tell who wants to know."""
    task = get_task(tx, number)
    application = task.receiver.partition("/")[0] if task.kind == Receiver.UNIT else ""
    tally.count(tx, tally.TASKS, (application, task.action, str(status)))
    if not notices.wanted(tx, notices.FINISHED):
        return
    text = f"task {number} ({task.action} on {task.receiver}) has ended: {status}"
    data = {"action": task.action, "receiver": task.receiver, "status": str(status), "message": message}
    notices.record(tx, notices.FINISHED, Subject("task", str(number)), text, data)


def add_log(tx: ModelTx, number: int, message: str, now: datetime) -> None:
    """Add a progress message to the log of a task."""
    tx.run("task_log_add", task=number, time=now, message=message)


def log(tx: ModelTx, number: int, after: int = 0) -> list[TaskLog]:
    """Return the progress messages of a task whose number is above `after`."""
    return tx.list(TaskLog, "task_log_list", task=number, after=after)


# --- cancelling -------------------------------------------------------------------------------------------


def cancel_all(tx: ModelTx, kind: Receiver, receiver: str, reason: str) -> None:
    """Cancel all tasks of a unit or machine that is removed, except those that have ended."""
    for task in tx.list(Task, "task_open", kind=kind, receiver=receiver):
        finish(tx, task.id, TaskStatus.CANCELLED, message=reason)


def is_aborting(tx: ModelTx, number: int) -> bool:
    """Return True when a user has cancelled a running task."""
    found = tx.find(Task, "task_get", id=number)
    return found is not None and found.status == TaskStatus.ABORTING
