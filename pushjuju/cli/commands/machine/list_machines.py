"""machines: lists machines in a model. Mirrors: juju cmd/juju/machine (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.machine import machine_table as formatters
from pushjuju.cli.commands.machine.machine_table import LIST_FLAGS, machine_document
from pushjuju.cli.syntax.command import Cli, command


@command(
    "machines",
    summary="Lists machines in a model.",
    aliases=("list-machines",),
    at_most=0,
    formats=("tabular", "yaml", "json"),
    flags=LIST_FLAGS,
    examples="    pushjuju machines\n    pushjuju machines -m test --format json\n",
    see_also=("status", "show-machine"),
)
def list_machines(cli: Cli, _args: tuple[str, ...], *, model: str, utc: bool) -> None:
    cli.output.write(
        machine_document(cli, model, (), utc=utc), formatters.formatters(colour=cli.output.colour)
    )
