"""The command users. Mirrors: juju cmd/juju/user (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.user import user_table as formatters
from pushjuju.cli.commands.user.user_table import EXACT_TIME, user_document
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.services.views import documents
from pushjuju.services.views.listings import users as user_documents


@command(
    "users",
    usage="[model-name]",
    summary="Lists Juju users allowed to connect to a controller or model.",
    aliases=("list-users",),
    at_most=1,
    formats=("tabular", "yaml", "json"),
    flags=(*flags.CONTROLLER, flags.switch("all", "Include disabled users", dest="every"), EXACT_TIME),
    examples="    pushjuju users\n    pushjuju users mymodel\n    pushjuju users --all\n",
    see_also=("add-user", "show-user", "disable-user", "grant"),
)
def users(cli: Cli, args: tuple[str, ...], *, controller: str, every: bool, exact_time: bool) -> None:
    if args:
        return _model_users(cli, args[0], controller, exact=exact_time)
    ctx = session.open_controller(cli, controller)
    listed = [
        user_document(cli, entry, exact=exact_time) for entry in user_documents.documents(ctx, disabled=every)
    ]
    forms = formatters.formatters(controller=ctx.controller.name, user=ctx.user, colour=cli.output.colour)
    return cli.output.write(listed, forms)


def _model_users(cli: Cli, name: str, controller: str, *, exact: bool) -> None:
    opened = session.open_model(cli, f"{controller}:{name}" if controller and ":" not in name else name)
    shown = {
        user: user_document(cli, entry, exact=exact)
        for user, entry in documents.model_users(opened.ctx, opened.model).items()
    }
    forms = formatters.model_formatters(user=opened.ctx.user, colour=cli.output.colour)
    cli.output.write(shown, forms)
