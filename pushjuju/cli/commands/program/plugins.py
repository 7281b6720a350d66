"""plugins: lists the plugins: their origin and hooks, and why a plugin is not used."""

from __future__ import annotations

from dataclasses import asdict

from pushjuju.cli.commands.program.plugin_table import plugins as table
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import scope


@command(
    "plugins",
    summary="Lists the plugins: their origin and hooks, and why a plugin is not used.",
    at_most=0,
    formats=("tabular", "yaml", "json"),
    examples="    pushjuju plugins\n    pushjuju plugins --format json\n",
    see_also=("doctor",),
)
def plugins(cli: Cli, _args: tuple[str, ...]) -> None:
    """List the plugins."""
    host = scope.host(cli)
    entries = [{**asdict(info), "hooks": list(info.hooks)} for info in host.list_plugins()]
    cli.output.write(entries, {"tabular": lambda listed: table(listed, colour=cli.output.colour)})
