"""The command model-constraints. Mirrors: juju cmd/juju/model/constraints.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.config import config_table as formatters
from pushjuju.cli.commands.config.constraint_flags import FORMATS
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.services.views.listings import settings


@command(
    "model-constraints",
    summary="Displays machine constraints for a model.",
    at_most=0,
    formats=FORMATS,
    flags=flags.IN_MODEL,
    examples="    pushjuju model-constraints\n    pushjuju model-constraints -m test --format yaml\n",
    see_also=("set-model-constraints", "constraints"),
)
def model_constraints(cli: Cli, _args: tuple[str, ...], *, model: str) -> None:
    opened = session.open_model(cli, model)
    found = settings.model_constraints(opened.ctx, opened.uuid)
    cli.output.text(formatters.constraints(cli.output.form, found))
