"""update-status: runs update-status on the units, and all other work that is due."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, session
from pushjuju.cli.work import metrics_file as written
from pushjuju.core.errors import PushjujuError, UsageError
from pushjuju.portable.names import is_unit
from pushjuju.services.entities.model import models
from pushjuju.services.requests.application import unit_requests as request

if TYPE_CHECKING:
    from pushjuju.services.entities.basis.context import Context


@command(
    "update-status",
    usage="[<unit> ...]",
    summary="Runs update-status on the units, and all other work that is due.",
    flags=(
        *flags.MODEL,
        flags.text("metrics-file", "Write the metrics to this file at the end, for node_exporter"),
    ),
    details="For cron. Works every model of the controller unless -m or units are given. Other commands\n"
    "may run at the same time. --metrics-file replaces the file in one step, as `metrics -o` does.",
    examples="    pushjuju update-status\n    pushjuju update-status mysql/0 wordpress/1\n",
    see_also=("controller", "status"),
)
def update_status(cli: Cli, args: tuple[str, ...], *, model: str, metrics_file: str) -> None:
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
    failures = _settle(cli, ctx, uuids, args)
    if metrics_file:
        written.write(ctx, metrics_file)
    if failures:
        raise failures[0]


def _settle(cli: Cli, ctx: Context, uuids: Sequence[str], units: Sequence[str]) -> list[PushjujuError]:
    """Work the models, and return what failed."""
    failures: list[PushjujuError] = []
    for uuid in uuids:
        try:
            drive.settle(cli, ctx, uuid, touched=list(units) or None, routine=True)
        except PushjujuError as error:  # go on with the other models
            failures.append(error)
    return failures
