"""Filters the document of `status` by the patterns of `status PATTERN ...`.

Pure: the functions take and return documents, and use no store.

An entity is kept when any pattern matches: patterns are compared with machines, units and applications, and
what belongs to a match is kept too. SAAS and offers are never filtered. Bad patterns match nothing.

Mirrors: juju apiserver/facades/client/client/filtering.go, status.go (3.6)
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Any

from pushjuju.core.status import Agent, MachineStatus, Workload
from pushjuju.core.values import dataclass, regex

Document = Mapping[str, Any]

_NAME_PATTERN = regex(r"[a-z0-9*-]+(?:/[a-z0-9*-]+)?")
_PORT_PATTERN = regex(r"(\d+)(?:-(\d+))?/([a-z]+)|(icmp)")
_ADDRESS = regex(r"[0-9.]+|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The names of the entities that are kept."""

    machines: frozenset[str]
    units: frozenset[str]
    applications: frozenset[str]
    related: frozenset[str]
    """Applications that match themselves; relations between two of them are kept."""


def filter_status(
    document: Document, patterns: Sequence[str], relations: Sequence[Document] = ()
) -> tuple[dict[str, Any], list[Document]]:
    """Return the part of a status document, and of its relation rows, that the patterns keep.

    Args:
        document: The document, as in `status --format json`.
        patterns: The patterns of the user; without patterns, everything is kept.
        relations: The rows of the relation table, with `provider` and `requirer`.
    """
    if not patterns:
        return dict(document), list(relations)
    kept = select(document, patterns)
    filtered = dict(document)
    filtered["machines"] = _machines(document.get("machines", {}), kept)
    filtered["applications"] = {
        name: _application(application, name, kept)
        for name, application in document.get("applications", {}).items()
        if name in kept.applications
    }
    if document.get("storage"):
        filtered["storage"] = _storage(document["storage"], kept)
    sides = ("provider", "requirer")
    rows = [row for row in relations if all(row[side].partition(":")[0] in kept.related for side in sides)]
    return filtered, rows


# --- iteration ----------------------------------------------------------------------------------


def _all_units(applications: Document) -> Iterator[tuple[str, Document, str, str]]:
    """Yield (name, unit, principal or "", machine) for every unit."""
    for application in applications.values():
        for name, unit in application.get("units", {}).items():
            machine = str(unit.get("machine", ""))
            yield name, unit, "", machine
            for subordinate, inner in unit.get("subordinates", {}).items():
                yield subordinate, inner, name, machine


def _all_machines(machines: Document) -> Iterator[tuple[str, Document]]:
    for name, machine in machines.items():
        yield name, machine
        yield from _all_machines(machine.get("containers", {}))


def _with_leaders(document: Document, patterns: Iterable[str]) -> list[str]:
    leaders = {
        name.partition("/")[0]: name
        for name, unit, _, _ in _all_units(document.get("applications", {}))
        if unit.get("leader")
    }
    found = []
    for pattern in patterns:
        application, _, word = pattern.partition("/")
        found.append(leaders.get(application, pattern) if word == "leader" else pattern)
    return found


# --- matching -----------------------------------------------------------------------------------


def select(document: Document, patterns: Sequence[str]) -> Kept:
    """Return what patterns keep of a status document."""
    patterns = _with_leaders(document, patterns)
    applications, machines = document.get("applications", {}), document.get("machines", {})
    matched_machines = {
        name for name, machine in _all_machines(machines) if _machine_matches(name, machine, patterns)
    }
    exposed = _exposure(patterns)
    everything = list(_all_units(applications))
    matching = {
        name
        for name, unit, _, _ in everything
        if _unit_matches(name, unit, patterns) or _is_exposed(applications, name, exposed)
    }
    by_unit = matching | {principal for name, _, principal, _ in everything if principal and name in matching}
    by_unit |= {name for name, _, principal, _ in everything if principal in matching}
    # A kept principal is shown with all its subordinates, which do not make their applications match.
    shown = by_unit | {name for name, _, principal, _ in everything if principal in by_unit}
    by_machine = {name for name, _, _, machine in everything if machine in matched_machines}
    needed = {machine for name, _, _, machine in everything if name in by_unit and machine}
    neighbours = {name for name, _, _, machine in everything if machine in needed}
    related = _applications_of(by_unit) | {
        name
        for name, application in applications.items()
        if name.lower() in {pattern.lower() for pattern in patterns}
        or (exposed is not None and bool(application.get("exposed")) is exposed)
    }
    return Kept(
        machines=frozenset(matched_machines | needed),
        units=frozenset(shown | by_machine),
        applications=frozenset(related | _applications_of(by_machine | neighbours)),
        related=frozenset(related),
    )


def _applications_of(units: Iterable[str]) -> set[str]:
    return {name.partition("/")[0] for name in units}


def _exposure(patterns: Sequence[str]) -> bool | None:
    """Return True for `exposed`, False for `not exposed`, or None when the patterns begin otherwise."""
    if patterns[0].lower() == "exposed":
        return True
    if [pattern.lower() for pattern in patterns[:2]] == ["not", "exposed"]:
        return False
    return None


def _is_exposed(applications: Document, unit: str, wanted: bool | None) -> bool:
    owner = applications.get(unit.partition("/")[0], {})
    return wanted is not None and bool(owner.get("exposed")) is wanted


