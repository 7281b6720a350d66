"""Formats `machines` and `show-machine`. Pure. Mirrors: juju cmd/juju/machine (3.6)"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pushjuju.cli.commands.machine.machine_table import machine_table
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.terminal.output import Formatter, render
from pushjuju.cli.terminal.shapes import struct
from pushjuju.cli.work import session
from pushjuju.cli.work.status_document import status_document


def formatters(*, colour: bool = False) -> dict[str, Formatter]:
    """Return format name -> function that formats `{model, machines}`."""
    return {
        "tabular": lambda document: machine_table(document["machines"], colour=colour),
        "yaml": lambda document: render("yaml", struct(document, "machines")),
        "json": lambda document: render("json", struct(document, "machines")),
    }


def document(status: Mapping[str, Any], wanted: Iterable[str] = ()) -> dict[str, object]:
    """Return the machines of a status document.

    Args:
        wanted: Ids of top-level machines; all when empty. Unknown ids are left out.
    """
    names = set(wanted)
    machines = status.get("machines", {})
    kept = {name: machine for name, machine in machines.items() if not names or name in names}
    return {"model": status["model"]["name"], "machines": kept}


LIST_FLAGS = (
    *flags.IN_MODEL,
    flags.switch("utc", "Display timestamps in the UTC timezone"),
    flags.switch("color", "Force use of ANSI color codes", void=True),
)


def machine_document(cli: Cli, model: str, ids: tuple[str, ...], *, utc: bool) -> dict[str, object]:
    opened = session.open_model(cli, model)
    return document(status_document(opened, utc=utc), ids)
