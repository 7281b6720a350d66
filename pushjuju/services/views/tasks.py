"""Documents of operations and tasks; times are aware datetimes.

Mirrors: juju cmd/juju/action (3.6)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from pushjuju.charms.values.model import ActionSpec
from pushjuju.core.errors import NotFound
from pushjuju.core.model.tasks import Receiver, TaskStatus, operation_status
from pushjuju.core.names import UnitName
from pushjuju.core.values import dataclass
from pushjuju.services.entities.action import actions
from pushjuju.services.entities.application import applications
from pushjuju.services.entities.basis.context import Context
from pushjuju.store.rows.records import ActionOperation
from pushjuju.store.rows.records import Task as Task  # noqa: PLC0414 - commands wait for tasks
from pushjuju.store.rows.records import TaskLog as TaskLog  # noqa: PLC0414 - commands print the lines
from pushjuju.store.tx import ModelTx

Document = dict[str, Any]
WithTasks = tuple[ActionOperation, Sequence[Task]]
DEFAULT_LIMIT = 50
_MOST = 2**31


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """The conditions for operations; each list that is not empty must have a match."""

    applications: Sequence[str] = ()
    units: Sequence[str] = ()
    machines: Sequence[str] = ()
    actions: Sequence[str] = ()
    statuses: Sequence[str] = ()

    def __bool__(self) -> bool:
        """Return True when there is a condition."""
        return any((self.applications, self.units, self.machines, self.actions, self.statuses))

    def takes(self, tasks: Sequence[Task], status: str) -> bool:
        """Return True when an operation with these tasks and status meets the conditions."""
        units = {task.receiver for task in tasks if task.kind == Receiver.UNIT}
        present = (
            (self.applications, {UnitName.parse(unit).application for unit in units}),
            (self.units, units),
            (self.machines, {task.receiver for task in tasks if task.kind == Receiver.MACHINE}),
            (self.actions, {task.action for task in tasks}),
            (self.statuses, {status}),
        )
        return all(not wanted or found.intersection(wanted) for wanted, found in present)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Some operations: number -> document; `more` is True when further operations meet the conditions."""

    operations: Mapping[int, Document]
    more: bool = False


def task_document(tx: ModelTx, task: Task) -> Document:
    """Return a task as `run` and `show-task` print it."""
    document: Document = {"id": str(task.id), "status": task.status, task.kind: task.receiver}
    if task.message:
        document["message"] = task.message
    if task.results:
        document["results"] = dict(task.results)
    if lines := actions.log(tx, task.id):
        document["log"] = [{"time": line.time, "message": line.message} for line in lines]
    document["timing"] = _timing(task.enqueued, task.started, task.completed)
    return document


def _timing(enqueued: datetime, started: datetime | None, completed: datetime | None) -> Document:
    every = {"enqueued": enqueued, "started": started, "completed": completed}
    return {name: moment for name, moment in every.items() if moment}


def _operation_document(tx: ModelTx, operation: ActionOperation, tasks: Sequence[Task]) -> Document:
    names = {task.action for task in tasks}
    document: Document = {
        "summary": operation.summary,
        "status": str(operation_status(task.status for task in tasks)),
    }
    if operation.fail:
        document["fail"] = operation.fail
    if len(names) == 1:
        document["action"] = {"name": tasks[0].action, "parameters": dict(tasks[0].parameters)}
    document["timing"] = _operation_timing(operation, tasks)
    if tasks:
        document["tasks"] = {
            str(task.id): _task_of_operation(tx, task, named=len(names) > 1) for task in tasks
        }
    return document


def _operation_timing(operation: ActionOperation, tasks: Sequence[Task]) -> Document:
    started = [task.started for task in tasks if task.started]
    completed = [task.completed for task in tasks if task.completed]
    over = len(completed) == len(tasks)
    last = max(completed, default=operation.enqueued) if over else None
    return _timing(operation.enqueued, min(started, default=None), last)


def _task_of_operation(tx: ModelTx, task: Task, *, named: bool) -> Document:
    document: Document = {"name": task.action} if named else {}
    document |= {"host": task.receiver, "status": task.status}
    whole = task_document(tx, task)
    return document | {key: whole[key] for key in ("timing", "log", "message", "results") if key in whole}


def show_task(ctx: Context, model: str, number: int) -> Document:
    with ctx.read(model) as tx:
        return task_document(tx, actions.get_task(tx, number))


