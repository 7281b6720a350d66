"""The table of machines: a section of `status`, and the output of `machines` and `show-machine`.

Mirrors: juju cmd/juju/status/output_tabular.go printMachines, cmd/juju/machine (3.6)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.terminal.output import Formatter
from pushjuju.cli.terminal.paint import CYAN, paint, paint_status
from pushjuju.cli.terminal.shapes import structured
from pushjuju.cli.terminal.table import TabWriter, message, naturally
from pushjuju.cli.work import session
from pushjuju.cli.work.status_document import status_document

LIST_FLAGS = (
    *flags.IN_MODEL,
    flags.switch("utc", "Display timestamps in the UTC timezone"),
    flags.switch("color", "Force use of ANSI color codes", void=True),
)


def machine_section(machines: Mapping[str, Any], *, colour: bool = False) -> str:
    """Return the table of machines, each container below its host; empty without machines.

    Args:
        machines: Machine id -> entry of the status document.
    """
    if not machines:
        return ""
    return machine_table(machines, colour=colour)


def machine_table(machines: Mapping[str, Any], *, colour: bool = False) -> str:
    """Return the table of machines; without machines, only its header."""
    table = TabWriter("Machine", "State", "Address", "Inst id", "Base", "AZ", "Message", colour=colour)
    _add(table, machines)
    return table.text()


def _add(table: TabWriter, machines: Mapping[str, Any]) -> None:
    for name, machine in naturally(machines):
        word, text = state_of(machine)
        table.row(
            name,
            paint_status(word),
            paint(machine.get("dns-name", ""), CYAN),
            machine.get("display-name") or machine.get("instance-id", ""),
            base_text(machine.get("base", {})),
            _zone(machine.get("hardware", "")),
            message(text),
        )
        _add(table, machine.get("containers", {}))


def state_of(machine: Mapping[str, Any]) -> tuple[str, str]:
    """Return the state and the message to show.

    A failed change of the machine's LXD profile replaces the state. The message may also say why a machine
    without units is kept.
    """
    if "status-error" in machine:
        return "error", machine["status-error"]
    agent, change = machine.get("juju-status", {}), machine.get("modification-status", {})
    if change.get("current") == "error":
        return "error", change.get("message", "")
    if "status-error" in agent:
        return "error", agent["status-error"]
    texts = (machine.get("machine-status", {}).get("message", ""), agent.get("message", ""))
    return agent.get("current", ""), "; ".join(filter(None, texts))


def base_text(base: Mapping[str, str]) -> str:
    """Return `ubuntu@22.04`, or an empty text for no base."""
    return f"{base['name']}@{base['channel']}" if base else ""


def _zone(hardware: str) -> str:
    found = (part.partition("=")[2] for part in hardware.split() if part.startswith("availability-zone="))
    return next(found, "")


def formatters(*, colour: bool = False) -> dict[str, Formatter]:
    """Return format name -> function that formats `{model, machines}`."""
    return {
        "tabular": lambda machines_document: machine_table(machines_document["machines"], colour=colour),
        **structured("machines"),
    }


def machines_document(status: Mapping[str, Any], wanted: Iterable[str] = ()) -> dict[str, object]:
    """Return the machines of a status document, or the top-level ones in `wanted`, without unknown ids."""
    names = set(wanted)
    machines = status.get("machines", {})
    kept = {name: machine for name, machine in machines.items() if not names or name in names}
    return {"model": status["model"]["name"], "machines": kept}


def machine_document(cli: Cli, model: str, ids: tuple[str, ...], *, utc: bool) -> dict[str, object]:
    opened = session.open_model(cli, model)
    return machines_document(status_document(opened, utc=utc), ids)
