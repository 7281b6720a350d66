"""Action: actions and commands on units and machines. Mirrors: juju apiserver/facades/client/action (3.6)"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pushjuju.core.clock import to_iso
from pushjuju.core.errors import NotFound, PushjujuError
from pushjuju.core.model.tasks import operation_status
from pushjuju.services.entities.basis import blocks
from pushjuju.services.requests.action import operations
from pushjuju.services.views import tasks
from pushjuju.store.rows.records import ActionOperation, Task
from pushjuju.web import errors, tags
from pushjuju.web.decoding import Count
from pushjuju.web.registry import Facade, Needs, bulk, facade, method
from pushjuju.web.shapes.common import Entities, Results
from pushjuju.web.subscriptions import Wanted
from pushjuju.web.watch import readings

_RETURN_CODE = "return-code"


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionParams:
    """An action for a unit."""

    receiver: str = ""
    name: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    parallel: bool | None = None
    execution_group: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunParams:
    """Commands; the timeout is in nanoseconds."""

    commands: str = ""
    timeout: int = 0
    machines: list[str] = field(default_factory=list)
    applications: list[str] = field(default_factory=list)
    units: list[str] = field(default_factory=list)
    parallel: bool | None = None
    execution_group: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationQueryArgs:
    """Conditions of operations to list: of each list that is not empty, one entry must match."""

    applications: list[str] = field(default_factory=list)
    units: list[str] = field(default_factory=list)
    machines: list[str] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    status: list[str] = field(default_factory=list)
    offset: Count = 0
    limit: Count | None = None


_USUAL_S = 300.0


def _request(item: ActionParams) -> operations.ActionRequest:
    name = tags.unit(item.receiver) if item.receiver.startswith("unit-") else item.receiver
    return operations.ActionRequest(
        action=item.name,
        receivers=[name],
        parameters=item.parameters,
        parallel=item.parallel,
        execution_group=item.execution_group,
    )


@facade("Action")
class Action(Facade):
    """The actions of the model."""

    @bulk("entities", Needs.READ)
    def actions(self, tag: str) -> dict[str, object]:
        """Return tasks with their status and results."""
        return _result(*tasks.with_log(self.ctx, self.model, _number(tags.action(tag))))

    @method(Needs.WRITE, blocked_by=blocks.CHANGE)
    def enqueue_operation(self, actions: list[ActionParams]) -> dict[str, object]:
        if not actions:
            return {"operation": "operation-0", "actions": []}
        made = operations.enqueue(self.ctx, self.model, *map(_request, actions))
        found = [
            {"error": {"message": item, "code": ""}} if isinstance(item, str) else _result(item)
            for item in made.outcomes
        ]
        return {"operation": f"operation-{made.operation}", "actions": found}

    @method(Needs.ADMIN, blocked_by=blocks.CHANGE)
    def run(self, params: RunParams) -> dict[str, object]:
        """Run commands on units and machines, as root."""
        return self._run(params)

    @method(Needs.ADMIN, blocked_by=blocks.CHANGE)
    def run_on_all_machines(self, params: RunParams) -> dict[str, object]:
        """Run commands on all machines, as root."""
        return self._run(params, every=True)

    def _run(self, params: RunParams, *, every: bool = False) -> dict[str, object]:
        request = operations.CommandRequest(
            command=params.commands,
            timeout_s=params.timeout / 1e9 if params.timeout > 0 else _USUAL_S,
            units=params.units,
            applications=params.applications,
            machines=params.machines,
            every_machine=every,
            parallel=True if params.parallel is None else params.parallel,
            execution_group=params.execution_group or "",
        )
        made = operations.enqueue_commands(self.ctx, self.model, request)
        found = [_result(task) for task in made.tasks]
        found += [{"error": {"message": text, "code": ""}} for text in made.errors]
        return {"operation": f"operation-{made.operation}", "actions": found}

    @bulk("entities", Needs.WRITE, blocked_by=blocks.CHANGE)
    def cancel(self, tag: str) -> dict[str, object]:
        return _result(operations.cancel(self.ctx, self.model, [_number(tags.action(tag))])[0])

    @method(Needs.READ)
    def list_operations(self, params: OperationQueryArgs) -> dict[str, object]:
        """Return operations with their tasks, oldest first."""
        wanted = tasks.Filter(
            applications=params.applications,
            units=params.units,
            machines=params.machines,
            actions=params.actions,
            statuses=params.status,
        )
        limit = tasks.DEFAULT_LIMIT if params.limit is None else params.limit
        found, more = tasks.records(self.ctx, self.model, wanted, limit=limit, offset=params.offset)
        return {"results": [_operation(*item) for item in found], "truncated": more}

    @method(Needs.READ)
    def operations(self, params: Entities) -> dict[str, object]:
        """Return some operations with their tasks."""
        return {"results": [self._shown(item.tag) for item in params.entities], "truncated": False}

    def _shown(self, tag: str) -> dict[str, object]:
        try:
            return _operation(*tasks.record(self.ctx, self.model, _number(tags.operation(tag), "operation")))
        except PushjujuError as error:
            return {"operation": tag, "summary": "", "error": errors.told(error)}

    @bulk("entities", Needs.WRITE)
    def applications_charms_actions(self, tag: str) -> dict[str, object]:
        """Return the actions of the charms of applications, with their schemas."""
        try:
            found = tasks.specs_of(self.ctx, self.model, tags.application(tag))
        except PushjujuError as error:
            return {"application-tag": tag, "error": errors.told(error)}
        actions = {
            name: {"description": spec.description, "params": dict(spec.schema)}
            for name, spec in found.items()
        }
        return {"application-tag": tag, "actions": actions}

    @method(Needs.READ)
    async def watch_actions_progress(self, params: Entities) -> Results:
        """Begin to watch the messages of actions; the answer has the messages logged so far."""
        return {"results": [await self._watch(item.tag) for item in params.entities]}

    async def _watch(self, tag: str) -> dict[str, object]:
        try:
            number = _number(tags.action(tag))
            wanted = Wanted(
                facade="StringsWatcher", model=self.model, read=readings.Progress(self.model, number),
                kinds=("progress",), entities=(str(number),),
            )  # fmt: skip
            name = await self.call.watchers.listen(wanted)
            first = json.loads(await self.call.watchers.next(wanted.facade, name))
        except PushjujuError as error:
            return {"watcher-id": "", "error": errors.told(error)}
        return {**first, "watcher-id": name}


def _number(text: str, kind: str = "action") -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise NotFound(f'{kind} "{text}" not found')
    return int(text)


def _operation(operation: ActionOperation, found: Sequence[Task]) -> dict[str, object]:
    started = [task.started for task in found if task.started]
    completed = [task.completed for task in found if task.completed]
    shown: dict[str, object] = {
        "operation": f"operation-{operation.id}",
        "summary": operation.summary,
        "status": str(operation_status(task.status for task in found)),
        "enqueued": to_iso(operation.enqueued),
        "actions": [_result(task) for task in found],
    }
    if operation.fail:
        shown["fail"] = operation.fail
    if started:
        shown["started"] = to_iso(min(started))
    if completed and len(completed) == len(found):
        shown["completed"] = to_iso(max(completed))
    return shown


def _result(task: Task, log: Sequence[Any] = ()) -> dict[str, object]:
    kind = tags.of_unit(task.receiver) if task.kind == "unit" else tags.of_machine(task.receiver)
    found: dict[str, object] = {
        "action": {
            "tag": f"action-{task.id}",
            "receiver": kind,
            "name": task.action,
            "parameters": dict(task.parameters),
        },
        "enqueued": to_iso(task.enqueued),
        "status": task.status,
        "message": task.message,
        "output": _output(dict(task.results)),
        "log": [{"timestamp": to_iso(line.time), "message": line.message} for line in log],
    }
    if task.started:
        found["started"] = to_iso(task.started)
    if task.completed:
        found["completed"] = to_iso(task.completed)
    return found


def _output(results: dict[str, Any]) -> dict[str, object]:
    """Return the results that a task has set, with the exit status as a number."""
    code = results.get(_RETURN_CODE)
    return {**results, _RETURN_CODE: int(code)} if code is not None else results
