"""The statuses of tasks and operations, and the predefined action juju-exec.

Mirrors: juju state/action.go, state/operation.go (3.6)
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

EXEC = "juju-exec"  # the action that every unit has: run a command


class TaskStatus(StrEnum):
    """The state of a task; an operation has the same states."""

    PENDING = "pending"
    RUNNING = "running"
    ABORTING = "aborting"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    ABORTED = "aborted"
    ERROR = "error"

    @property
    def over(self) -> bool:
        """True when the task has ended."""
        return self not in (TaskStatus.PENDING, TaskStatus.RUNNING, TaskStatus.ABORTING)


class Receiver(StrEnum):
    """The kind of entity that a task runs on."""

    UNIT = "unit"
    MACHINE = "machine"


_ACTIVE = (
    TaskStatus.ERROR, TaskStatus.RUNNING, TaskStatus.ABORTING, TaskStatus.PENDING, TaskStatus.FAILED,
    TaskStatus.ABORTED, TaskStatus.CANCELLED, TaskStatus.COMPLETED,
)  # fmt: skip
_OVER = (TaskStatus.ERROR, TaskStatus.FAILED, TaskStatus.ABORTED, TaskStatus.CANCELLED, TaskStatus.COMPLETED)


def operation_status(statuses: Iterable[str]) -> TaskStatus:
    """Return the status of an operation from the statuses of its tasks; `error` when it has no tasks."""
    found = {TaskStatus(status) for status in statuses}
    if not found:
        return TaskStatus.ERROR
    order = _OVER if all(status.over for status in found) else _ACTIVE
    return next(status for status in order if status in found)
