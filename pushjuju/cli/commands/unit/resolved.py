"""The command resolved. Mirrors: juju cmd/juju/application (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, session
from pushjuju.core.errors import UsageError
from pushjuju.portable.names import is_unit
from pushjuju.services.requests.application import unit_requests as request


@command(
    "resolved",
    usage="[<unit> ...]",
    summary="Marks unit errors resolved and re-executes failed hooks.",
    aliases=("resolve",),
    flags=(
        *flags.IN_MODEL,
        flags.switch("no-retry", "Do not re-execute failed hooks on the unit"),
        flags.switch("all", "Marks all units in error as resolved", dest="every"),
        *flags.NO_WAIT,
    ),
    examples="    pushjuju resolved mysql/0\n"
    "    pushjuju resolved mysql/0 mysql/1 --no-retry\n"
    "    pushjuju resolved --all\n",
    see_also=("status", "debug-log"),
)
def resolved(
    cli: Cli, args: tuple[str, ...], *, model: str, no_retry: bool, every: bool, no_wait: bool
) -> None:
    if args and every:
        raise UsageError("specifying unit names(s) with --all not supported")
    if not (args or every):
        raise UsageError("no unit specified")
    for name in args:
        if not is_unit(name):
            raise UsageError(f'unit name "{name}" not valid')
    opened = session.open_model(cli, model)
    if every:
        touched = request.resolve_all(opened.ctx, opened.uuid, retry=not no_retry)
    else:
        request.resolve(opened.ctx, opened.uuid, list(args), retry=not no_retry)
        touched = list(args)
    drive.settle(cli, opened.ctx, opened.uuid, touched=touched, no_wait=no_wait)
