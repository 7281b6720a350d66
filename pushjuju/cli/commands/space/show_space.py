"""The command show-space. Mirrors: juju cmd/juju/space, cmd/juju/subnet (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.space.space_words import failing_to
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.portable.quote import quote
from pushjuju.services.views import space_documents


@command(
    "show-space",
    usage="<name>",
    summary="Shows information about the network space.",
    formats=("yaml", "json"),
    flags=flags.IN_MODEL,
    examples="    pushjuju show-space alpha\n",
    see_also=("add-space", "spaces", "remove-space"),
)
def show_space(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    if len(args) != 1:
        raise UsageError(f"expected exactly 1 space name, got {len(args)} arguments")
    opened = session.open_model(cli, model)
    with failing_to(f"cannot retrieve space {quote(args[0])}"):
        cli.output.write(space_documents.show(opened.ctx, opened.uuid, args[0]))
