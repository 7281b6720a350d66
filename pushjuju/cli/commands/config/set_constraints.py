"""The command set-constraints. Mirrors: juju cmd/juju/application/constraints.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.config.constraint_flags import DETAILS, check_change
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.services.requests.application import settings


@command(
    "set-constraints",
    usage="<application> <constraint>=<value> ...",
    summary="Sets machine constraints for an application.",
    at_least=(1, "no application name specified"),
    flags=flags.IN_MODEL,
    details=DETAILS,
    examples="    pushjuju set-constraints web mem=8G cores=4\n    pushjuju set-constraints web mem=\n",
    see_also=("constraints", "model-constraints", "set-model-constraints"),
)
def set_constraints(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    name = values.application_name(args)
    options = values.constraints(args[1:], cli.console)
    opened = session.open_model(cli, model)
    check_change(cli, opened, options, f'application "{name}"')
    settings.set_constraints(opened.ctx, opened.uuid, name, options)
