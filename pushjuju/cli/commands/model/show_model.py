"""The command show-model. Mirrors: juju cmd/juju/model, controller (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.model import model_table as formatters
from pushjuju.cli.commands.model.model_table import with_times
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.services.views import documents


@command(
    "show-model",
    usage="[<model name>]",
    summary="Shows information about the current or specified model.",
    at_most=1,
    formats=("yaml", "json"),
    flags=flags.LOGIN,
    examples="    pushjuju show-model\n    pushjuju show-model home:test --format json\n",
    see_also=("models", "add-model"),
)
def show_model(cli: Cli, args: tuple[str, ...]) -> None:
    opened = session.open_model(cli, args[0] if args else "")
    document = with_times(cli, documents.show_model(opened.ctx, opened.model))
    cli.output.text(formatters.show_model(cli.output.form, document))
