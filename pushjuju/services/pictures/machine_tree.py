"""The machines of a model with the containers and units inside, from the status document. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pushjuju.core.values import dataclass
from pushjuju.portable.natural import natural_key
from pushjuju.services.pictures.graph import unit_status
from pushjuju.services.pictures.looks import plain, rank

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitOnMachine:
    """A unit on a machine; a subordinate comes after its principal."""

    name: str
    status: str
    subordinate: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A machine or container."""

    name: str
    status: str  # the machine's status: `started`, `down`, `error` ..
    about: str = ""  # its address, base and hardware in short
    zone: str = ""  # the availability zone, or empty
    units: tuple[UnitOnMachine, ...] = ()
    containers: tuple[Machine, ...] = ()


def of_status(document: Document) -> tuple[Machine, ...]:
    """Return the machines of a status document, by zone and then by number."""
    units: dict[str, list[UnitOnMachine]] = {}
    for application in document.get("applications", {}).values():
        for name, unit in application.get("units", {}).items():
            units.setdefault(str(unit.get("machine", "")), []).extend(_with_subordinates(name, unit))
    found = [_machine(name, item, units) for name, item in document.get("machines", {}).items()]
    return tuple(sorted(found, key=lambda machine: (natural_key(machine.zone), natural_key(machine.name))))


def _with_subordinates(name: str, unit: Document) -> Iterator[UnitOnMachine]:
    yield UnitOnMachine(name=name, status=unit_status(unit)[0])
    for other, inner in unit.get("subordinates", {}).items():
        yield UnitOnMachine(name=other, status=unit_status(inner)[0], subordinate=True)


def _machine(name: str, item: Document, units: Mapping[str, list[UnitOnMachine]]) -> Machine:
    hardware = dict(word.partition("=")[::2] for word in str(item.get("hardware", "")).split())
    base = item.get("base", {})
    about = [str(item.get("dns-name", "")), f"{base.get('name', '')} {base.get('channel', '')}".strip()]
    return Machine(
        name=name,
        status=_status(item),
        about=plain(", ".join(word for word in about if word)),
        zone=plain(hardware.get("availability-zone", "")),
        units=tuple(units.get(name, ())),
        containers=tuple(_machine(key, inner, units) for key, inner in item.get("containers", {}).items()),
    )


def _status(item: Document) -> str:
    """Return the worse of the statuses of a machine's agent and instance; a running instance adds nothing."""
    agent = str(item.get("juju-status", {}).get("current", "unknown"))
    instance = str(item.get("machine-status", {}).get("current", "unknown"))
    return instance if rank(instance) < rank(agent) else agent


def worst(machine: Machine) -> str:
    """Return the worst status of a machine, its units and its containers."""
    found = [machine.status, *(unit.status for unit in machine.units), *map(worst, machine.containers)]
    return min(found, key=lambda word: (rank(word), found.index(word)))


def everything(machine: Machine) -> Iterator[str]:
    """Yield what a machine holds, as words."""
    yield f"{machine.name} {machine.status}"
    for unit in machine.units:
        yield f"{unit.name} {unit.status}"
    for container in machine.containers:
        yield from everything(container)
