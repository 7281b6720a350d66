"""The command trust. Mirrors: juju cmd/juju/application (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, session
from pushjuju.services.requests.application import settings


@command(
    "trust",
    usage="<application name>",
    summary="Sets the trust status of a deployed application to true.",
    at_least=(1, "no application name specified"),
    at_most=1,
    flags=(
        *flags.IN_MODEL,
        flags.switch("remove", "Remove trusted access from a trusted application"),
        flags.text("scope", "Accepted and ignored: for Kubernetes only", void=True),
        *flags.NO_WAIT,
    ),
    examples="    pushjuju trust mysql\n    pushjuju trust mysql --remove\n",
    see_also=("config",),
)
def trust(cli: Cli, args: tuple[str, ...], *, model: str, remove: bool, no_wait: bool) -> None:
    """Let an application read the cloud's credential; with `--remove`, stop this."""
    name = values.application_name(args)
    opened = session.open_model(cli, model)
    settings.set_trust(opened.ctx, opened.uuid, name, trusted=not remove)
    drive.settle(cli, opened.ctx, opened.uuid, touched=(name,), no_wait=no_wait)
