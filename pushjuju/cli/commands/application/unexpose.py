"""The command unexpose. Mirrors: juju cmd/juju/application/{expose,unexpose}.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, session
from pushjuju.core import firewall
from pushjuju.services.requests.application import expose as service


@command(
    "unexpose",
    usage="<application name>",
    summary="Removes public availability over the network for an application.",
    at_least=(1, "no application name specified"),
    at_most=1,
    flags=(
        *flags.IN_MODEL,
        flags.text("endpoints", "Only the ports opened for these endpoints, comma separated"),
        *flags.NO_WAIT,
    ),
    details="Open connections stay open. Machines of the same model reach each other in any case.",
    examples="    pushjuju unexpose web\n    pushjuju unexpose web --endpoints logs\n",
    see_also=("expose",),
)
def unexpose(cli: Cli, args: tuple[str, ...], *, model: str, endpoints: str, no_wait: bool) -> None:
    opened = session.open_model(cli, model)
    service.unexpose(opened.ctx, opened.uuid, args[0], firewall.split(endpoints))
    drive.settle(cli, opened.ctx, opened.uuid, touched=(args[0],), no_wait=no_wait)
