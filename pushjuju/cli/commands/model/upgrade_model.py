"""The command upgrade-model. Mirrors: juju cmd/juju/commands/upgrademodel.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.model.upgrade_flags import DETAILS, MORE, UPGRADE, check_version
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session


@command(
    "upgrade-model",
    summary="Upgrades Juju on all machines in a model.",
    at_most=0,
    flags=(*flags.IN_MODEL, *UPGRADE, *MORE),
    details=DETAILS,
    examples="    pushjuju upgrade-model --dry-run\n",
    see_also=("upgrade-controller", "version"),
)
def upgrade_model(
    cli: Cli, _args: tuple[str, ...], *, model: str, agent_version: str, agent_stream: str
) -> None:
    """Print that the model has the version of pushjuju."""
    check_version(agent_version, agent_stream)
    session.open_model(cli, model)
    cli.console.info("no upgrades available")
