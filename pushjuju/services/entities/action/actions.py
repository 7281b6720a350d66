"""Actions and commands: asked for, begun, ended, cancelled.

An operation is what a user asked for at once; it has a task for each receiver. The receiver's worker runs the
tasks. Mirrors: juju apiserver/facades/client/action, state/action.go, state/operation.go (3.6)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pushjuju.charms.format.actions import insert_defaults, juju_exec, validate_params
from pushjuju.charms.values.model import ActionSpec
from pushjuju.core.clock import to_iso
from pushjuju.core.errors import NotFound, NotValid, not_found
from pushjuju.core.model.life import Life
from pushjuju.core.model.tasks import EXEC, Receiver, TaskStatus
from pushjuju.core.names import machine_tag, unit_tag
from pushjuju.core.problems import Subject
from pushjuju.services.entities.application import applications
from pushjuju.services.entities.basis import leadership, wake
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.charm import charms
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import models
from pushjuju.store.rows.records import ActionOperation, Application, Machine, Task, TaskLog, Unit
from pushjuju.store.tx import Tx

LEADER = "/leader"
CANCELLED = "action cancelled via the API"
UNIT_REMOVED = "unit removed"
MACHINE_REMOVED = "machine removed"
_SEQUENCE = "task"


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRequest:
    """An action for some units.

    Attributes:
        receivers: Units, or `application/leader`.
        parallel, execution_group: The user's choice, or None to take the charm's.
    """

    action: str
    receivers: Sequence[str]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    parallel: bool | None = None
    execution_group: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRequest:
    """Shell commands for units and machines.

    Attributes:
        units: Units, or `application/leader`.
        applications: All their units.
        every_machine: All machines of the model.
        timeout_s: Seconds after which the commands are ended.
    """

    command: str
    timeout_s: float
    units: Sequence[str] = ()
    applications: Sequence[str] = ()
    machines: Sequence[str] = ()
    every_machine: bool = False
    parallel: bool = True
    execution_group: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Enqueued:
    """What became of a request.

    Attributes:
        operation: Its number.
        tasks: A task for each receiver that took it.
        errors: A sentence for each receiver that did not; the messages are Juju's.
    """

    operation: int
    tasks: tuple[Task, ...]
    errors: tuple[str, ...] = ()


# --- asking -----------------------------------------------------------------------------------------------


def enqueue(ctx: Context, model: str, request: ActionRequest) -> Enqueued:
    """Ask for an action; receivers that cannot take it are named in the answer, the others get it."""
    now = ctx.clock.now()
    with ctx.store.write() as tx:
        models.require_alive(tx, model)
        queue = _Queue(tx, model, now, request.action, [_tag(name) for name in request.receivers])
        for name in request.receivers:
            try:
                unit = _unit(tx, model, name)
                spec = spec_of(tx, unit, request.action)
                validate_params(spec, request.parameters)
            except (NotFound, NotValid) as error:
                queue.refuse(error.message)
                continue
            parallel = spec.parallel if request.parallel is None else request.parallel
            group = spec.execution_group if request.execution_group is None else request.execution_group
            queue.add_unit(unit, insert_defaults(spec, request.parameters), parallel=parallel, group=group)
        return queue.close()


def enqueue_commands(ctx: Context, model: str, request: CommandRequest) -> Enqueued:
    """Ask for commands on units and machines."""
    now = ctx.clock.now()
    parameters = {"command": request.command, "timeout": int(request.timeout_s * 1e9)}
    with ctx.store.write() as tx:
        models.require_alive(tx, model)
        names = _units_asked(tx, model, request)
        ids = _machines_asked(tx, model, request)
        tags = [*map(_tag, names), *map(machine_tag, ids)]
        queue = _Queue(tx, model, now, EXEC, tags)
        parallel, group = request.parallel, request.execution_group
        found: dict[str, Unit] = {}
        for name in names:
            try:
                unit = _unit(tx, model, name)
            except NotFound as error:
                queue.refuse(error.message)
            else:
                found[unit.name] = unit  # the leader may be named twice
        for unit in found.values():
            queue.add_unit(unit, parameters, parallel=parallel, group=group)
        for machine_id in ids:
            if tx.find(Machine, "machine_get", model=model, id=machine_id) is None:
                queue.refuse(f"machine {machine_id} not found")
            else:
                queue.add_machine(machine_id, parameters, parallel=parallel, group=group)
        return queue.close()


class _Queue:
    """One operation in the making."""

    def __init__(self, tx: Tx, model: str, now: datetime, action: str, tags: Sequence[str]) -> None:
        self._tx, self._model, self._now, self._action = tx, model, now, action
        self._tasks: list[Task] = []
        self._errors: list[str] = []
        summary = f"{action} run on {','.join(tags)}"
        self._operation = ActionOperation(
            model=model, id=self._number(), summary=summary, enqueued=to_iso(now)
        )
        tx.insert("action_operation", self._operation)

    def _number(self) -> int:
        return self._tx.next(self._model, _SEQUENCE, at_least=1)

    def refuse(self, reason: str) -> None:
        """Note that a receiver does not take it."""
        self._errors.append(reason)

    def add_unit(self, unit: Unit, parameters: Mapping[str, Any], *, parallel: bool, group: str) -> None:
        """Add a task for a unit."""
        self._add(Receiver.UNIT, unit.name, parameters, parallel=parallel, group=group)
        wake.unit(self._tx, unit, self._now, f"action {self._action}")

    def add_machine(self, machine: str, parameters: Mapping[str, Any], *, parallel: bool, group: str) -> None:
        """Add a task for a machine."""
        self._add(Receiver.MACHINE, machine, parameters, parallel=parallel, group=group)
        wake.machine(self._tx, self._model, machine, self._now, "commands")

    def _add(
        self, kind: Receiver, name: str, parameters: Mapping[str, Any], *, parallel: bool, group: str
    ) -> None:
        task = Task(
            model=self._model, id=self._number(), operation=self._operation.id, kind=kind, receiver=name,
            action=self._action, parameters=parameters, parallel=parallel, execution_group=group,
            status=TaskStatus.PENDING, enqueued=to_iso(self._now),
        )  # fmt: skip
        self._tx.insert("task", task)
        self._tasks.append(task)

    def close(self) -> Enqueued:
        """Keep why receivers were left out, and return what came of it."""
        if self._errors:
            fail = "\n".join(self._errors)
            self._tx.run("action_operation_set_fail", model=self._model, id=self._operation.id, fail=fail)
        return Enqueued(operation=self._operation.id, tasks=tuple(self._tasks), errors=tuple(self._errors))


def _tag(receiver: str) -> str:
    name, slash, rest = receiver.partition("/")
    return f"unit-{name}-{rest}" if slash and rest == "leader" else unit_tag(receiver)


def _unit(tx: Tx, model: str, name: str) -> Unit:
    """Return the unit that a receiver means.

    Raises:
        NotFound: The unit does not exist, or the application has no leader; the message is Juju's.
    """
    if name.endswith(LEADER):
        application = name.removesuffix(LEADER)
        name = leadership.holder(tx, model, application) or ""
        if not name:
            raise NotFound(f'could not determine leader for "{application}"')
    unit = tx.find(Unit, "unit_get", model=model, name=name)
    if unit is None or unit.life == Life.DEAD:
        raise not_found("unit", name)
    return unit


def _units_asked(tx: Tx, model: str, request: CommandRequest) -> list[str]:
    found = list(request.units)
    for name in request.applications:
        if tx.find(Application, "application_get", model=model, name=name) is None:
            raise not_found("application", name)
        every = tx.list(Unit, "unit_of_application", model=model, application=name)
        found += [unit.name for unit in every]
    return list(dict.fromkeys(found))


def _machines_asked(tx: Tx, model: str, request: CommandRequest) -> list[str]:
    every = machines.list_machines(tx, model) if request.every_machine else []
    return list(dict.fromkeys([*request.machines, *(machine.id for machine in every)]))


def specs(tx: Tx, application: Application, url: str = "") -> Mapping[str, ActionSpec]:
    """Return the actions that a charm of an application declares: its present one unless named."""
    return charms.get(tx, application.model, url or application.charm_url).actions


def specs_of(ctx: Context, model: str, application: str) -> Mapping[str, ActionSpec]:
    """Return the actions of an application's charm."""
    with ctx.store.read() as tx:
        return dict(specs(tx, applications.get(tx, model, application)))


