"""The command show-controller. Mirrors: juju cmd/juju/controller, cmd/juju/commands/switch.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.controller import controller_table as formatters
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.services.entities.basis import context
from pushjuju.services.requests.controller import controllers as service
from pushjuju.services.views import documents


@command(
    "show-controller",
    usage="[<controller name> ...]",
    summary="Shows detailed information of a controller.",
    formats=("yaml", "json"),
    flags=(*flags.LOGIN, flags.switch("show-password", "Show passwords: the local user has none")),
    examples="    pushjuju show-controller\n    pushjuju show-controller home --format json\n",
    see_also=("controllers",),
)
def show_controller(cli: Cli, args: tuple[str, ...], *, show_password: bool) -> None:
    if show_password:
        cli.console.warn(
            f"{context.DEFAULT_USER} has no password: a user who can read the data directory needs none"
        )
    folder = session.data_dir(cli)
    names = args or (service.current(folder, None, cli.env),)
    document = {name: documents.show_controller(session.open_controller(cli, name)) for name in names}
    cli.output.text(formatters.show_controller(cli.output.form, document))
