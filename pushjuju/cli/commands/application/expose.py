"""The command expose. Mirrors: juju cmd/juju/application/{expose,unexpose}.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, session
from pushjuju.core.firewall import split
from pushjuju.services.requests.application import expose as service


@command(
    "expose",
    usage="<application name>",
    summary="Makes an application publicly available over the network.",
    at_least=(1, "no application name specified"),
    at_most=1,
    flags=(
        *flags.IN_MODEL,
        flags.text("endpoints", "Only the ports opened for these endpoints, comma separated"),
        flags.text("to-spaces", "Spaces whose machines may reach the ports, comma separated"),
        flags.text("to-cidrs", "Networks that may reach the ports, comma separated"),
        *flags.NO_WAIT,
    ),
    details="Without flags everybody can reach each port that the application opens.\n"
    "Each call replaces the earlier rules of the same endpoints.",
    examples="    pushjuju expose web\n    pushjuju expose web --to-cidrs 10.0.0.0/24,192.168.1.0/24\n"
    "    pushjuju expose web --endpoints logs --to-cidrs 10.0.0.0/24\n",
    see_also=("unexpose", "firewall-rules", "status"),
)
def expose(
    cli: Cli,
    args: tuple[str, ...],
    *,
    model: str,
    endpoints: str,
    to_spaces: str,
    to_cidrs: str,
    no_wait: bool,
) -> None:
    opened = session.open_model(cli, model)
    service.expose(
        opened.ctx,
        opened.uuid,
        service.ExposeOptions(
            application=args[0], endpoints=split(endpoints), spaces=split(to_spaces), cidrs=split(to_cidrs)
        ),
    )
    drive.settle(cli, opened.ctx, opened.uuid, touched=(args[0],), no_wait=no_wait)
