"""show-machine: shows a machine's status. Mirrors: juju cmd/juju/machine (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.machine import machine_table as formatters
from pushjuju.cli.commands.machine.machine_table import LIST_FLAGS, machine_document
from pushjuju.cli.syntax.command import Cli, command


@command(
    "show-machine",
    usage="<machineID> ...",
    summary="Shows a machine's status.",
    formats=("yaml", "tabular", "json"),
    flags=LIST_FLAGS,
    examples="    pushjuju show-machine 0\n    pushjuju show-machine 1 2 --format json\n",
    see_also=("machines",),
)
def show_machine(cli: Cli, args: tuple[str, ...], *, model: str, utc: bool) -> None:
    cli.output.write(
        machine_document(cli, model, args, utc=utc), formatters.formatters(colour=cli.output.colour)
    )