def _machine_matches(name: str, machine: Document, patterns: Sequence[str]) -> bool:
    agent = machine.get("juju-status", {}).get("current", "")
    addresses = {machine.get("dns-name", ""), *machine.get("ip-addresses", ())} - {""}
    return any(
        name == pattern
        or name.startswith(f"{pattern}/")
        or (pattern in set(MachineStatus) and pattern == agent)
        or _address_matches(pattern, addresses)
        for pattern in patterns
    )


def _address_matches(pattern: str, addresses: Iterable[str]) -> bool:
    if pattern in addresses:
        return True
    if "/" not in pattern or not _ADDRESS.fullmatch(pattern.partition("/")[0]):
        return False
    # Imported here, so that `status` without a network pattern starts faster.

    try:
        network = ipaddress.ip_network(pattern, strict=False)
    except ValueError:
        return False
    return any(_inside(network, text) for text in addresses)


def _inside(network: IPv4Network | IPv6Network, text: str) -> bool:
    try:
        address = ip_address(text)
    except ValueError:
        return False
    return address.version == network.version and address in network


def _unit_matches(name: str, unit: Document, patterns: Sequence[str]) -> bool:
    names = [pattern.lower() for pattern in patterns]
    by_name = all(_NAME_PATTERN.fullmatch(pattern) for pattern in names)
    return any(
        (by_name and _name_matches(name, pattern))
        or _status_matches(unit, pattern)
        or _port_matches(unit.get("open-ports", ()), pattern)
        for pattern in names
    )


def _name_matches(name: str, pattern: str) -> bool:
    """Return True when a unit's name matches a pattern; an application's name stands for its units."""
    return is_like(name, pattern if "/" in pattern else f"{pattern}/*")


def is_like(name: str, glob: str) -> bool:
    """Return True when a name matches a glob; `*` does not match the slash."""
    return re.fullmatch(glob.replace("*", "[^/]*"), name) is not None


def _status_matches(unit: Document, pattern: str) -> bool:
    workload = unit.get("workload-status", {}).get("current", "")
    # For an agent in error, the document has the error as the workload's status.
    agent = Agent.ERROR if workload == Workload.ERROR else unit.get("juju-status", {}).get("current", "")
    if pattern in set(Agent) and pattern == agent:
        return True
    return agent != Agent.ERROR and pattern in set(Workload) and pattern == workload


def _port_matches(ports: Iterable[str], pattern: str) -> bool:
    wanted = _port_range(pattern)
    return wanted is not None and any(_overlap(wanted, _port_range(port)) for port in ports)


def is_port(pattern: str) -> bool:
    """Return True when a pattern is a range of ports, such as `80/tcp`."""
    return _PORT_PATTERN.fullmatch(pattern) is not None


def _port_range(text: str) -> tuple[str, int, int] | None:
    found = _PORT_PATTERN.fullmatch(text)
    if not found:
        return None
    if found[4]:
        return ("icmp", -1, -1)
    return (found[3], int(found[1]), int(found[2] or found[1]))


def _overlap(wanted: tuple[str, int, int], open_range: tuple[str, int, int] | None) -> bool:
    if open_range is None or wanted[0] != open_range[0]:
        return False
    return wanted[1] <= open_range[2] and open_range[1] <= wanted[2]


# --- filtered copies ----------------------------------------------------------------------------


def _machines(machines: Document, kept: Kept) -> dict[str, Any]:
    """Return the machines that are kept; the host of a kept container is kept too."""
    found = {}
    for name, machine in machines.items():
        containers = _machines(machine.get("containers", {}), kept)
        if name in kept.machines or containers:
            found[name] = _with(machine, "containers", containers)
    return found


def _application(application: Document, name: str, kept: Kept) -> dict[str, object]:
    units = {
        unit_name: _with(
            unit,
            "subordinates",
            {inner: body for inner, body in unit.get("subordinates", {}).items() if inner in kept.units},
        )
        for unit_name, unit in application.get("units", {}).items()
        if unit_name in kept.units
    }
    relations = {}
    for endpoint, listed in application.get("relations", {}).items() if name in kept.related else ():
        others = [entry for entry in listed if entry.get("related-application") in kept.related]
        if others:
            relations[endpoint] = others
    return _with(_with(application, "units", units), "relations", relations)


def _with(document: Document, key: str, value: Mapping[str, Any]) -> dict[str, object]:
    """Return a copy with one map replaced, or removed when the new map is empty."""
    changed = dict(document)
    if key in changed:
        if value:
            changed[key] = value
        else:
            del changed[key]
    return changed


def _is_disk_of(kept: Kept, entry: Document) -> bool:
    """Return True when a volume is a disk of a machine that is kept."""
    return "storage" not in entry and bool(
        kept.machines & set(entry.get("attachments", {}).get("machines", {}))
    )


def _storage(storage: Document, kept: Kept) -> dict[str, object]:
    instances = {
        name: entry
        for name, entry in storage.get("storage", {}).items()
        if kept.units & set(entry.get("attachments", {}).get("units", {}))
    }
    parts = {"storage": instances}
    for kind in ("filesystems", "volumes"):
        parts[kind] = {
            name: entry
            for name, entry in storage.get(kind, {}).items()
            if entry.get("storage") in instances or _is_disk_of(kept, entry)
        }
    return {kind: entries for kind, entries in parts.items() if entries}
