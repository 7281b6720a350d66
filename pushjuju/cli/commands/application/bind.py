"""bind: change bindings for a deployed application. Mirrors: juju cmd/juju/application (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, session
from pushjuju.services.requests.application import settings


@command(
    "bind",
    usage="<application> [<default-space>] [<endpoint-name>=<space> ...]",
    summary="Change bindings for a deployed application.",
    at_least=(1, "no application specified"),
    flags=(
        *flags.IN_MODEL,
        flags.switch("force", "Allow endpoints to be bound to spaces that some units have no address in"),
        *flags.NO_WAIT,
    ),
    details="Endpoints that are in the old default space move to the new default space.",
    examples="    pushjuju bind web internal\n    pushjuju bind web internal db=backend\n",
    see_also=("spaces", "show-space", "deploy"),
)
def bind(cli: Cli, args: tuple[str, ...], *, model: str, force: bool, no_wait: bool) -> None:
    name = values.application_name(args)
    options = values.bindings(" ".join(args[1:]))
    opened = session.open_model(cli, model)
    for change in settings.bind(opened.ctx, opened.uuid, name, options, force=force):
        cli.console.info(change)
    drive.settle(cli, opened.ctx, opened.uuid, touched=(name,), no_wait=no_wait)
