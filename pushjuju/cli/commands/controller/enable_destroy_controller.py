"""The command enable-destroy-controller. Mirrors: juju cmd/juju/controller/enabledestroy.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.services.requests.model import blocks


@command(
    "enable-destroy-controller",
    summary="Enable destroy-controller by removing disabled commands in the controller.",
    at_most=0,
    flags=flags.AT_CONTROLLER,
    examples="    pushjuju enable-destroy-controller\n    pushjuju enable-destroy-controller -c home\n",
    see_also=("disable-command", "disabled-commands", "enable-command"),
)
def enable_destroy_controller(cli: Cli, _args: tuple[str, ...], *, controller: str) -> None:
    blocks.enable_everywhere(session.open_controller(cli, controller))
