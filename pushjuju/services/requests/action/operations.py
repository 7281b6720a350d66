"""The requests of run, exec and cancel-task: actions and commands on units and machines.

An operation is what one command of a user asks for; it has a task for each unit or machine, which that
machine's worker runs. Mirrors: juju apiserver/facades/client/action, state/operation.go (3.6)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

from pushjuju.charms.format.actions import insert_defaults, validate_params
from pushjuju.core.errors import NotFound, NotValid, not_found
from pushjuju.core.model.tasks import EXEC, Receiver, TaskStatus
from pushjuju.core.names import machine_tag, unit_tag
from pushjuju.core.status import Life
from pushjuju.core.values import dataclass
from pushjuju.services.entities.action import actions
from pushjuju.services.entities.application import applications
from pushjuju.services.entities.basis import leadership, wake
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import models
from pushjuju.store.rows.records import ActionOperation, Machine, Task, Unit
from pushjuju.store.tx import ModelTx

LEADER = "/leader"


CANCELLED = "action cancelled via the API"


_SEQUENCE = "task"
_SEVERAL = "multiple actions"  # Juju's name of an operation with different actions


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRequest:
    """A request to run an action on units."""

    action: str
    # names of units, or `APPLICATION/leader`. parallel, execution_group: The user's choice, or None to take
    # the charm's.
    receivers: Sequence[str]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    parallel: bool | None = None
    execution_group: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRequest:
    """A request to run shell commands on units and machines."""

    command: str
    timeout_s: float  # seconds after which commands that still run are killed
    units: Sequence[str] = ()  # names of units, or `APPLICATION/leader`
    applications: Sequence[str] = ()  # applications on all of whose units the commands run
    machines: Sequence[str] = ()
    every_machine: bool = False  # True to run the commands on all machines of the model
    parallel: bool = True
    execution_group: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Enqueued:
    """The operation that a request has recorded."""

    operation: int
    tasks: tuple[Task, ...]  # the tasks, one for each unit or machine
    # a sentence for each unit or machine that got no task; the messages are Juju's
    errors: tuple[str, ...] = ()
    # tasks and errors in the order of the units and machines that were asked for
    outcomes: tuple[Task | str, ...] = ()


def enqueue(ctx: Context, model: str, *requests: ActionRequest) -> Enqueued:
    """Record actions for units as one operation.

    Units that cannot run their action get no task but an error in the result.
    """
    names = list(dict.fromkeys(request.action for request in requests))
    with ctx.change(model) as tx:
        models.require_alive(tx)
        tags = [_tag(name) for request in requests for name in request.receivers]
        queue = _Queue(tx, names[0] if len(names) == 1 else _SEVERAL, tags)
        for request in requests:
            for name in request.receivers:
                _enqueue(tx, queue, request, name)
        return queue.close()


def _enqueue(tx: ModelTx, queue: _Queue, request: ActionRequest, name: str) -> None:
    """Add an action for a unit to an operation."""
    try:
        unit = _unit(tx, name)
        spec = actions.spec_of(tx, unit, request.action)
        validate_params(spec, request.parameters)
    except (NotFound, NotValid) as error:
        return queue.refuse(error.message)
    parallel = spec.parallel if request.parallel is None else request.parallel
    group = spec.execution_group if request.execution_group is None else request.execution_group
    parameters = insert_defaults(spec, request.parameters)
    return queue.add_unit(unit, request.action, parameters, parallel=parallel, group=group)


def enqueue_commands(ctx: Context, model: str, request: CommandRequest) -> Enqueued:
    """Record commands for units and machines; those that do not exist get an error in the result."""
    parameters = {"command": request.command, "timeout": int(request.timeout_s * 1e9)}
    with ctx.change(model) as tx:
        models.require_alive(tx)
        names = _units_asked(tx, request)
        ids = _machines_asked(tx, request)
        tags = [*map(_tag, names), *map(machine_tag, ids)]
        queue = _Queue(tx, EXEC, tags)
        parallel, group = request.parallel, request.execution_group
        for name in names:
            try:
                unit = _unit(tx, name)
            except NotFound as error:
                queue.refuse(error.message)
            else:
                queue.add_unit(unit, EXEC, parameters, parallel=parallel, group=group)
        for machine_id in ids:
            if tx.find(Machine, "machine_get", id=machine_id) is None:
                queue.refuse(f"machine {machine_id} not found")
            else:
                queue.add_machine(machine_id, parameters, parallel=parallel, group=group)
        return queue.close()


class _Queue:
    """An operation to which tasks are added."""

    def __init__(self, tx: ModelTx, action: str, tags: Sequence[str]) -> None:
        self._tx, self._now = tx, tx.now
        self._outcomes: list[Task | str] = []
        summary = f"{action} run on {','.join(tags)}"
        self._operation = ActionOperation(model=tx.model, id=self._number(), summary=summary, enqueued=tx.now)
        tx.insert("action_operation", self._operation)

    def _number(self) -> int:
        return self._tx.next(self._tx.model, _SEQUENCE, at_least=1)

    def refuse(self, reason: str) -> None:
        """Add the error of a unit or machine that gets no task."""
        self._outcomes.append(reason)

    def add_unit(
        self, unit: Unit, action: str, parameters: Mapping[str, Any], *, parallel: bool, group: str
    ) -> None:
        self._add(Receiver.UNIT, unit.name, action, parameters, parallel=parallel, group=group)
        wake.unit(self._tx, unit, f"action {action}")

    def add_machine(self, machine: str, parameters: Mapping[str, Any], *, parallel: bool, group: str) -> None:
        self._add(Receiver.MACHINE, machine, EXEC, parameters, parallel=parallel, group=group)
        wake.machine(self._tx, machine, "commands")

    def _add(
        self,
        kind: Receiver,
        name: str,
        action: str,
        parameters: Mapping[str, Any],
        *,
        parallel: bool,
        group: str,
    ) -> None:
        task = Task(
            model=self._tx.model, id=self._number(), operation=self._operation.id, kind=kind, receiver=name,
            action=action, parameters=parameters, parallel=parallel, execution_group=group,
            status=TaskStatus.PENDING, enqueued=self._now,
        )  # fmt: skip
        self._tx.insert("task", task)
        self._outcomes.append(task)

    def close(self) -> Enqueued:
        """Record the errors, and return the operation with its tasks."""
        errors = tuple(item for item in self._outcomes if isinstance(item, str))
        if errors:
            fail = "\n".join(errors)
            self._tx.run("action_operation_set_fail", model=self._tx.model, id=self._operation.id, fail=fail)
        tasks = tuple(item for item in self._outcomes if isinstance(item, Task))
        return Enqueued(
            operation=self._operation.id, tasks=tasks, errors=errors, outcomes=tuple(self._outcomes)
        )


def _tag(receiver: str) -> str:
    return receiver if receiver.endswith(LEADER) else unit_tag(receiver)


def _unit(tx: ModelTx, name: str) -> Unit:
    """Return the unit that a name or `APPLICATION/leader` stands for.

    Raises:
        NotFound: The unit does not exist, or the application has no leader; the message is Juju's.
    """
    name = _named(tx, name)
    unit = tx.find(Unit, "unit_get", name=name)
    if unit is None or unit.life == Life.DEAD:
        raise not_found("unit", name)
    return unit


def _named(tx: ModelTx, name: str) -> str:
    """Return the name of a unit, for `APPLICATION/leader` that of the leader."""
    application = name.removesuffix(LEADER)
    found = name if application == name else leadership.holder(tx, application)
    if not found:
        raise NotFound(f'could not determine leader for "{application}"')
    return found


def _units_asked(tx: ModelTx, request: CommandRequest) -> list[str]:
    found = [_named(tx, name) for name in request.units]
    for name in request.applications:
        applications.get(tx, name)
        every = tx.list(Unit, "unit_of_application", application=name)
        found += [unit.name for unit in every]
    return list(dict.fromkeys(found))


def _machines_asked(tx: ModelTx, request: CommandRequest) -> list[str]:
    every = machines.list_machines(tx) if request.every_machine else []
    return list(dict.fromkeys([*request.machines, *(machine.id for machine in every)]))


def cancel(ctx: Context, model: str, numbers: Iterable[int]) -> list[Task]:
    """Cancel pending tasks and abort running ones; when one of the numbers is unknown, change none.

    Returns:
        The tasks with their new status.
    """
    with ctx.change(model) as tx:
        tasks = [actions.get_task(tx, number) for number in numbers]
        for task in tasks:
            if task.status == TaskStatus.PENDING:
                actions.finish(tx, task.id, TaskStatus.CANCELLED, message=CANCELLED)
            elif tx.run("task_abort", id=task.id):
                _wake_receiver(tx, task)
        return [actions.get_task(tx, task.id) for task in tasks]


def _wake_receiver(tx: ModelTx, task: Task) -> None:
    if task.kind == Receiver.MACHINE:
        wake.machine(tx, task.receiver, "a task is cancelled")
        return
    unit = tx.find(Unit, "unit_get", name=task.receiver)
    if unit is not None:
        wake.unit(tx, unit, "a task is cancelled")
