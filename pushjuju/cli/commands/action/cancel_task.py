"""cancel-task: cancel pending or running tasks. Mirrors: juju cmd/juju/action (3.6)"""

from __future__ import annotations

from typing import Any

from pushjuju.cli.commands.action import task_table as formatters
from pushjuju.cli.commands.action.task_watch import task_number
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, session
from pushjuju.cli.work.waiting import is_over
from pushjuju.core.errors import PushjujuError
from pushjuju.services.requests.action import operations
from pushjuju.services.views import tasks


@command(
    "cancel-task",
    usage="(<task-id>|<task-id-prefix>) [...]",
    summary="Cancel pending or running tasks.",
    at_least=(1, "no task ID specified"),
    formats=("yaml", "json"),
    flags=flags.IN_MODEL,
    examples="    pushjuju cancel-task 2 3\n",
    see_also=("run", "show-task"),
)
def cancel_task(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    numbers = [task_number(text, "task") for text in args]
    opened = session.open_model(cli, model)
    found = operations.cancel(opened.ctx, opened.uuid, numbers)
    try:
        if any(not is_over(task.status) for task in found):
            drive.settle(cli, opened.ctx, opened.uuid, touched=())
    except PushjujuError as error:
        cli.console.warn(error.message)
    found = tasks.get_tasks(opened.ctx, opened.uuid, numbers)
    cli.output.write({"actions": [cancelled(task) for task in found]})


def cancelled(task: tasks.Task) -> dict[str, Any]:
    """Return a task as the command prints it."""
    document = {"id": str(task.id), "action": task.action, task.kind: task.receiver, "status": task.status}
    if task.completed:
        document["completed at"] = formatters.moment_text(task.completed, utc=False)
    return document
