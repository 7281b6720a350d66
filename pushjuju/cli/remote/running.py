"""run, exec and cancel-task on a model of another computer."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pushjuju.cli.commands.action import cancel_task as cancel_command
from pushjuju.cli.commands.action import exec as exec_command
from pushjuju.cli.commands.action import run as run_command
from pushjuju.cli.commands.action import task_start
from pushjuju.cli.commands.action import task_table as formatters
from pushjuju.cli.commands.action.task_watch import task_number
from pushjuju.cli.remote.call import Call
from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.work.waiting import Say, TaskWatch, is_over
from pushjuju.client import tasks
from pushjuju.services.views.tasks import Task, TaskLog

if TYPE_CHECKING:
    from pushjuju.client.connection import Connection
    from pushjuju.services.requests.action.operations import Enqueued

_POLL_S = 0.25


def run(call: Call) -> None:
    """Run an action, and print its results."""
    request = run_command.request_of(call.cli, call.args, call.flags)
    with call.target.opened() as (connection, _):
        queued = tasks.enqueue(connection, request)
        if call.flags.background:
            return task_start.tell_scheduled(call.cli, queued)
        seconds, say = call.flags.wait or run_command.RUN_WAIT_S, call.cli.console.info
        _wait(call.cli, connection, queued, seconds, say=say, utc=call.flags.utc)
        return _print(call.cli, connection, queued, formatters.run_formatters(), utc=call.flags.utc)


def exec(call: Call) -> None:  # noqa: A001 - the name of the command
    """Run shell commands, and print their output."""
    request = exec_command.request_of(call.cli, call.args, call.flags)
    with call.target.opened() as (connection, _):
        queued = tasks.enqueue_commands(connection, request)
        if call.flags.background:
            return task_start.tell_scheduled(call.cli, queued)
        seconds, say = call.flags.wait or exec_command.EXEC_WAIT_S, call.cli.console.detail
        _wait(call.cli, connection, queued, seconds, say=say, utc=call.flags.utc)
        return _print(call.cli, connection, queued, formatters.exec_formatters(), utc=call.flags.utc)


def cancel_task(call: Call) -> None:
    """Cancel pending tasks, and let the host of the controller abort running ones."""
    entities = [{"tag": f"action-{task_number(text, 'task')}"} for text in call.args]
    with call.target.opened() as (connection, _):
        found = connection.each("Action", "Cancel", {"entities": entities})
    call.cli.output.write({"actions": [cancel_command.cancelled(tasks.task(item)) for item in found]})


def _wait(cli: Cli, connection: Connection, queued: Enqueued, seconds: float, *, say: Say, utc: bool) -> None:
    """Wait until the tasks are over, and print what they log."""
    if not queued.tasks:
        return
    watch = _RemoteWatch(cli, connection, queued.tasks, seconds, say=say, utc=utc)
    task_start.start(say, queued)
    cli.on_interrupt = "Stopped waiting. What was asked for goes on."
    while not watch.look():
        time.sleep(_POLL_S)


def _print(
    cli: Cli, connection: Connection, queued: Enqueued, forms: Mapping[str, Any], *, utc: bool
) -> None:
    numbers = [task.id for task in queued.tasks]
    read = tasks.read(connection, numbers) if numbers else []
    found = {task.receiver: tasks.document(item) for task, item in zip(queued.tasks, read, strict=True)}
    task_start.print_results(cli, queued, found, forms, utc=utc)


class _RemoteWatch(TaskWatch):
    """Looks at tasks of a model on another computer."""

    def __init__(
        self, cli: Cli, connection: Connection, waited: Sequence[Task], seconds: float, *, say: Say, utc: bool
    ) -> None:
        super().__init__(cli, waited, seconds, say=say, utc=utc)
        self._connection = connection

    def _read(self, numbers: Sequence[int]) -> tuple[Sequence[Task], Sequence[TaskLog]]:
        found = tasks.read(self._connection, numbers)
        left = [row for row in map(tasks.task, found) if not is_over(row.status)]
        lines = tasks.log(found[0]) if len(found) == 1 else []
        numbered = [
            TaskLog(id=number, model="", task=numbers[0], **line) for number, line in enumerate(lines, 1)
        ]
        return left, numbered[self._seen :]
