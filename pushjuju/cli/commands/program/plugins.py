"""plugins: lists the plugins: their origin and hooks, and why a plugin is not used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.paint import RED, paint
from pushjuju.cli.terminal.table import TabWriter
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
    host = scope.host(cli)
    entries = [{**asdict(info), "hooks": list(info.hooks)} for info in host.list_plugins()]
    cli.output.write(entries, {"tabular": lambda listed: table(listed, colour=cli.output.colour)})


def table(entries: Iterable[Mapping[str, Any]], *, colour: bool = False) -> str:
    """Return the table of plugins: `name`, `version`, `api`, `hooks` (list), `error` (may be empty)."""
    made = TabWriter("Plugin", "Version", "API", "Hooks", "Message", colour=colour)
    for entry in entries:
        hooks = ",".join(hook.removeprefix("pushjuju_") for hook in entry.get("hooks", ()))
        made.row(
            entry["name"],
            entry.get("version", ""),
            entry.get("api", ""),
            hooks,
            paint(entry.get("error", ""), RED),
        )
    return made.text()
