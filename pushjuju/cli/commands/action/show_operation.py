"""show-operation: show results of an operation. Mirrors: juju cmd/juju/action (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.action import task_table as formatters
from pushjuju.cli.commands.action.task_watch import WATCH, check_watch, follow, task_number
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.services.views import tasks


@command(
    "show-operation",
    usage="<operation-id>",
    summary="Show results of an operation.",
    at_least=(1, "no operation ID specified"),
    at_most=1,
    formats=("yaml", "json"),
    flags=(*flags.IN_MODEL, *WATCH),
    examples="    pushjuju show-operation 1\n    pushjuju show-operation 1 --wait 2m\n",
    see_also=("run", "operations", "show-task"),
)
def show_operation(
    cli: Cli, args: tuple[str, ...], *, model: str, wait: float, watch: bool, utc: bool
) -> None:
    check_watch(cli, watch=watch)
    number = task_number(args[0], "operation")
    opened = session.open_model(cli, model)
    found = tasks.show_operation(opened.ctx, opened.uuid, number)
    waited = tasks.get_tasks(opened.ctx, opened.uuid, map(int, found.get("tasks", {})))
    follow(cli, opened, waited, wait, watch=watch, utc=utc, late="timeout reached", number=number)
    found = tasks.show_operation(opened.ctx, opened.uuid, number)
    cli.output.write(formatters.operation_texts(found, utc=utc))
