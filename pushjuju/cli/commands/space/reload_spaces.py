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
    flags=(*flags.IN_MODEL, *flags.NO_WAIT),
    details="Reads the addresses of every machine. A subnet of the space alpha in which no machine has an\n"
    "address is removed.",
    see_also=("spaces", "add-space", "subnets"),
)
def reload_spaces(cli: Cli, _args: tuple[str, ...], *, model: str, no_wait: bool) -> None:
    opened = session.open_model(cli, model)
    touched = spaces.reload(opened.ctx, opened.uuid)
    drive.settle(cli, opened.ctx, opened.uuid, touched=touched, no_wait=no_wait)
