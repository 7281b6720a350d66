"""Port ranges of a unit: opening, closing, conflicts. Mirrors: juju state/machine_ports.go."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from pushjuju.core.values import dataclass


def text(protocol: str, from_port: int, to_port: int) -> str:
    """Return a range as users read it: `80/tcp`, `8000-8080/udp`, `icmp`."""
    if protocol == "icmp":
        return "icmp"
    return f"{from_port}/{protocol}" if from_port == to_port else f"{from_port}-{to_port}/{protocol}"


@dataclass(frozen=True, slots=True, order=True)
class PortRange:
    """A range of one protocol; icmp has no ports (-1 or 0 in both)."""

    protocol: str
    from_port: int
    to_port: int

    def conflicts_with(self, other: PortRange) -> bool:
        """Return True when both ranges claim the same port."""
        if self.protocol != other.protocol:
            return False
        return self.from_port <= other.to_port and other.from_port <= self.to_port

    def __str__(self) -> str:
        return text(self.protocol, self.from_port, self.to_port)


@dataclass(frozen=True, slots=True, order=True)
class OpenPort:
    """An open range of ports; an empty endpoint stands for all endpoints."""

    endpoint: str
    range: PortRange


def changed(
    present: Collection[OpenPort],
    opened: Iterable[OpenPort],
    closed: Iterable[OpenPort],
    endpoints: Collection[str],
) -> frozenset[OpenPort]:
    """Return the ports that are open after a hook's changes; openings are applied before closings."""
    result = set(present)
    for port in opened:
        result = _open(result, port)
    for port in closed:
        result = _close(result, port, endpoints)
    return frozenset(result)


def _open(ports: set[OpenPort], new: OpenPort) -> set[OpenPort]:
    wildcard = OpenPort("", new.range)
    if wildcard in ports:
        return ports
    if new.endpoint:
        return ports | {new}
    return {port for port in ports if port.range != new.range} | {new}


def _close(ports: set[OpenPort], gone: OpenPort, endpoints: Collection[str]) -> set[OpenPort]:
    wildcard = OpenPort("", gone.range)
    if not gone.endpoint:
        return {port for port in ports if port.range != gone.range}
    if wildcard in ports:
        others = {OpenPort(name, gone.range) for name in endpoints if name != gone.endpoint}
        return (ports - {wildcard}) | others
    return ports - {gone}


def conflict(wanted: PortRange, others: Iterable[tuple[str, PortRange]]) -> tuple[str, PortRange] | None:
    """Return the first (unit, range) of `others` that a range conflicts with, or None."""
    return next((item for item in others if wanted.conflicts_with(item[1])), None)
