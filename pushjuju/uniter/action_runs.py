"""Actions on a unit: the request to the machine, and the commit of the result.

A failing action fails its task, but not the unit. An action never runs twice.

Mirrors: juju worker/uniter/operation/{runaction,failaction}.go, worker/uniter/runner/context (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from pushjuju.charms.format.actions import validate_params
from pushjuju.core.errors import NotFound, NotValid
from pushjuju.core.model.tasks import EXEC, TaskStatus
from pushjuju.core.values import dataclass
from pushjuju.runner.remote.base.results import TIMED_OUT
from pushjuju.services.entities.action import actions
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import model_config
from pushjuju.store.rows.records import Model, Task
from pushjuju.store.rows.records import Operation as OperationRecord
from pushjuju.store.tx import ModelTx
from pushjuju.uniter.apply.flush import Writes, flush, refusal
from pushjuju.uniter.decide.decision import MACHINE_LOCK, Operation, OperationName
from pushjuju.uniter.decide.loop import decide
from pushjuju.uniter.decide.state import LocalState
from pushjuju.uniter.input.environment import hook_environment
from pushjuju.uniter.input.hookcontext import hook_context
from pushjuju.uniter.input.snapshot import View, store_local
from pushjuju.uniter.state.operation import Outcome, committed, executed, prepare, skip_reason

if TYPE_CHECKING:
    from pushjuju.portable.frames import Op

TERMINATED = "action terminated"
NOT_COMMITTED = "committing requested changes failed"
MACHINE = "machine"  # the name on the machine of the lock that hooks hold
Result = Mapping[str, Any]


# --- before the run ---------------------------------------------------------------------------------------


def settled_in_model(tx: ModelTx, view: View, local: LocalState, operation: Operation) -> LocalState | None:
    """End an action that needs no machine: an interrupted action, or an action that the charm cannot run.

    Returns:
        The unit's state after the action, or None when the action must run.
    """
    if operation.name is OperationName.FAIL_ACTION:
        message = TERMINATED
    elif operation.name is OperationName.RUN_ACTION and not skip_reason(local, operation, view.remote):
        message = _bad_action(tx, view, operation)
    else:
        return None
    if not message:
        return None
    number = int(operation.action_id)
    actions.finish(tx, number, TaskStatus.FAILED, message=message)
    return committed(prepare(local, operation, view.remote), operation)


def _bad_action(tx: ModelTx, view: View, operation: Operation) -> str:
    """Return why the unit's charm cannot run an action; the charm may have changed since the request."""
    task = actions.get_task(tx, int(operation.action_id))
    try:
        spec = actions.spec_of(tx, view.unit, task.action)
        validate_params(spec, task.parameters)
    except NotFound:
        return f'cannot run "{task.action}" action: not defined'
    except NotValid as error:
        return f'cannot run "{task.action}" action: {error.message}'
    return ""


def action_frame(tx: ModelTx, view: View, operation: Operation, model: Model, operation_id: str) -> Op:
    """Build the request for an action, or for the commands of `exec`."""
    task = actions.get_task(tx, int(operation.action_id))
    frame: Op = {
        "t": "op",
        "id": operation_id,
        "unit": view.unit.name,
        "env": hook_environment(tx, view, operation, model),
        "context": hook_context(tx, view, operation, model),
        "logging": model_config.get(tx, "logging-config"),
        "lock": _machines_lock(operation.lock),
        "kind": "commands" if task.action == EXEC else "action",
    }
    frame["context"]["kind"] = frame["kind"]
    if task.action == EXEC:
        return _as_commands(frame, task)
    frame["action"] = task.action
    frame["env"].update(
        JUJU_DISPATCH_PATH=f"actions/{task.action}",
        JUJU_ACTION_NAME=task.action,
        JUJU_ACTION_UUID=str(task.id),
        JUJU_ACTION_TAG=f"action-{task.id}",
    )
    frame["context"]["action"] = {
        "name": task.action, "id": str(task.id), "params": dict(task.parameters),
    }  # fmt: skip
    return frame


def _as_commands(frame: Op, task: Task) -> Op:
    del frame["env"]["JUJU_DISPATCH_PATH"]
    frame["script"], frame["timeout"] = commands_of(task)
    return frame


def commands_of(task: Task) -> tuple[str, float | None]:
    """Return script and time limit of an `exec` task."""
    timeout = float(task.parameters.get("timeout") or 0) / 1e9
    return str(task.parameters["command"]), timeout or None


def lock_of(task: Task) -> str:
    """Return the lock that a task without a unit holds, by its name on the machine."""
    return _machines_lock(
        f"{MACHINE_LOCK}-{task.execution_group}"
        if task.execution_group
        else ("" if task.parallel else MACHINE_LOCK)
    )


