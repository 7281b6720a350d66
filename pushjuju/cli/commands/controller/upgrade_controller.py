"""The command upgrade-controller. Mirrors: juju cmd/juju/commands/upgradecontroller.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.model.upgrade_flags import DETAILS, MORE, NO_AGENTS, UPGRADE, check_version
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session


@command(
    "upgrade-controller",
    summary="Upgrades Juju on a controller.",
    at_most=0,
    flags=(*flags.AT_CONTROLLER, *UPGRADE, flags.switch("build-agent", NO_AGENTS, void=True), *MORE),
    details=f"{DETAILS}\nA newer pushjuju migrates the store when it opens the store.",
    see_also=("upgrade-model", "version"),
)
def upgrade_controller(
    cli: Cli, _args: tuple[str, ...], *, controller: str, agent_version: str, agent_stream: str
) -> None:
    """Print that the controller has the version of pushjuju."""
    check_version(agent_version, agent_stream)
    session.open_controller(cli, controller)
    cli.console.info("no upgrades available")
