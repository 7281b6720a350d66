"""show-user: show information about a user. Mirrors: juju cmd/juju/user (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.user import user_table as formatters
from pushjuju.cli.commands.user.user_table import EXACT_TIME, user_document
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.services.views.listings import users as user_documents


@command(
    "show-user",
    usage="[<user name>]",
    summary="Show information about a user.",
    at_most=1,
    formats=("yaml", "json"),
    flags=(*flags.CONTROLLER, EXACT_TIME),
    examples="    pushjuju show-user\n    pushjuju show-user bob --exact-time\n",
    see_also=("add-user", "users"),
)
def show_user(cli: Cli, args: tuple[str, ...], *, controller: str, exact_time: bool) -> None:
    ctx = session.open_controller(cli, controller)
    entry = user_documents.document(ctx, args[0] if args else ctx.user)
    cli.output.text(formatters.one(cli.output.form, user_document(cli, entry, exact=exact_time)))
