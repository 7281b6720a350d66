"""The status with one line for each unit. Pure. Mirrors: juju cmd/juju/status/output_oneline.go (3.6)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.cli.commands.status import status_units
from pushjuju.cli.commands.status.ports import ports_text
from pushjuju.cli.terminal.paint import BRIGHT_MAGENTA, CYAN, escape, paint, paint_status
from pushjuju.cli.terminal.table import naturally


def oneline(document: Mapping[str, Any], *, colour: bool = False) -> str:
    """Return `- pg/0: 10.0.0.1 (agent:idle, workload:active) 80/tcp` for each unit."""
    applications = naturally(document.get("applications", {}))
    return "".join(
        _line(entry, colour=colour)
        for name, application in applications
        for entry in status_units.walk({name: application})
    )


def _line(entry: status_units.UnitEntry, *, colour: bool) -> str:
    def shown(text: str) -> str:
        return escape(text) if colour else text

    unit = entry.unit
    address = shown(paint(unit.get("public-address", ""), CYAN))
    agent = shown(paint_status(status_units.agent_of(unit)))
    workload = shown(paint_status(status_units.workload_of(unit)))
    ports = shown(paint(ports_text(unit.get("open-ports", ())), BRIGHT_MAGENTA))
    text = f"{'  ' * entry.level}- {entry.name}: {address} (agent:{agent}, workload:{workload})"
    return f"{text} {ports}\n" if ports else f"{text}\n"
