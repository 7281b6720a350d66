"""The command enable-command. Mirrors: juju cmd/juju/block (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.cli.work.blocking import VALID, set_block
from pushjuju.services.requests.model import blocks


@command(
    "enable-command",
    usage="<command set>",
    summary="Enable commands that had been previously disabled.",
    at_least=(1, f"missing command set ({VALID})"),
    at_most=1,
    flags=flags.IN_MODEL,
    examples="    pushjuju enable-command destroy-model\n",
    see_also=("disable-command", "disabled-commands"),
)
def enable(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    name = set_block(args)
    opened = session.open_model(cli, model)
    blocks.enable(opened.ctx, opened.uuid, name)
