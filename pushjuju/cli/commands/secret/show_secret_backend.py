"""The command show-secret-backend. Mirrors: juju cmd/juju/secretbackends (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.secret import secret_table as formatters
from pushjuju.cli.commands.secret.backend_settings import REVEAL
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import scope, session
from pushjuju.services.views.listings import secret_backends


@command(
    "show-secret-backend",
    usage="<backend-name>",
    summary="Displays the specified secret backend.",
    at_least=(1, "must specify backend name"),
    at_most=1,
    formats=("yaml", "json"),
    flags=(*flags.CONTROLLER, REVEAL),
    examples="    pushjuju show-secret-backend internal\n    pushjuju show-secret-backend vault --reveal\n",
    see_also=("secret-backends",),
)
def show_backend(cli: Cli, args: tuple[str, ...], *, controller: str, reveal: bool) -> None:
    ctx = session.open_controller(cli, controller)
    document = secret_backends.documents(ctx, scope.host(cli), args[0], reveal=reveal)
    cli.output.text(formatters.backends(cli.output.form, document))
