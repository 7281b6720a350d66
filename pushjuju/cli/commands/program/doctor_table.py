"""The table of `doctor`. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pushjuju.cli.terminal.paint import GREEN, RED, YELLOW, paint
from pushjuju.cli.terminal.table import heads
from pushjuju.cli.terminal.tabwriter import TabWriter

_LEVELS = {"ok": GREEN, "warning": YELLOW, "error": RED}


def findings(entries: Sequence[Mapping[str, str]], *, colour: bool = False) -> str:
    """Return the table of the checks: `subject`, `level` (ok, warning, error), `message`, `fix`."""
    table = TabWriter(colour=colour)
    table.row(*heads("Subject", "Level", "Message"))
    for entry in entries:
        level = entry["level"]
        table.row(entry["subject"], paint(level, _LEVELS.get(level, "")), entry["message"])
        if entry.get("fix"):
            table.row("", "", f"-> {entry['fix']}")
    return table.text()
