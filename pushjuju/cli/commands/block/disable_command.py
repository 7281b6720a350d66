"""disable-command: disable commands for the model. Mirrors: juju cmd/juju/block (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import blocking, session
from pushjuju.cli.work.blocking import VALID, set_block
from pushjuju.services.entities.basis import blocks
from pushjuju.services.requests.model import blocks as request

_DETAILS = (
    "pushjuju refuses the commands of a disabled set, for all users, until the set is enabled again:\n\n"
    + "\n".join(f'"{name}" prevents:\n{blocking.listing(name)}\n' for name in blocks.SETS)
)


@command(
    "disable-command",
    usage="<command set> [message...]",
    summary="Disable commands for the model.",
    at_least=(1, f"missing command set ({VALID})"),
    flags=flags.IN_MODEL,
    details=_DETAILS,
    examples='    pushjuju disable-command destroy-model "ask the shop first"\n'
    "    pushjuju disable-command all\n",
    see_also=("disabled-commands", "enable-command"),
)
def disable(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    name = set_block(args)
    opened = session.open_model(cli, model)
    request.disable(opened.ctx, opened.uuid, name, " ".join(args[1:]))
