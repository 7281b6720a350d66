"""The command constraints. Mirrors: juju cmd/juju/application/constraints.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.config import config_table as formatters
from pushjuju.cli.commands.config.constraint_flags import FORMATS
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.services.views.listings import applications


@command(
    "constraints",
    usage="<application>",
    summary="Displays machine constraints for an application.",
    at_least=(1, "no application name specified"),
    at_most=1,
    formats=FORMATS,
    flags=flags.IN_MODEL,
    examples="    pushjuju constraints postgresql\n    pushjuju constraints postgresql --format json\n",
    see_also=("set-constraints", "model-constraints"),
)
def constraints(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    name = values.application_name(args)
    opened = session.open_model(cli, model)
    found = applications.constraints(opened.ctx, opened.uuid, name)
    cli.output.text(formatters.constraints(cli.output.form, found))
