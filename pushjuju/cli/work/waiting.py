"""Waits for tasks: works on the model, prints what the tasks log, gives up at the time limit.

Mirrors: juju cmd/juju/action/common.go (3.6)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pushjuju.cli.terminal.times import log_line
from pushjuju.cli.work import drive, foreground
from pushjuju.core.errors import PushjujuError
from pushjuju.core.model.tasks import TaskStatus
from pushjuju.services.views import tasks

if TYPE_CHECKING:
    from pushjuju.cli.syntax.command import Cli
    from pushjuju.core.problems import Problem
    from pushjuju.services.entities.model.sessions import Session
    from pushjuju.services.views.tasks import Task, TaskLog

_POLL_S = 0.05
_PATIENCE_S = 5.0  # how long to wait for other work after the tasks are over
_AGAIN_S = 5.0  # how often to check that a background process still runs

Say = Callable[[str], None]


class TimedOut(PushjujuError, code="timed-out"):
    """What a command waited for was not there at the time limit."""


class TaskWatch:
    """Looks at tasks until they are over, and prints their log.

    Attributes:
        say: Prints a line of progress.
    """

    def __init__(self, cli: Cli, waited: Sequence[Task], seconds: float, *, say: Say, utc: bool) -> None:
        """Prepare to watch.

        Args:
            seconds: The time limit; negative for no limit.
            say: Prints a line of progress.
        """
        self._cli, self._say, self._utc = cli, say, utc
        self._tasks = list(waited)
        self._ends = None if seconds < 0 else cli.clock.monotonic() + seconds
        self._named = 0  # number of tasks that were announced
        self._seen = 0  # id of the last log line that was shown
        self._parted = False  # True when an empty line was printed after the log

    def look(self) -> bool:
        """Print new lines of the log; return True when all tasks are over.

        Raises:
            TimedOut: Tasks are not over at the time limit.
        """
        left, lines = self._read([task.id for task in self._tasks])
        self._announce({task.id for task in left})
        for line in lines:
            self._seen = line.id
            shown = {"time": line.time, "message": line.message}
            self._say(log_line(shown, utc=self._utc))
        if left and self._deadline() is not None:
            names = ", ".join(f"{task.kind} {task.receiver}" for task in left)
            raise TimedOut(f"timed out waiting for results from: {names}")
        if self._seen and not left and not self._parted:
            self._say("\n")
            self._parted = True
        return not left

    def _read(self, numbers: Sequence[int]) -> tuple[Sequence[Task], Sequence[TaskLog]]:
        """Return the tasks that are not over, and the new lines of the log."""
        raise NotImplementedError

    def _deadline(self) -> datetime | None:
        """Return when the time limit ended, or None before; the clock may jump meanwhile."""
        over = 0.0 if self._ends is None else self._cli.clock.monotonic() - self._ends
        return self._cli.clock.now() - timedelta(seconds=over) if over > 0 else None

    def _announce(self, left: set[int]) -> None:
        """Announce each task once, in order, when the tasks before are over."""
        while self._named < len(self._tasks):
            if self._named and self._tasks[self._named - 1].id in left:
                return
            self._say(f"Waiting for task {self._tasks[self._named].id}...")
            self._named += 1


class Waiter(TaskWatch):
    """Waits for tasks of a model on this computer, and works on the model meanwhile."""

    def __init__(
        self, cli: Cli, opened: Session, waited: Sequence[Task], seconds: float, *, say: Say, utc: bool
    ) -> None:
        super().__init__(cli, waited, seconds, say=say, utc=utc)
        self._opened = opened

    def wait(self) -> None:
        """Work on the model, or wait for a background process, until the tasks are over.

        Raises:
            TimedOut: The tasks are not over at the time limit; they go on.
        """
        if not self._tasks or self._cli.rehearsal:
            return
        self._cli.on_interrupt = (
            "Stopped waiting. What was asked for goes on with the next command;\n"
            f"{self._cli.program} show-operation {self._tasks[0].operation}    tells how it ended"
        )
        try:
            work(self._cli, self._opened, self.look)
        except TimedOut:
            drive.background(self._cli, self._opened.ctx, self._opened.uuid)
            raise

    def _read(self, numbers: Sequence[int]) -> tuple[Sequence[Task], Sequence[TaskLog]]:
        return tasks.watch(self._opened.ctx, self._opened.uuid, numbers, self._deadline(), self._seen)


def work(cli: Cli, opened: Session, look: Callable[[], bool]) -> None:
    """Work on the model, or wait for the background process, until `look` returns True.

    A slow hook of another unit does not delay the return: the background process goes on with the hook.
    """
    if look():
        return
    if drive.waits(cli):
        attend(cli, opened, look, until=look, patience=_PATIENCE_S)
        return
    begun = 0.0
    while not look():
        opened.ctx.require()
        if time.monotonic() - begun > _AGAIN_S:
            drive.background(cli, opened.ctx, opened.uuid)
            begun = time.monotonic()
        time.sleep(_POLL_S)


def attend(
    cli: Cli,
    opened: Session,
    look: Callable[[], bool],
    *,
    until: Callable[[], bool] = lambda: True,
    patience: float = float("inf"),
) -> Sequence[Problem]:
    """Work on the model and call `look` every 50 ms; return what failed.

    Args:
        look: Prints what is new, and returns True when everything that the caller waits for is over.
        until: Called when the model is at rest; while it returns False the worker waits for later due times.
        patience: Seconds to wait for other work after `look` returned True; then the background goes on.
    """

    def leave() -> None:
        drive.background(cli, opened.ctx, opened.uuid)

    return foreground.attend(cli, opened, look, until=until, patience=patience, leave=leave)


_NOT_RUN = (TaskStatus.FAILED, TaskStatus.CANCELLED, TaskStatus.ABORTED, TaskStatus.ERROR)


def failures(found: Sequence[dict[str, object]], *, unstarted: bool = False) -> str:
    """Return the error text for tasks whose script failed; empty when no script failed.

    Args:
        unstarted: True when a task has failed, too, whose script never began or has no result.
    """
    bad = []
    for task in found:
        results = task.get("results")
        code = results.get("return-code", 0) if isinstance(results, dict) else 0
        if code:
            bad.append(f' - id "{task["id"]}" with return code {code}')
        elif unstarted and not results and task["status"] in _NOT_RUN:
            bad.append(f' - id "{task["id"]}" {task["status"]}: {task.get("message") or "it has no result"}')
    if not bad:
        return ""
    many = len(bad) > 1
    head = f"the following task{'s' if many else ''} failed:"
    tail = f"use 'pushjuju show-task' to inspect the failure{'s' if many else ''}"
    return "\n".join([head, *bad, "", tail])


def is_over(status: str) -> bool:
    """Return True when a task with this status is over."""
    return TaskStatus(status).over
