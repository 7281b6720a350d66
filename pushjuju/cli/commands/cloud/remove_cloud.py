"""remove-cloud: removes a cloud from Juju. Mirrors: juju cmd/juju/cloud (3.6)"""

from __future__ import annotations

from functools import partial

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import scope, session
from pushjuju.portable.quote import quote
from pushjuju.services.entities.model import sides
from pushjuju.services.requests.cloud import definitions

_OUTCOMES = {
    "GONE": "Removed details of cloud {} from this client",
    "BUILT_IN": "Cannot remove built-in cloud {} from client",
    "PUBLIC": "Cannot remove public cloud {} from client",
    "ABSENT": "No cloud called {} exists on this client",
}


@command(
    "remove-cloud",
    usage="<cloud name>",
    summary="Removes a cloud from Juju.",
    at_least=(1, "Usage: pushjuju remove-cloud <cloud name>"),
    at_most=1,
    flags=flags.CLIENT_OR_CONTROLLER,
    details="Controllers that work with the cloud keep its definition.",
    examples="    pushjuju remove-cloud lab --client\n    pushjuju remove-cloud lab -c home\n",
    see_also=("add-cloud", "update-cloud", "clouds"),
)
def remove_cloud(cli: Cli, args: tuple[str, ...], *, client: bool, controller: str) -> None:
    where, name = scope.for_writing(cli, client=client, controller=controller), args[0]
    if where.client:
        _remove_here(cli, where, name)
    if where.ctx:
        there = quote(where.ctx.controller.name)
        if definitions.remove_from_controller(where, name):
            cli.console.info(f"Removed details of cloud {quote(name)} from controller {there}")
        else:
            cli.console.info(f"No cloud called {quote(name)} exists on controller {there}")


def _remove_here(cli: Cli, where: sides.Sides, name: str) -> None:
    removal = definitions.remove_from_client(where, name, partial(session.open_controller, cli))
    what = f"It keeps a copy of cloud {quote(name)}, in case it uses the cloud."
    session.warn_of_controllers(cli, removal.unread, what)
    cli.console.info(_OUTCOMES[removal.outcome.name].format(quote(name)))
    if removal.outcome is definitions.Removed.PUBLIC and where.files.credentials(name).credentials:
        cli.console.info(f"To hide this cloud, remove its credentials with `{cli.program} remove-credential`")
