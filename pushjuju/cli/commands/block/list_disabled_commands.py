"""disabled-commands: list disabled commands. Mirrors: juju cmd/juju/block (3.6)"""

from __future__ import annotations

from typing import Any

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.output import Formatter
from pushjuju.cli.terminal.shapes import structured
from pushjuju.cli.terminal.table import TabWriter, heads
from pushjuju.cli.work import session
from pushjuju.services.views.listings import blocks


@command(
    "disabled-commands",
    summary="List disabled commands.",
    aliases=("list-disabled-commands",),
    at_most=0,
    formats=("tabular", "yaml", "json"),
    flags=(*flags.IN_MODEL, flags.switch("all", "Lists for all models of the controller", dest="every")),
    examples="    pushjuju disabled-commands\n    pushjuju disabled-commands --all --format yaml\n",
    see_also=("disable-command", "enable-command"),
)
def disabled(cli: Cli, _args: tuple[str, ...], *, model: str, every: bool) -> None:
    if every:
        controller, _ = session.split_model(model)
        listed: list[Any] = blocks.of_controller(session.open_controller(cli, controller))
    else:
        opened = session.open_model(cli, model)
        listed = blocks.of_model(opened.ctx, opened.uuid)
    if not listed and cli.output.form == "tabular":
        return cli.console.info("No commands are currently disabled.")
    return cli.output.write(listed, formatters(colour=cli.output.colour))


def formatters(*, colour: bool = False) -> dict[str, Formatter]:
    """Return format name -> function that formats a list of disabled commands."""
    return {"tabular": lambda listed: table(listed, colour=colour), **structured("[leaf")}


def table(listed: list[dict[str, Any]], *, colour: bool = False) -> str:
    """Return the table of disabled commands, of one model or of all models."""
    rows = TabWriter(colour=colour)
    if listed and "name" in listed[0]:
        rows.row(*heads("Name", "Model UUID", "Owner", "Disabled commands"))
        for item in listed:
            rows.row(item["name"], item["model-uuid"], item["owner"], ", ".join(item["disabled-commands"]))
        return rows.text()
    rows.row(*heads("Disabled commands", "Message"))
    for item in listed:
        rows.row(item["command-set"], item.get("message", ""))
    return rows.text()
