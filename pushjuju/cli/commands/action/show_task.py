"""show-task: show results of a task by ID. Mirrors: juju cmd/juju/action (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.action import task_table as formatters
from pushjuju.cli.commands.action.task_watch import FORMATS, WATCH, check_watch, follow, task_number
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.services.views import tasks


@command(
    "show-task",
    usage="<task ID>",
    summary="Show results of a task by ID.",
    at_least=(1, "no task ID specified"),
    at_most=1,
    formats=FORMATS,
    flags=(*flags.IN_MODEL, *WATCH),
    examples="    pushjuju show-task 2\n    pushjuju show-task 2 --watch\n",
    see_also=("run", "cancel-task", "show-operation"),
)
def show_task(cli: Cli, args: tuple[str, ...], *, model: str, wait: float, watch: bool, utc: bool) -> None:
    check_watch(cli, watch=watch)
    number = task_number(args[0], "task")
    opened = session.open_model(cli, model)
    waited = tasks.get_tasks(opened.ctx, opened.uuid, [number])
    late = "maximum wait time reached"
    follow(cli, opened, waited, wait, watch=watch, utc=utc, late=late, number=number)
    shown = formatters.task_texts(tasks.show_task(opened.ctx, opened.uuid, number), utc=utc)
    if cli.output.form == "plain":
        return cli.output.text(formatters.plain_task(shown))
    return cli.output.write(shown)