def with_log(ctx: Context, model: str, number: int) -> tuple[Task, list[TaskLog]]:
    """Return a task with its progress messages."""
    with ctx.read(model) as tx:
        return actions.get_task(tx, number), actions.log(tx, number)


def show_operation(ctx: Context, model: str, number: int) -> Document:
    found, tasks = record(ctx, model, number)
    with ctx.read(model) as tx:
        return _operation_document(tx, found, tasks)


def operations(
    ctx: Context, model: str, wanted: Filter, *, limit: int = DEFAULT_LIMIT, offset: int = 0
) -> Listing:
    """Return the operations that meet the conditions, oldest first."""
    with ctx.read(model) as tx:
        shown, more = _chosen(tx, wanted, limit, offset)
        documents = {item.id: _operation_document(tx, item, tasks) for item, tasks in shown}
    return Listing(operations=documents, more=more)


def _chosen(tx: ModelTx, wanted: Filter, limit: int, offset: int) -> tuple[list[WithTasks], bool]:
    """Return a page of the operations that match a filter, oldest first, and True when more follow."""
    limit, offset = min(limit, _MOST), min(offset, _MOST)
    size, start = (_MOST, 0) if wanted else (limit + 1, offset)
    every = tx.list(ActionOperation, "action_operation_list", limit=size, offset=start)
    by_operation: dict[int, list[Task]] = {item.id: [] for item in every}
    if every:
        for task in tx.list(Task, "task_of_operations", first=every[0].id, last=every[-1].id):
            by_operation[task.operation].append(task)
    pairs: Iterable[WithTasks] = ((item, by_operation[item.id]) for item in every)
    found = [pair for pair in pairs if wanted.takes(pair[1], status_of(pair[1]))][offset - start :]
    return found[:limit], len(found) > limit


def records(
    ctx: Context, model: str, wanted: Filter, *, limit: int, offset: int
) -> tuple[list[WithTasks], bool]:
    """Return a page of the operations that match a filter, oldest first, and True when more follow."""
    with ctx.read(model) as tx:
        return _chosen(tx, wanted, limit, offset)


def newest(ctx: Context, model: str, limit: int, before: int) -> tuple[list[WithTasks], int]:
    """Return the newest of a model's oldest `before` operations, oldest first, and how many are older."""
    with ctx.read(model) as tx:
        older = max(min(tx.scalar("action_operation_count"), before) - limit, 0)
        return _chosen(tx, Filter(), limit, older)[0], older


def record(ctx: Context, model: str, number: int) -> WithTasks:
    """Return an operation and its tasks as records; raise NotFound when the operation does not exist."""
    with ctx.read(model) as tx:
        found = tx.find(ActionOperation, "action_operation_get", id=number)
        if found is None:
            raise NotFound(f'operation "{number}" not found')
        return found, tx.list(Task, "task_of_operations", first=number, last=number)


def status_of(tasks: Sequence[Task]) -> str:
    """Return the status of an operation, which follows from its tasks."""
    return str(operation_status(task.status for task in tasks))


def unfinished(tx: ModelTx, numbers: Iterable[int], deadline: datetime | None = None) -> list[Task]:
    """Return those of the given tasks that have not ended, or that ended after the deadline."""
    found = [actions.get_task(tx, number) for number in numbers]
    return [task for task in found if not TaskStatus(task.status).over or _late(task, deadline)]


def watch(
    ctx: Context, model: str, numbers: Sequence[int], deadline: datetime | None, seen: int
) -> tuple[list[Task], list[TaskLog]]:
    """Return the tasks that have not ended, and for a single task its log lines after line `seen`."""
    with ctx.read(model) as tx:
        left = unfinished(tx, numbers, deadline)
        return left, actions.log(tx, numbers[0], seen) if len(numbers) == 1 else []


def _late(task: Task, deadline: datetime | None) -> bool:
    return deadline is not None and task.completed is not None and task.completed > deadline


def specs_of(ctx: Context, model: str, application: str) -> Mapping[str, ActionSpec]:
    """Return the actions of an application's charm: name -> declaration."""
    with ctx.read(model) as tx:
        return dict(actions.specs(tx, applications.get(tx, application)))


def get_tasks(ctx: Context, model: str, numbers: Iterable[int]) -> list[Task]:
    """Return tasks by their numbers, or raise NotFound."""
    with ctx.read(model) as tx:
        return [actions.get_task(tx, number) for number in numbers]
