"""The command secret-backends. Mirrors: juju cmd/juju/secretbackends (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.secret import secret_table as formatters
from pushjuju.cli.commands.secret.backend_settings import REVEAL
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import scope, session
from pushjuju.services.views.listings import secret_backends


@command(
    "secret-backends",
    summary="Lists secret backends available in the controller.",
    aliases=("list-secret-backends",),
    at_most=0,
    formats=("tabular", "yaml", "json"),
    flags=(*flags.CONTROLLER, REVEAL),
    details="Checks whether each backend can be reached.",
    examples="    pushjuju secret-backends\n    pushjuju secret-backends --format yaml\n",
    see_also=("add-secret-backend", "show-secret-backend", "model-config"),
)
def backends(cli: Cli, _args: tuple[str, ...], *, controller: str, reveal: bool) -> None:
    if reveal and cli.output.form == "tabular":
        cli.console.info("sensitive config values are not shown in tabular format")
    ctx = session.open_controller(cli, controller)
    document = secret_backends.documents(ctx, scope.host(cli), reveal=reveal)
    if cli.output.form == "tabular":
        return cli.output.text(formatters.backends_table(document))
    return cli.output.text(formatters.backends(cli.output.form, document))
