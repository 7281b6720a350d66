"""The command add-unit. Mirrors: juju cmd/juju/application deploy.go, refresh.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, session
from pushjuju.services.requests.application import unit_requests
from pushjuju.services.requests.application import unit_requests as request
from pushjuju.workers.provision import precheck


@command(
    "add-unit",
    usage="<application name>",
    summary="Adds one or more units to a deployed application.",
    at_least=(1, "no application specified"),
    at_most=1,
    flags=(
        *flags.MODEL,
        *flags.UNIT,
        flags.number("num-units", "Number of units to add", default=1, short="n"),
        *flags.NO_WAIT,
    ),
    examples="    pushjuju add-unit web -n 2\n    pushjuju add-unit web --to 3\n",
    see_also=("remove-unit",),
)
def add_unit(
    cli: Cli,
    args: tuple[str, ...],
    *,
    model: str,
    to: str,
    attach_storage: tuple[str, ...],
    num_units: int,
    no_wait: bool,
) -> None:
    options = unit_requests.AddUnitsOptions(
        application=args[0],
        num_units=num_units,
        placements=values.placements(to),
        attach_storage=attach_storage,
    )
    opened = session.open_model(cli, model)
    added = request.add_units(
        opened.ctx, opened.uuid, options, notices=cli.console, precheck=precheck.precheck_units
    )
    cli.console.detail(f"added {', '.join(added)}")
    drive.settle(cli, opened.ctx, opened.uuid, touched=added, no_wait=no_wait)
