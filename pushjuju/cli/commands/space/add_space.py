"""add-space: add a new network space. Mirrors: juju cmd/juju/space, cmd/juju/subnet (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.space.space_words import failing_to, name_and_cidrs
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, session
from pushjuju.portable.quote import quote
from pushjuju.services.requests.machine import spaces
from pushjuju.services.views.listings import applications


@command(
    "add-space",
    usage="<name> [<CIDR1> <CIDR2> ...]",
    summary="Add a new network space.",
    flags=(*flags.IN_MODEL, *flags.NO_WAIT),
    details="A subnet must be one in which machines of the model have addresses.",
    examples="    pushjuju add-space db 10.0.0.0/24\n",
    see_also=("spaces", "subnets", "move-to-space"),
)
def add_space(cli: Cli, args: tuple[str, ...], *, model: str, no_wait: bool) -> None:
    name, cidrs = name_and_cidrs(args, optional=True)
    opened = session.open_model(cli, model)
    with failing_to(f"cannot add space {quote(name)}"):
        spaces.add(opened.ctx, opened.uuid, name, cidrs)
    cli.console.info(
        f"added space {quote(name)} with " + (f"subnets {', '.join(cidrs)}" if cidrs else "no subnets")
    )
    drive.settle(
        cli, opened.ctx, opened.uuid, touched=applications.names(opened.ctx, opened.uuid), no_wait=no_wait
    )
