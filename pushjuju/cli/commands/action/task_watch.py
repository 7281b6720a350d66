"""Finds operations and tasks by the ids of the command line, and waits for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.work.waiting import TimedOut, Waiter, is_over
from pushjuju.core.errors import UsageError
from pushjuju.portable.quote import quote
from pushjuju.services.entities.model import sessions

if TYPE_CHECKING:
    from pushjuju.services.views.tasks import Task

FORMATS = ("plain", "yaml", "json")


def task_number(text: str, noun: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 18:  # the greatest number of an SQLite integer
        raise UsageError(f"{noun} ID {quote(text)} not valid")
    return int(text)


WATCH = (
    flags.duration("wait", "Maximum wait time for completion", default="-1s"),
    flags.switch("watch", "Wait indefinitely for results"),
    flags.switch("utc", "Show times in UTC"),
)


def follow(
    cli: Cli,
    opened: sessions.Session,
    waited: Iterable[Task],
    seconds: float,
    *,
    watch: bool,
    utc: bool,
    late: str,
    number: int,
) -> None:
    """Wait for tasks: `--wait 0s` waits without limit, a negative time does not wait.

    Args:
        seconds: `--wait`.
        watch: `--watch`: wait without limit.
        late: Juju's message at the time limit.

    Raises:
        TimedOut: The tasks are not over at the time limit; they go on.

    Mirrors: juju cmd/juju/action/showtask.go, showoperation.go (3.6)
    """
    if not watch and seconds < 0:
        return
    left = [task for task in waited if not is_over(task.status)]
    try:
        Waiter(cli, opened, left, seconds if seconds > 0 else -1.0, say=_only_log(cli), utc=utc).wait()
    except TimedOut as error:
        hint = f"{cli.program} {cli.word} {number}    shows how far it is; it goes on"
        raise TimedOut(late, detail=error.message, hint=hint) from error


def _only_log(cli: Cli) -> Any:
    def say(text: str) -> None:
        if not text.startswith("Waiting for task"):
            cli.console.info(text)

    return say


def check_watch(cli: Cli, *, watch: bool) -> None:
    if watch and "wait" in cli.given:
        raise UsageError("specify either --watch or --wait but not both")
