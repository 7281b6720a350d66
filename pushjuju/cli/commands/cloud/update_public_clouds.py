"""The command update-public-clouds. Mirrors: juju cmd/juju/cloud (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import scope
from pushjuju.portable.quote import quote


@command(
    "update-public-clouds",
    summary="Updates public cloud information available to Juju.",
    at_most=0,
    flags=flags.CLIENT_OR_CONTROLLER,
    details="The list of public clouds is part of pushjuju and its plugins; a new version brings a new list.",
    see_also=("clouds",),
)
def update_public_clouds(cli: Cli, _args: tuple[str, ...], *, client: bool, controller: str) -> None:
    """Print that the list is up to date."""
    where = scope.for_writing(cli, client=client, controller=controller)
    if where.client:
        cli.console.info(
            "List of public clouds on this client is up to date, see `pushjuju clouds --client`."
        )
    if where.ctx:
        name = where.ctx.controller.name
        cli.console.info(f"List of public clouds on controller {quote(name)} is up to date.")