def spec_of(tx: Tx, unit: Unit, action: str) -> ActionSpec:
    """Return an action of a unit's own charm.

    Raises:
        NotFound: The charm has no such action; the message is Juju's.
    """
    if action == EXEC:
        return juju_exec()
    application = tx.get(
        Application, "application_get", Subject("application", unit.application),
        model=unit.model, name=unit.application,
    )  # fmt: skip
    spec = specs(tx, application, unit.charm_url).get(action)
    if spec is None:
        raise NotFound(f'action "{action}" not defined on unit "{unit.name}"')
    return spec


# --- running ----------------------------------------------------------------------------------------------


def get_task(tx: Tx, model: str, number: int) -> Task:
    """Return a task."""
    return tx.get(Task, "task_get", f'task "{number}" not found', model=model, id=number)


def get_tasks(ctx: Context, model: str, numbers: Iterable[int]) -> list[Task]:
    """Return tasks by number; raise what `get_task` raises."""
    with ctx.store.read() as tx:
        return [get_task(tx, model, number) for number in numbers]


def pending(tx: Tx, model: str, kind: Receiver, receiver: str) -> list[Task]:
    """Return what waits for a receiver, oldest first."""
    return tx.list(Task, "task_pending", model=model, kind=kind, receiver=receiver)


