"""update-status: runs update-status on the units, and all other work that is due."""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, session
from pushjuju.core.errors import PushjujuError, UsageError
from pushjuju.portable.names import is_unit
from pushjuju.services.entities.model import models
from pushjuju.services.requests.application import update_status as request


@command(
    "update-status",
    usage="[<unit> ...]",
    summary="Runs update-status on the units, and all other work that is due.",
    flags=(*flags.MODEL,),
    details="For cron. Works every model of the controller unless -m or units are given. Other commands\n"
    "may run at the same time.",
    examples="    pushjuju update-status\n    pushjuju update-status mysql/0 wordpress/1\n",
    see_also=("controller", "status"),
)
def update_status(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    """Make update-status hooks due, and do all work that is due."""
    for name in args:
        if not is_unit(name):
            raise UsageError(f'invalid unit name "{name}"')
    if model or args:
        opened = session.open_model(cli, model)
        ctx, uuids = opened.ctx, [opened.uuid]
    else:
        ctx = session.open_controller(cli)
        uuids = [found.uuid for found in models.list_models(ctx)]
    for uuid in uuids:
        request.make_due(ctx, uuid, list(args))
    failures: list[PushjujuError] = []
    for uuid in uuids:
        try:
            drive.settle(cli, ctx, uuid, touched=list(args) or None, routine=True)
        except PushjujuError as error:  # go on with the other models
            failures.append(error)
    if failures:
        raise failures[0]
