"""Firewalls of Google Compute Engine: rules of a network that apply to instances with a tag. Blocking.

Mirrors: juju provider/gce/{environ_firewall,google/network}.go (3.6)
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from pushjuju.core.firewall import IngressRule, MachineRules

Json = dict[str, Any]


def model_tag(model: str) -> str:
    """Return the network tag of a model's machines."""
    return f"juju-{model}"


def machine_tag(model: str, machine: str) -> str:
    """Return the network tag of one machine."""
    return f"juju-{model}-{machine.replace('/', '-')}"


def shared(model: str, network: str) -> list[Json]:
    """Return the firewalls of a model: its machines reach each other, and SSH is open to all addresses."""
    tag = model_tag(model)
    common = {"network": network, "direction": "INGRESS", "targetTags": [tag]}
    mates = [{"IPProtocol": protocol} for protocol in ("tcp", "udp", "icmp")]
    return [
        {"name": tag, "sourceTags": [tag], "allowed": mates, **common},
        {
            "name": f"{tag}-ssh",
            "sourceRanges": ["0.0.0.0/0"],
            "allowed": [{"IPProtocol": "tcp", "ports": ["22"]}],
            **common,
        },
    ]


def wanted(model: str, machine: str, network: str, rules: MachineRules) -> list[Json]:
    """Return the firewalls of a machine, one for each set of sources; IPv6 sources are left out."""
    tag = machine_tag(model, machine)
    groups: dict[tuple[str, ...], list[IngressRule]] = {}
    for item in rules.ingress:
        sources = tuple(sorted(cidr for cidr in item.sources if ":" not in cidr))
        if sources:
            groups.setdefault(sources, []).append(item)
    return [
        {
            "name": f"{tag}-{hashlib.sha256(' '.join(sources).encode()).hexdigest()[:8]}",
            "network": network,
            "direction": "INGRESS",
            "targetTags": [tag],
            "sourceRanges": list(sources),
            "allowed": _allowed(items),
        }
        for sources, items in sorted(groups.items())
    ]


def _allowed(items: Sequence[IngressRule]) -> list[Json]:
    ports: dict[str, list[str]] = {}
    for item in sorted(items):
        known = ports.setdefault(item.range.protocol, [])
        if item.range.protocol != "icmp":
            first, last = item.range.from_port, item.range.to_port
            known.append(str(first) if first == last else f"{first}-{last}")
    return [
        {"IPProtocol": protocol, **({"ports": listed} if listed else {})}
        for protocol, listed in sorted(ports.items())
    ]


def is_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return True when two firewalls allow the same traffic."""

    def what(item: Mapping[str, Any]) -> Any:
        allowed = [
            (rule["IPProtocol"], sorted(rule.get("ports") or ())) for rule in item.get("allowed") or ()
        ]
        return sorted(allowed), sorted(item.get("sourceRanges") or ()), sorted(item.get("sourceTags") or ())

    return bool(what(one) == what(other))