def units_with_pending(tx: Tx, model: str, machine: str) -> frozenset[str]:
    """Return the units on a machine for which something waits."""
    return frozenset(row["name"] for row in tx.rows("unit_with_tasks", model=model, machine=machine))


def start(tx: Tx, model: str, number: int, now: datetime) -> None:
    """Note that a task runs."""
    tx.run("task_start", model=model, id=number, now=to_iso(now))


def finish(
    tx: Tx,
    model: str,
    number: int,
    status: TaskStatus,
    *,
    message: str = "",
    results: Mapping[str, Any] | None = None,
    now: datetime,
) -> bool:
    """Note how a task ended; one that is over already stays as it is.

    Returns:
        Whether it was not over before.
    """
    text = json.dumps(results or {}, separators=(",", ":"), sort_keys=True)
    changed = tx.run(
        "task_finish", model=model, id=number, status=status, message=message, results=text, now=to_iso(now)
    )
    return bool(changed)


def add_log(tx: Tx, model: str, number: int, message: str, now: datetime) -> None:
    """Keep a progress message."""
    tx.run("task_log_add", model=model, task=number, time=to_iso(now), message=message)


def log(tx: Tx, model: str, number: int, after: int = 0) -> list[TaskLog]:
    """Return the progress messages of a task that came after one."""
    return tx.list(TaskLog, "task_log_list", model=model, task=number, after=after)


# --- cancelling -------------------------------------------------------------------------------------------


def cancel(ctx: Context, model: str, numbers: Iterable[int]) -> list[Task]:
    """Cancel tasks that wait, abort those that run; all or, when one is unknown, none.

    Returns:
        The tasks as they are now.
    """
    now = ctx.clock.now()
    with ctx.store.write() as tx:
        tasks = [get_task(tx, model, number) for number in numbers]
        for task in tasks:
            if task.status == TaskStatus.PENDING:
                finish(tx, model, task.id, TaskStatus.CANCELLED, message=CANCELLED, now=now)
            elif tx.run("task_abort", model=model, id=task.id):
                _touch_receiver(tx, task, now)
        return [get_task(tx, model, task.id) for task in tasks]


def _touch_receiver(tx: Tx, task: Task, now: datetime) -> None:
    if task.kind == Receiver.MACHINE:
        wake.machine(tx, task.model, task.receiver, now, "a task is cancelled")
        return
    unit = tx.find(Unit, "unit_get", model=task.model, name=task.receiver)
    if unit is not None:
        wake.unit(tx, unit, now, "a task is cancelled")


def cancel_all(tx: Tx, model: str, kind: Receiver, receiver: str, reason: str, now: datetime) -> None:
    """Cancel what is not over of a receiver that goes away."""
    for task in tx.list(Task, "task_open", model=model, kind=kind, receiver=receiver):
        finish(tx, model, task.id, TaskStatus.CANCELLED, message=reason, now=now)


def is_aborting(tx: Tx, model: str, number: int) -> bool:
    """Return True when a user has cancelled a running task."""
    found = tx.find(Task, "task_get", model=model, id=number)
    return found is not None and found.status == TaskStatus.ABORTING
