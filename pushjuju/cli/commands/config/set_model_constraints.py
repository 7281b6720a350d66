"""The command set-model-constraints. Mirrors: juju cmd/juju/model/constraints.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.config.constraint_flags import DETAILS, check_change
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.services.requests.model import model_config


@command(
    "set-model-constraints",
    usage="<constraint>=<value> ...",
    summary="Sets machine constraints on a model.",
    flags=flags.IN_MODEL,
    details=DETAILS,
    examples="    pushjuju set-model-constraints cores=8 mem=16G\n",
    see_also=("model-constraints", "constraints", "set-constraints"),
)
def set_model_constraints(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    options = values.constraints(args, cli.console)
    opened = session.open_model(cli, model)
    check_change(cli, opened, options, f'model "{opened.model.name}"')
    model_config.set_constraints(opened.ctx, opened.uuid, options)
