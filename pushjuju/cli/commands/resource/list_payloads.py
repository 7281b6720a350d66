"""The command payloads. Mirrors: juju cmd/juju/payload/list.go (3.6)"""

from __future__ import annotations

from typing import Any

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.output import Formatter
from pushjuju.cli.terminal.shapes import structured
from pushjuju.cli.terminal.table import TabWriter
from pushjuju.cli.work import session
from pushjuju.services.views import resource_documents as view


@command(
    "payloads",
    usage="[pattern ...]",
    summary="Display status information about known payloads.",
    aliases=("list-payloads",),
    formats=("tabular", "yaml", "json"),
    flags=flags.IN_MODEL,
    details="A pattern is compared with the class, the type, the id, the status, the unit, the machine and\n"
    "the labels of a payload, as a whole and without regard to case; a payload must match all patterns.",
)
def payloads(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    opened = session.open_model(cli, model)
    listed = view.payloads(opened.ctx, opened.uuid, args)
    if not listed:
        return cli.console.info("No matching payloads." if args else "No payloads to display.")
    return cli.output.write(listed, _formatters(opened.model.name, colour=cli.output.colour))


def _formatters(model: str, *, colour: bool) -> dict[str, Formatter]:
    def table(listed: Any) -> str:
        rows = TabWriter("Unit", "Machine", "Payload class", "Status", "Type", "Id", "Tags", colour=colour)
        for item in listed:
            cells = (item["unit"], item["machine"], item["payload-class"], item["status"], item["type"])
            rows.row(*cells, item["id"], " ".join(item.get("labels", ())))
        return f"[Unit Payloads]\n{rows.text()}"

    del model
    return {"tabular": table, **structured("[leaf")}
