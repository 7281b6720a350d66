"""show-action: shows detailed information about an action. Mirrors: juju cmd/juju/action (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.action import list_actions
from pushjuju.cli.commands.action import task_table as formatters
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.errors import Silent, UsageError
from pushjuju.portable.quote import quote
from pushjuju.services.views import tasks


@command(
    "show-action",
    usage="<application> <action>",
    summary="Shows detailed information about an action.",
    at_least=(1, "no application name specified"),
    at_most=2,
    flags=flags.IN_MODEL,
    examples="    pushjuju show-action web greet\n",
    see_also=("actions", "run"),
)
def show_action(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    name = list_actions.application_of(args)
    if len(args) < 2:
        raise UsageError("no action name specified")
    opened = session.open_model(cli, model)
    spec = tasks.specs_of(opened.ctx, opened.uuid, name).get(args[1])
    if spec is None:
        cli.console.info(f"unknown action {quote(args[1])}")
        raise Silent
    cli.output.text(formatters.action_text(spec.schema))
