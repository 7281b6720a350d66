"""The command reload-spaces. Mirrors: juju cmd/juju/space, cmd/juju/subnet (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, session
from pushjuju.services.requests.machine import spaces


@command(
    "reload-spaces",
    summary="Reloads spaces and subnets from substrate.",
    at_most=0,
    flags=(*flags.MODEL, *flags.LOGIN, *flags.NO_WAIT),
    details="Every machine is asked for its addresses. A subnet of the space alpha in which no machine has\n"
    "an address is forgotten.",
    see_also=("spaces", "add-space", "subnets"),
)
def reload_spaces(cli: Cli, _args: tuple[str, ...], *, model: str, no_wait: bool) -> None:
    """Ask all machines for their addresses."""
    opened = session.open_model(cli, model)
    touched = spaces.reload(opened.ctx, opened.uuid)
    drive.settle(cli, opened.ctx, opened.uuid, touched=touched, no_wait=no_wait)
