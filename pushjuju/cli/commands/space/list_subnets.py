"""subnets: list subnets known to Juju. Mirrors: juju cmd/juju/space, cmd/juju/subnet (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.space.space_words import failing_to
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.core.names import is_space
from pushjuju.portable.quote import quote
from pushjuju.services.views import space_documents


@command(
    "subnets",
    summary="List subnets known to Juju.",
    aliases=("list-subnets",),
    at_most=0,
    formats=("yaml", "json"),
    flags=(
        *flags.IN_MODEL,
        flags.text("space", "Filter results by space name"),
        flags.text("zone", "Filter results by zone name"),
    ),
    examples="    pushjuju subnets\n    pushjuju subnets --space alpha\n",
    see_also=("spaces", "reload-spaces"),
)
def subnets(cli: Cli, _args: tuple[str, ...], *, model: str, space: str, zone: str) -> None:
    """List subnets; without zones, because machines do not know the zone of a subnet."""
    if space and not is_space(space):
        raise UsageError(f"{quote(space)} is not a valid space name")
    opened = session.open_model(cli, model)
    with failing_to("cannot list subnets"):
        found = space_documents.subnets(opened.ctx, opened.uuid, space=space)
    if not found or zone:
        nothing = (
            "No subnets found matching requested criteria." if space or zone else "No subnets to display."
        )
        cli.console.info(nothing)
        return
    cli.output.write({"subnets": found})
