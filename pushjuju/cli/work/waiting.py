"""Waiting for tasks: drive the model, show what they say, give up in time.

Mirrors: juju cmd/juju/action/common.go (3.6)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pushjuju.cli.terminal.times import log_line
from pushjuju.cli.work import drive, foreground
from pushjuju.core.clock import from_iso
from pushjuju.core.errors import PushjujuError
from pushjuju.core.model.tasks import TaskStatus
from pushjuju.services.views import tasks

if TYPE_CHECKING:
    from pushjuju.cli.syntax.command import Cli
    from pushjuju.core.problems import Problem
    from pushjuju.services.entities.model.sessions import Session
    from pushjuju.services.views.tasks import Task

_POLL_S = 0.05
_PATIENCE_S = 5.0  # with what else is under way, once all that is waited for is over
_AGAIN_S = 5.0  # how often a background process is looked after while it is waited for

Say = Callable[[str], None]


class TimedOut(PushjujuError, code="timed-out"):
    """Tasks were not over in time."""


class Waiter:
    """Follows tasks until all of them are over.

    Attributes:
        say: Prints a line of progress.
    """

    def __init__(
        self, cli: Cli, opened: Session, waited: Sequence[Task], seconds: float, *, say: Say, utc: bool
    ) -> None:
        """Begin to wait.

        Args:
            seconds: How long to wait; for ever when negative.
            say: Prints a line of progress.
        """
        self._cli, self._opened, self._say, self._utc = cli, opened, say, utc
        self._tasks = list(waited)
        self._ends = None if seconds < 0 else cli.clock.monotonic() + seconds
        self._named = 0  # tasks that are waited for, as the user was informed
        self._seen = 0  # last line of the log that was shown
        self._parted = False  # the log from what follows, by an empty line

    def wait(self) -> None:
        """Work the model, or let the background work it, until the tasks are over.

        Raises:
            TimedOut: The tasks are not over in time; they go on.
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
            drive.background(self._cli, self._opened.ctx)
            raise

    def look(self) -> bool:
        """Show what is new; return True when all is over.

        Raises:
            TimedOut: The tasks are not over in time.
        """
        ctx, numbers = self._opened.ctx, [task.id for task in self._tasks]
        left, lines = tasks.watch(ctx, self._opened.uuid, numbers, self._deadline(), self._seen)
        self._announce({task.id for task in left})
        for line in lines:
            self._seen = line.id
            shown = {"time": from_iso(line.time), "message": line.message}
            self._say(log_line(shown, utc=self._utc))
        if left and self._deadline() is not None:
            names = ", ".join(f"{task.kind} {task.receiver}" for task in left)
            raise TimedOut(f"timed out waiting for results from: {names}")
        if self._seen and not left and not self._parted:
            self._say("\n")
            self._parted = True
        return not left

    def _deadline(self) -> datetime | None:
        """Return when the time was over, or None while there is some left; the clock may jump meanwhile."""
        over = 0.0 if self._ends is None else self._cli.clock.monotonic() - self._ends
        return self._cli.clock.now() - timedelta(seconds=over) if over > 0 else None

    def _announce(self, left: set[int]) -> None:
        """Name the task that is waited for, each one once, in order."""
        while self._named < len(self._tasks):
            if self._named and self._tasks[self._named - 1].id in left:
                return
            self._say(f"Waiting for task {self._tasks[self._named].id}...")
            self._named += 1


def work(cli: Cli, opened: Session, look: Callable[[], bool]) -> None:
    """Drive the model in the foreground, or wait for the background process, until `look` says so.

    A hook elsewhere that takes long does not hold up what is over: the background process goes on with it.
    """
    if look():
        return
    if drive.waits(cli):
        attend(cli, opened, look, until=look, patience=_PATIENCE_S)
        return
    begun = 0.0
    while not look():
        opened.ctx.store.require_file()
        if time.monotonic() - begun > _AGAIN_S:
            drive.background(cli, opened.ctx)
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
    """Drive the model and look every so often; return what failed.

    Args:
        look: Shows what is new, and returns True when everything that is waited for is over.
        until: Called at rest; while it returns False the wait goes on for what becomes due later.
        patience: Seconds with what else is under way when all is over; then it is left to the background.
    """

    def leave() -> None:
        drive.background(cli, opened.ctx)

    return foreground.attend(cli, opened, look, until=until, patience=patience, leave=leave)


def failures(found: Sequence[dict[str, object]]) -> str:
    """Return the error of tasks whose script failed; empty when all went well."""
    bad = []
    for task in found:
        results = task.get("results")
        code = results.get("return-code", 0) if isinstance(results, dict) else 0
        if code:
            bad.append(f' - id "{task["id"]}" with return code {code}')
    if not bad:
        return ""
    many = len(bad) > 1
    head = f"the following task{'s' if many else ''} failed:"
    tail = f"use 'pushjuju show-task' to inspect the failure{'s' if many else ''}"
    return "\n".join([head, *bad, "", tail])


def is_over(status: str) -> bool:
    """Return True when a task of this status is over."""
    return TaskStatus(status).over
