"""The command controllers. Mirrors: juju cmd/juju/controller, cmd/juju/commands/switch.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.controller import controller_table as formatters
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.syntax.refusing import refusal
from pushjuju.cli.work import session
from pushjuju.services.entities.basis import context
from pushjuju.services.requests.controller import controllers as service
from pushjuju.services.views import documents


@command(
    "controllers",
    summary="Lists all controllers.",
    aliases=("list-controllers",),
    at_most=0,
    formats=("tabular", "yaml", "json"),
    flags=(
        *flags.LOGIN,
        flags.switch("refresh", "Ask each controller for fresh details first"),
        flags.switch("managed", "Show controllers managed by JAAS: refused, there is none", hidden=True),
    ),
    examples="    pushjuju controllers\n    pushjuju controllers --refresh --format json\n",
    see_also=("models", "show-controller", "switch"),
)
def controllers(cli: Cli, _args: tuple[str, ...], *, refresh: bool, managed: bool) -> None:
    if managed:
        raise refusal("controllers --managed", "there is no JAAS that manages controllers")
    folder = session.data_dir(cli)
    if not folder.controllers() and not folder.remotes():
        raise service.no_controller(folder)
    document = documents.controllers_document(
        folder, context.DEFAULT_USER, lambda name, error: session.warn_of_controller(cli, name, error)
    )
    cli.output.write(document, formatters.formatters(refreshed=refresh, colour=cli.output.colour))
