"""metrics: shows a controller's metrics as Prometheus reads them."""

from __future__ import annotations

from pathlib import Path

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.services.views.metrics import exposition


@command(
    "metrics",
    summary="Shows the metrics of a controller as Prometheus reads them.",
    flags=(
        *flags.CONTROLLER,
        flags.text("output", "Replace this file in one step, for node_exporter", short="o"),
        flags.switch("per-unit", "Add the status of each unit"),
    ),
    details="For Prometheus: the API server has the same text at /metrics. With -o, the file is readable\n"
    "for all users of the computer, and its directory must exist.\n"
    "With --per-unit, each unit is a time series of its own, as with /metrics?per-unit=true.",
    examples="    pushjuju metrics\n"
    "    pushjuju metrics -o /var/lib/prometheus/node-exporter/pushjuju.prom\n",
    see_also=("status", "api", "timeline"),
)
def metrics(cli: Cli, _args: tuple[str, ...], *, controller: str, output: str, per_unit: bool) -> None:
    """Write the metrics of a controller to stdout or to a file."""
    text = exposition.text(session.open_controller(cli, controller), per_unit=per_unit)
    if output:
        exposition.write(Path(output).expanduser(), text)
    else:
        cli.console.stdout.write(text)
