"""The table of `plugins`. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pushjuju.cli.terminal.paint import RED, paint
from pushjuju.cli.terminal.table import heads
from pushjuju.cli.terminal.tabwriter import TabWriter


def plugins(entries: Iterable[Mapping[str, Any]], *, colour: bool = False) -> str:
    """Return the table of plugins: `name`, `version`, `api`, `hooks` (list), `error` (may be empty)."""
    table = TabWriter(colour=colour)
    table.row(*heads("Plugin", "Version", "API", "Hooks", "Message"))
    for entry in entries:
        hooks = ",".join(hook.removeprefix("pushjuju_") for hook in entry.get("hooks", ()))
        table.row(
            entry["name"],
            entry.get("version", ""),
            entry.get("api", ""),
            hooks,
            paint(entry.get("error", ""), RED),
        )
    return table.text()
