"""add-unit: adds one or more units to a deployed application.

Mirrors: juju cmd/juju/application deploy.go, refresh.go (3.6)
"""

from __future__ import annotations

from pushjuju.cli.commands.application.unit_checks import check_number, precheck
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, session
from pushjuju.core.base import Base
from pushjuju.core.errors import UsageError
from pushjuju.portable.names import is_application
from pushjuju.services.entities.application import applications, units


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
    """Add units."""
    check_number(num_units)
    if attach_storage and num_units != 1:
        raise UsageError("--attach-storage cannot be used with -n")
    if not is_application(args[0]):
        raise UsageError(f'invalid application name "{args[0]}"')
    targets = values.placements(to)

    opened = session.open_model(cli, model)
    with opened.ctx.store.read() as tx:
        found = applications.get(tx, opened.uuid, args[0])
    precheck(cli, opened, Base.parse(found.base), found.constraints, num_units, targets)
    added = units.add_units(opened.ctx, opened.uuid, args[0], num_units, targets, attach_storage)
    cli.console.detail(f"added {', '.join(unit.name for unit in added)}")
    drive.settle(cli, opened.ctx, opened.uuid, touched=[unit.name for unit in added], no_wait=no_wait)
