"""The status as counts. Pure. Mirrors: juju cmd/juju/status/output_summary.go (3.6)"""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from pushjuju.cli.commands.machine.machine_table import state_of
from pushjuju.cli.commands.status import status_units
from pushjuju.cli.commands.status.ports import ports_text
from pushjuju.cli.terminal.paint import MAGENTA, Joined, paint, paint_status
from pushjuju.cli.terminal.table import naturally
from pushjuju.cli.terminal.tabwriter import TabWriter


def summary(document: Mapping[str, Any], *, colour: bool = False) -> str:
    """Return subnets, ports, and the counts of machines, units, applications and SAAS."""
    applications = document.get("applications", {})
    units = [entry.unit for entry in status_units.walk(applications)]
    machines, remote = document.get("machines", {}), document.get("application-endpoints", {})
    top = TabWriter(colour=colour)
    top.closed("Running on subnets:", ", ".join(_subnets(machines, units)))
    top.closed(" Utilizing ports:", ports_text(port for unit in units for port in unit.get("open-ports", ())))
    table = TabWriter(all_right=True, colour=colour)
    _section(table, "# Machines:", len(machines))
    _counts(table, (state_of(machine)[0] or "pending" for machine in machines.values()))
    _section(table, "# Units:", len(units))
    _counts(table, map(status_units.workload_of, units))
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
