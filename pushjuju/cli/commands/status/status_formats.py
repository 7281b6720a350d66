"""The formats of `status`. Pure.

Mirrors: juju cmd/juju/status status.go, output_oneline.go, output_summary.go (3.6)
"""

from __future__ import annotations

import ipaddress
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from pushjuju.cli.commands.machine.machine_table import state_of
from pushjuju.cli.commands.status import status_tabular
from pushjuju.cli.commands.status.status_tabular import ports_text
from pushjuju.cli.terminal import shapes
from pushjuju.cli.terminal.output import Formatter
from pushjuju.cli.terminal.paint import BRIGHT_MAGENTA, CYAN, MAGENTA, Joined, escape, paint, paint_status
from pushjuju.cli.terminal.shapes import arranged, bytewise
from pushjuju.cli.terminal.table import TabWriter, naturally
from pushjuju.portable.jsontext import escape_json
from pushjuju.portable.yamltext import to_yaml

FORMATS = ("tabular", "yaml", "json", "short", "oneline", "line", "summary")
PICTURES = ("svg", "dot", "mermaid")


def formatters(
    *, relations: Sequence[Mapping[str, Any]] | None = None, storage: bool = False, colour: bool = False
) -> dict[str, Formatter]:
    """Return format name -> function that formats the status document.

    Args:
        relations: Rows of the relation section of the table, or None for no section; see `status_tabular`.
        storage: Whether the table has the storage section.
        colour: Whether the output has colours.
    """

    def tabular(document: Any) -> str:
        return status_tabular.tabular(document, relations=relations, storage=storage, colour=colour)

    line = partial(oneline, colour=colour)
    return {
        "tabular": tabular,
        "summary": partial(summary, colour=colour),
        "short": line,
        "oneline": line,
        "line": line,
        "yaml": lambda document: to_yaml(arranged(document, "status", shapes.naturally), sort_keys=False),
        "json": json_text,
    }


def json_text(document: Mapping[str, Any]) -> str:
    """Return the document as json, fast: the status has no numbers that Go writes differently."""
    sorted_maps = arranged(document, "status", bytewise)
    text = json.dumps(sorted_maps, ensure_ascii=False, separators=(",", ":"), check_circular=False)
    return escape_json(text) + "\n"


def oneline(document: Mapping[str, Any], *, colour: bool = False) -> str:
    """Return `- pg/0: 10.0.0.1 (agent:idle, workload:active) 80/tcp` for each unit."""
    applications = naturally(document.get("applications", {}))
    return "".join(
        _line(entry, colour=colour)
        for name, application in applications
        for entry in status_tabular.walk({name: application})
    )


def _line(entry: status_tabular.UnitEntry, *, colour: bool) -> str:
    def shown(text: str) -> str:
        return escape(text) if colour else text

    unit = entry.unit
    address = shown(paint(unit.get("public-address", ""), CYAN))
    agent = shown(paint_status(status_tabular.agent_of(unit)))
    workload = shown(paint_status(status_tabular.workload_of(unit)))
    ports = shown(paint(ports_text(unit.get("open-ports", ())), BRIGHT_MAGENTA))
    text = f"{'  ' * entry.level}- {entry.name}: {address} (agent:{agent}, workload:{workload})"
    return f"{text} {ports}\n" if ports else f"{text}\n"


def summary(document: Mapping[str, Any], *, colour: bool = False) -> str:
    """Return subnets, ports, and the counts of machines, units, applications and SAAS."""
    applications = document.get("applications", {})
    units = [entry.unit for entry in status_tabular.walk(applications)]
    machines, remote = document.get("machines", {}), document.get("application-endpoints", {})
    top = TabWriter(colour=colour)
    top.closed("Running on subnets:", ", ".join(_subnets(machines, units)))
    top.closed(" Utilizing ports:", ports_text(port for unit in units for port in unit.get("open-ports", ())))
    table = TabWriter(all_right=True, colour=colour)
    _section(table, "# Machines:", len(machines))
    _counts(table, (state_of(machine)[0] or "pending" for machine in machines.values()))
    _section(table, "# Units:", len(units))
    _counts(table, map(status_tabular.workload_of, units))
    _section(table, "# Applications:", len(applications))
    for name, application in naturally(applications):
        table.closed(name, "1/1" if application.get("exposed") else "0/1", "exposed")
    table.closed(" ")
    _section(table, "# Remote:", len(remote))
    for name, application in naturally(remote):
        table.closed(name, "", application.get("url", ""))
    return top.text() + table.text()


def _section(table: TabWriter, title: str, count: int) -> None:
    table.closed(title, paint(f"({count})", MAGENTA))


def _counts(table: TabWriter, words: Iterable[str]) -> None:
    for word, count in naturally(Counter(words)):
        table.closed(paint_status(word, ":"), Joined(" ", paint(str(count), MAGENTA), " "))
    table.closed(" ")


def _subnets(machines: Mapping[str, Any], units: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the networks of all addresses, by the default mask of each address class."""
    addresses = {machine.get("dns-name", "") for machine in machines.values()}
    addresses |= {unit.get("public-address", "") for unit in units}
    found = set()
    for text in addresses:
        try:
            address = ipaddress.IPv4Address(text)
        except ValueError:
            continue
        first = int(address) >> 24
        length = 8 if first < 128 else 16 if first < 192 else 24
        found.add(str(ipaddress.ip_network((int(address), length), strict=False)))
    return sorted(found)
