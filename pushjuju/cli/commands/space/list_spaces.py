"""The command spaces. Mirrors: juju cmd/juju/space, cmd/juju/subnet (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.space import space_words as formatters
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.services.views import space_documents


@command(
    "spaces",
    summary="List known spaces, including associated subnets.",
    aliases=("list-spaces",),
    at_most=0,
    formats=("tabular", "yaml", "json"),
    flags=(*flags.IN_MODEL, flags.switch("short", "only display spaces.")),
    examples="    pushjuju spaces\n    pushjuju spaces --short\n",
    see_also=("add-space", "reload-spaces"),
)
def spaces(cli: Cli, _args: tuple[str, ...], *, model: str, short: bool) -> None:
    opened = session.open_model(cli, model)
    found = space_documents.listing(opened.ctx, opened.uuid)
    if short:
        names = [space["name"] for space in found]
        cli.output.write({"spaces": names}, {"tabular": lambda _: formatters.names(names)})
    else:
        cli.output.write({"spaces": found}, {"tabular": lambda _: formatters.table(found)})