def next_lock(view: View) -> str:
    """Return the lock that a unit's next operation holds, by its name on the machine; "" for no lock."""
    operation = decide(view.local, view.remote).operation
    if operation is None or operation.name is not OperationName.RUN_ACTION:
        return MACHINE
    return _machines_lock(operation.lock)


def _machines_lock(lock: str) -> str:
    """Return the name of a lock on the machine."""
    return MACHINE if lock == MACHINE_LOCK else lock.removeprefix(f"{MACHINE_LOCK}-")


# --- during the run ---------------------------------------------------------------------------------------


def task_number(found: OperationRecord) -> int | None:
    """Return the task of an operation on a machine, or None when the operation has no task."""
    number = found.document.get("task") or found.document.get("operation", {}).get("action-id")
    return int(number) if number else None


def is_unwanted(tx: ModelTx, found: OperationRecord) -> bool:
    """Return True when a user cancelled the task of a running operation."""
    number = task_number(found)
    return number is not None and actions.is_aborting(tx, number)


# --- after the run ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a task ended."""

    status: TaskStatus
    message: str = ""
    results: Mapping[str, Any] = field(default_factory=dict)
    keeps: bool = False  # True when the changes of the action are written to the model


def commit_action(
    ctx: Context, tx: ModelTx, view: View, operation: Operation, result: Result
) -> tuple[str, Writes]:
    """Commit the result of an action; return its message for users, and what the action changed."""
    writes = result.get("writes") or {}
    if result.get("recovered"):  # how the run ended is unknown: the next decision fails the action
        store_local(tx, view.unit, executed(view.local, operation, Outcome.INTERRUPTED))
        return TERMINATED, {}
    task = actions.get_task(tx, int(operation.action_id))
    ending = judge(task, result)
    if ending.keeps and (problem := refusal(ctx, tx, view, writes)):
        ending = _not_committed(ending, problem)
    changes = flush(ctx, tx, view, operation, writes) if ending.keeps else {}
    actions.finish(tx, task.id, ending.status, message=ending.message, results=ending.results)
    local = executed(view.local, operation, Outcome.OK, status_set=bool(writes.get("status_set")))
    store_local(tx, view.unit, committed(local, operation))
    return ending.message, changes


def commit_commands(tx: ModelTx, found: OperationRecord, result: Result) -> str:
    """Commit the result of commands on a machine; return its message for users."""
    number = task_number(found)
    if number is None:
        return ""
    task = actions.get_task(tx, number)
    recovered = bool(result.get("recovered"))
    ending = Ending(status=TaskStatus.FAILED, message=TERMINATED) if recovered else judge(task, result)
    actions.finish(tx, task.id, ending.status, message=ending.message, results=ending.results)
    return ending.message


def judge(task: Task, result: Result) -> Ending:
    """Return how a task ended, from the result of its operation.

    Commands may exit with any code; an action of a charm fails with any code except 0.

    Mirrors: juju worker/uniter/runner/context/context.go finalizeAction (3.6)
    """
    word, message = str(result.get("outcome", "")), str(result.get("message") or "")
    said = (result.get("writes") or {}).get("action") or {}
    if word == "missing":
        return Ending(status=TaskStatus.FAILED, message=f'action not implemented on unit "{task.receiver}"')
    results = _results(task, result, said)
    if word == "interrupted":
        if result.get("code") == TIMED_OUT:
            return Ending(status=TaskStatus.FAILED, message=message, results=results)
        return Ending(status=TaskStatus.ABORTED, message="terminated", results=results)
    if word == "ok" and said.get("failed"):
        return Ending(
            status=TaskStatus.FAILED, message=str(said.get("message", "")), results=results, keeps=True
        )
    if word == "ok" or (task.action == EXEC and word == "failed" and result.get("exit") is not None):
        return Ending(status=TaskStatus.COMPLETED, results=results, keeps=True)
    return Ending(
        status=TaskStatus.FAILED, message=message or f"exit status {result.get('exit')}", results=results
    )


def _results(task: Task, result: Result, said: Mapping[str, Any]) -> dict[str, object]:
    """Return the results that the script set, with its exit code and output."""
    results = dict(said.get("results") or {})
    code = result.get("exit")
    if code is not None or result.get("signal"):
        results["return-code"] = -1 if code is None else int(code)
    for stream in ("stdout", "stderr"):
        text, encoding = str(result.get(stream) or ""), result.get(f"{stream}-encoding")
        if encoding:
            results[f"{stream}-encoding"] = encoding
        elif text and task.action != EXEC and not text.endswith("\n"):
            text += "\n"
        if text:
            results[stream] = text
    return results


def _not_committed(ending: Ending, problem: str) -> Ending:
    stderr = str(ending.results.get("stderr", ""))
    code = ending.results.get("return-code") or 1  # a failure must not have the exit code 0
    return Ending(
        status=TaskStatus.FAILED,
        message=ending.message or NOT_COMMITTED,
        results={**ending.results, "return-code": code, "stderr": f"{stderr}{problem}\n"},
    )
