"""What `machines` and `show-machine` share."""

from __future__ import annotations

from pushjuju.cli.commands.machine import machine_formats as formatters
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.work import session
from pushjuju.cli.work.status_document import status_document

LIST_FLAGS = (
    *flags.IN_MODEL,
    flags.switch("utc", "Display timestamps in the UTC timezone"),
    flags.switch("color", "Force use of ANSI color codes", void=True),
)


def machine_document(cli: Cli, model: str, ids: tuple[str, ...], *, utc: bool) -> dict[str, object]:
    opened = session.open_model(cli, model)
    return formatters.document(status_document(opened, utc=utc), ids)
