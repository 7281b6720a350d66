"""Commands for a machine itself: `exec --machine`.

Commands hold the machine's lock unless they are parallel, and run once, as hooks do. Mirrors: juju
worker/machineactions (3.6)
"""

from __future__ import annotations

import uuid
from collections.abc import Collection
from typing import TYPE_CHECKING

from pushjuju.core.model.tasks import Receiver
from pushjuju.services.entities.action import actions
from pushjuju.services.entities.basis.context import Context
from pushjuju.store.processes import CAUSE
from pushjuju.store.rows.records import Machine, Operation, Task
from pushjuju.store.tx import ModelTx
from pushjuju.uniter.action_runs import commands_of, lock_of
from pushjuju.uniter.dispatch import Dispatch

if TYPE_CHECKING:
    from pushjuju.portable.frames import Op

TITLE = "juju-exec"
_USER = "ubuntu"  # of cloud images; on a machine without this user, root runs the commands


def are_pending(tx: ModelTx, machine: str) -> bool:
    """Return True when commands wait for a machine."""
    return bool(actions.pending(tx, Receiver.MACHINE, machine))


def waiting(ctx: Context, model: str, machine: str) -> bool:
    """Return True when commands wait for a machine, in a transaction of its own."""
    with ctx.read(model) as tx:
        return are_pending(tx, machine)


def take(ctx: Context, machine: Machine, held: Collection[str] = ()) -> Dispatch | None:
    """Prepare the oldest commands that wait for a machine; return None when no commands wait.

    Args:
        held: Locks that are held; a command that needs one of these locks has to wait.
    """
    if not waiting(ctx, machine.model, machine.id):
        return None
    now = ctx.clock.now()
    with ctx.write(machine.model) as tx:
        found = actions.pending(tx, Receiver.MACHINE, machine.id)
        task = next((each for each in found if lock_of(each) not in held), None)
        if task is None:
            return None
        actions.start(tx, task.id)
        dispatch = _prepared(task, str(uuid.uuid4()))
        row = Operation(
            id=dispatch.id, model=task.model, machine=machine.id, unit="", name=TITLE,
            state="prepared", document={"task": task.id}, prepared=now, cause=CAUSE.get(),
        )  # fmt: skip
        tx.insert("operation", row)
        return dispatch


def again(ctx: Context, operation: Operation) -> Dispatch:
    """Return the request for commands that are prepared already."""
    with ctx.read(operation.model) as tx:
        return _prepared(_task(tx, operation), operation.id)


def _task(tx: ModelTx, operation: Operation) -> Task:
    return actions.get_task(tx, int(operation.document["task"]))


def _prepared(task: Task, operation_id: str) -> Dispatch:
    command, timeout = commands_of(task)
    frame: Op = {
        "t": "op",
        "id": operation_id,
        "kind": "exec",
        "script": command,
        "user": _USER,
        "timeout": timeout,
        "lock": lock_of(task),
    }
    return Dispatch(id=operation_id, unit="", title=TITLE, frame=frame)
