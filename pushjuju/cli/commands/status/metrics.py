"""metrics: shows a controller's metrics as Prometheus reads them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.portable.quote import quote
from pushjuju.services.requests.user import tokens
from pushjuju.services.views.metrics import exposition

if TYPE_CHECKING:
    from pushjuju.services.entities.basis.context import Context


@command(
    "metrics",
    usage="[token]",
    at_most=1,
    summary="Shows the metrics of a controller as Prometheus reads them.",
    flags=(
        *flags.CONTROLLER,
        flags.text("output", "Replace this file in one step, for node_exporter", short="o"),
        flags.switch("per-unit", "Add the status of each unit"),
        flags.switch("revoke", "token: end all tokens that you made"),
    ),
    details="For Prometheus: the API server has the same text at /metrics. With -o, the file is readable\n"
    "for all users of the computer, and its directory must exist.\n"
    "`metrics token` prints a token with which Prometheus reads that path, and no other; the store keeps\n"
    "its hash alone. The token reads until --revoke, or until you are no superuser.\n"
    "With --per-unit, each unit is a time series of its own, as with /metrics?per-unit=true.",
    examples="    pushjuju metrics\n"
    "    pushjuju metrics -o /var/lib/prometheus/node-exporter/pushjuju.prom\n"
    "    pushjuju metrics token > /etc/prometheus/pushjuju-token\n",
    see_also=("status", "api", "timeline"),
)
def metrics(
    cli: Cli, args: tuple[str, ...], *, controller: str, output: str, per_unit: bool, revoke: bool
) -> None:
    """Write the metrics of a controller to stdout or to a file, or make a token that reads them."""
    if args not in ((), ("token",)):
        raise UsageError(f"there is no subcommand {quote(args[0])}: metrics, or metrics token")
    if (args and (output or per_unit)) or (revoke and not args):
        raise UsageError("--revoke is a flag of metrics token, -o and --per-unit are not")
    ctx = session.open_controller(cli, controller)
    if args:
        _token(cli, ctx, revoke=revoke)
        return
    text = exposition.text(ctx, per_unit=per_unit)
    if output:
        exposition.write(Path(output).expanduser(), text)
    else:
        cli.console.stdout.write(text)


def _token(cli: Cli, ctx: Context, *, revoke: bool) -> None:
    if revoke:
        number = tokens.revoke_metrics_tokens(ctx)
        cli.console.info(f"{number} {'token' if number == 1 else 'tokens'} ended.")
    else:
        cli.console.stdout.write(f"{tokens.make_metrics_token(ctx)}\n")
