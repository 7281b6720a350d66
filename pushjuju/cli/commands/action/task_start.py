"""What run and exec share: start tasks, wait for them, print the results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pushjuju.cli.commands.action import task_table as formatters
from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.work import drive
from pushjuju.cli.work.waiting import failures
from pushjuju.core.errors import HookFailed, UsageError
from pushjuju.core.model.tasks import Receiver
from pushjuju.core.names import machine_tag, unit_tag
from pushjuju.portable.names import is_application, is_unit
from pushjuju.services.entities.model import sessions
from pushjuju.services.requests.action import operations
from pushjuju.services.views import tasks

if TYPE_CHECKING:
    from pushjuju.services.views.tasks import Task


def is_receiver(text: str) -> bool:
    return is_unit(text) or (
        text.endswith(operations.LEADER) and is_application(text.removesuffix("/leader"))
    )


def check_wait(cli: Cli, *, background: bool) -> None:
    if background and "wait" in cli.given:
        raise UsageError("cannot specify both --wait and --background")


def _receiver_tag(task: Task) -> str:
    return machine_tag(task.receiver) if task.kind == Receiver.MACHINE else unit_tag(task.receiver)


def _count(queued: operations.Enqueued) -> str:
    number = len(queued.tasks)
    return f"{number} task{'s' if number > 1 else ''}"


def _refused(cli: Cli, queued: operations.Enqueued) -> None:
    """Print which receivers did not take the task."""
    if queued.errors:
        head = (
            "Some actions could not be scheduled:"
            if queued.tasks
            else f"Operation {queued.operation} failed to schedule any tasks:"
        )
        cli.console.info("\n".join([head, *queued.errors]))
    for reason in queued.errors if cli.rehearsal else ():
        cli.console.warn(reason)  # `plan` shows the warnings of its command


def start(say: Any, queued: operations.Enqueued) -> None:
    if queued.tasks:
        lines = [f"  - task {task.id} on {_receiver_tag(task)}" for task in queued.tasks]
        say("\n".join([f"Running operation {queued.operation} with {_count(queued)}", *lines, "\n"]))


def in_background(cli: Cli, opened: sessions.Session, queued: operations.Enqueued) -> None:
    """Start the background process, and print how to ask for the results."""
    if queued.tasks:
        drive.background(cli, opened.ctx, opened.uuid)
    tell_scheduled(cli, queued)


def tell_scheduled(cli: Cli, queued: operations.Enqueued) -> None:
    """Print what was scheduled, and how to ask for the results."""
    _refused(cli, queued)
    if not queued.tasks:
        return
    say, number = cli.console.info, queued.operation
    if len(queued.tasks) == 1:
        say(f"Scheduled operation {number} with task {queued.tasks[0].id}")
    else:
        lines = [f"  - task {task.id} on {_receiver_tag(task)}" for task in queued.tasks]
        say("\n".join([f"Scheduled operation {number} with {_count(queued)}", *lines]))
        if cli.output.form == "plain":
            cli.output.form = "yaml"
        cli.output.write({task.receiver: {"id": str(task.id)} for task in queued.tasks})
    one = str(queued.tasks[0].id) if len(queued.tasks) == 1 else "<id>"
    say(f"Check operation status with '{cli.program} show-operation {number}'")
    say(f"Check task status with '{cli.program} show-task {one}'")


def show_results(
    cli: Cli, opened: sessions.Session, queued: operations.Enqueued, forms: Mapping[str, Any], *, utc: bool
) -> None:
    """Print the results of completed tasks."""
    found = {task.receiver: tasks.show_task(opened.ctx, opened.uuid, task.id) for task in queued.tasks}
    print_results(cli, queued, found, forms, utc=utc)


def print_results(
    cli: Cli,
    queued: operations.Enqueued,
    found: Mapping[str, dict[str, Any]],
    forms: Mapping[str, Any],
    *,
    utc: bool,
) -> None:
    """Print the documents of completed tasks: receiver -> task."""
    _refused(cli, queued)
    if not queued.tasks:
        return
    shown = {name: formatters.task_texts(task, utc=utc) for name, task in found.items()}
    cli.output.write(shown, forms)
    if problem := failures(list(found.values()), unstarted=cli.word == "exec"):
        raise HookFailed(problem)
