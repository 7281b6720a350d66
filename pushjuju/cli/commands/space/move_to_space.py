"""move-to-space: update a network space's CIDR. Mirrors: juju cmd/juju/space, cmd/juju/subnet (3.6)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pushjuju.cli.commands.space import space_words as formatters
from pushjuju.cli.commands.space.space_words import failing_to, name_and_cidrs
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, session
from pushjuju.portable.quote import quote
from pushjuju.services.requests.machine import spaces
from pushjuju.services.views.listings import applications


@command(
    "move-to-space",
    usage="<name> <CIDR1> [ <CIDR2> ...]",
    summary="Update a network space's CIDR.",
    formats=("human", "tabular", "yaml", "json"),
    flags=(
        *flags.MODEL,
        flags.switch("force", "Move even if applications are bound to the space that their machines leave"),
        *flags.NO_WAIT,
    ),
    examples="    pushjuju move-to-space db 172.31.1.0/28 172.31.16.0/20\n",
    see_also=("add-space", "spaces", "show-space"),
)
def move_to_space(cli: Cli, args: tuple[str, ...], *, model: str, force: bool, no_wait: bool) -> None:
    name, cidrs = name_and_cidrs(args, optional=False)
    opened = session.open_model(cli, model)
    with failing_to(f"cannot update space {quote(name)}"):
        moved = spaces.move(opened.ctx, opened.uuid, name, cidrs, force=force)
    tell(cli, [{"from": item.old, "to": item.new, "cidr": item.cidr} for item in moved])
    drive.settle(
        cli, opened.ctx, opened.uuid, touched=applications.names(opened.ctx, opened.uuid), no_wait=no_wait
    )


def tell(cli: Cli, moved: Sequence[Mapping[str, str]]) -> None:
    """Print the subnets that were moved: each has from, to and cidr."""
    shown = {"human": formatters.moved_lines, "tabular": formatters.moved_table}
    cli.output.write([formatters.moved(item) for item in moved], shown)
