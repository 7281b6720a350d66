"""Ingress rules: which networks may reach which ports of a machine. Pure.

Computes complete rule sets from the ports that units opened and the endpoints that users exposed; keeps no
state.
Mirrors: juju core/network/firewall, worker/firewaller/firewaller.go (3.6)
"""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache

from pushjuju.core.errors import NotValid
from pushjuju.core.ids import digest
from pushjuju.core.model.ports import OpenPort, PortRange
from pushjuju.core.values import dataclass, regex

EVERYWHERE = ("0.0.0.0/0", "::/0")
ALL_ENDPOINTS = ""
_CIDR = regex(r"[0-9A-Fa-f.:]+/[0-9]{1,3}", re.ASCII)
_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """From where the ports of an endpoint can be reached.

    Attributes:
        endpoint: The name of the endpoint; empty for all endpoints without an exposure of their own.
        spaces: Names of spaces whose subnets may reach the ports.
        cidrs: The networks as the user typed them, sorted.
    """

    endpoint: str
    spaces: tuple[str, ...] = ()
    cidrs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, order=True)
class IngressRule:
    """One port range and the networks that may reach it: CIDRs in canonical form, sorted."""

    range: PortRange
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineRules:
    """Everything that may reach a machine; the firewall refuses all other traffic.

    Attributes:
        ingress: The open ports and the networks to which each is open, sorted.
        mates: Addresses of the model's machines; these may reach every port.
        ssh: CIDRs that may reach the machine's SSH port.
        ssh_port: The SSH port that the machine itself listens on.
    """

    ingress: tuple[IngressRule, ...] = ()
    mates: tuple[str, ...] = ()
    ssh: tuple[str, ...] = EVERYWHERE
    ssh_port: int = 22

    def digest(self) -> str:
        """Return a digest that is the same for equal rules."""
        ingress = [[str(rule.range), *rule.sources] for rule in self.ingress]
        return digest(json.dumps([ingress, self.mates, self.ssh, self.ssh_port]))


# --- CIDRs ------------------------------------------------------------------------------------------------


def split(text: str) -> list[str]:
    """Return the items of a comma-separated list."""
    return [part.strip() for part in text.split(",") if part.strip()]


def parse_cidr(text: str) -> str:
    """Return a CIDR in canonical form: `10.1.2.3/8` becomes `10.0.0.0/8`.

    Raises:
        NotValid: The text is not a CIDR; the message is Go's.
    """
    try:
        if not _CIDR.fullmatch(text):
            raise ValueError(text)
        return str(ipaddress.ip_network(text, strict=False))
    except ValueError:
        raise NotValid(f"invalid CIDR address: {text}") from None


def collapsed(cidrs: Iterable[str]) -> tuple[str, ...]:
    """Return the same addresses in as few networks as possible; texts that are not a network are left out."""
    networks = list(_networks(cidrs))
    found: list[str] = []
    for version in (4, 6):
        same = [network for network in networks if network.version == version]
        found += [str(network) for network in ipaddress.collapse_addresses(same)]  # type: ignore[type-var]
    return tuple(found)


def _networks(cidrs: Iterable[str]) -> Iterator[_Network]:
    for text in cidrs:
        if (network := _network(text)) is not None:
            yield network


@lru_cache(maxsize=8192)
def _network(text: str) -> _Network | None:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


# --- rules ------------------------------------------------------------------------------------------------


def unit_ingress(
    opened: Iterable[OpenPort], exposures: Collection[Exposure], subnets: Mapping[str, Collection[str]]
) -> list[IngressRule]:
    """Return the rules of one unit of an exposed application.

    Args:
        exposures: The exposed endpoints of its application. Without any, no port can be reached from outside.
        subnets: Space -> its CIDRs; an unknown space has no CIDRs.
    """
    named = {item.endpoint for item in exposures}
    rules = []
    for exposure in exposures:
        sources = [*exposure.cidrs, *(cidr for name in exposure.spaces for cidr in subnets.get(name, ()))]
        if sources:
            wanted = {port.range for port in opened if _is_meant(exposure.endpoint, port.endpoint, named)}
            rules += [IngressRule(port_range, tuple(sources)) for port_range in sorted(wanted)]
    return rules


def _is_meant(exposed: str, endpoint: str, named: Collection[str]) -> bool:
    """Return True when an exposure applies to a port range that is open for an endpoint."""
    if exposed != ALL_ENDPOINTS:
        return endpoint in (exposed, ALL_ENDPOINTS)
    return endpoint == ALL_ENDPOINTS or endpoint not in named


def merged(rules: Iterable[IngressRule]) -> tuple[IngressRule, ...]:
    """Return one rule for each range, sorted, with all its sources."""
    sources: dict[PortRange, set[str]] = {}
    for rule in rules:
        sources.setdefault(rule.range, set()).update(rule.sources)
    return tuple(IngressRule(port_range, collapsed(sources[port_range])) for port_range in sorted(sources))
