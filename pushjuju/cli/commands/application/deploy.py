"""The command deploy. Mirrors: juju cmd/juju/application deploy.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.application import deploying
from pushjuju.cli.commands.application.charm_flags import CONFIG, DeployFlags
from pushjuju.cli.commands.bundle.bundling import OVERLAY
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command


@command(
    "deploy",
    usage="<charm or bundle> [<application name>]",
    summary="Deploys a new application or bundle.",
    at_least=(1, "no charm or bundle specified"),
    at_most=2,
    flags=(*flags.IN_MODEL, *flags.UNIT, CONFIG, OVERLAY, flags.STORAGE, flags.BUILD_SCRIPTS, *flags.NO_WAIT),
    details="A local charm is a directory or a .charm file; its path starts with `.` or `/`.\n"
    "A git repository is written git+https://HOST/REPO@BRANCH#FOLDER; `local:NAME-N` is a charm that was\n"
    "uploaded to the model before. Any other word is the name of a charm\n"
    "in the model's store, its charmhub-url: Charmhub unless a mirror was named when the model was made.\n"
    "Without any controller one is made for machines on this computer.\n\n"
    "The command waits until all work is done, and ends with 1 when a hook fails. Scripts that were written\n"
    "for Juju set PUSHJUJU_WAIT=0: then it returns once the application is recorded.",
    examples="    pushjuju deploy postgresql --channel 14/stable\n    pushjuju deploy ./web\n"
    "    pushjuju deploy ./web.charm front -n 2 --config port=8080\n"
    "    pushjuju deploy ./web --to 3\n",
    into=DeployFlags,
    see_also=("add-unit", "config", "refresh", "status"),
)
def deploy(cli: Cli, args: tuple[str, ...], flags: DeployFlags) -> None:
    deploying.deploy(cli, args[0], args[1] if len(args) > 1 else "", flags)
