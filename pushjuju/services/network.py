"""Addresses, bindings and what network-get tells. Layer: services.

Mirrors: juju core/network/address.go, apiserver/facades/agent/uniter/networkinfoiaas.go (3.6)
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pushjuju.core.ids import digest

if TYPE_CHECKING:
    from pushjuju.state.records import Machine

_UNUSED_NICS = ("lo", "lxdbr0", "virbr0", "docker0")
_MOST_PUBLIC_FIRST = {"public": 0, "local-cloud": 30, "local-fan": 50, "local-machine": 70, "link-local": 90}
ALPHA = "alpha"


def scope_of(value: str) -> str:
    """Return the scope of an address: public, local-cloud, local-fan, local-machine or link-local."""
    address = ipaddress.ip_address(value)
    if address.is_loopback:
        return "local-machine"
    if address.is_link_local:
        return "link-local"
    if isinstance(address, ipaddress.IPv4Address) and address in ipaddress.ip_network("240.0.0.0/4"):
        return "local-fan"
    return "local-cloud" if address.is_private else "public"


def addresses_from_nics(nics: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the usable addresses of a machine, most public first.

    Args:
        nics: As the machine told them: [{name, mac, addresses: [{value, cidr}], up}].

    Returns:
        [{value, cidr, nic, mac, scope}], without loopback and link-local ones.
    """
    found = []
    for nic in nics:
        if nic["name"] in _UNUSED_NICS:
            continue
        for address in nic["addresses"]:
            scope = scope_of(address["value"])
            if scope not in ("local-machine", "link-local"):
                found.append(
                    {
                        "value": address["value"],
                        "cidr": _subnet(address["cidr"]),
                        "nic": nic["name"],
                        "mac": nic.get("mac", ""),
                        "scope": scope,
                    }
                )
    return sorted(found, key=_order)


def _subnet(cidr: str) -> str:
    return str(ipaddress.ip_network(cidr, strict=False)) if "/" in cidr else cidr


def _order(address: Mapping[str, Any]) -> tuple[int, bool, str, str]:
    six = ":" in address["value"]
    return (_MOST_PUBLIC_FIRST[address["scope"]] + six, six, address["nic"], address["value"])


def public_address(machine: Machine) -> str:
    """Return the address by which people reach a machine; empty when it has none."""
    return public(machine.addresses) or str(machine.ssh.get("host", ""))


def public(addresses: Iterable[Mapping[str, Any]]) -> str:
    """Return the one of a machine's addresses by which people reach it; empty when it told of none."""
    return _preferred(addresses, ("public", "local-cloud", "local-fan"))


def private_address(machine: Machine) -> str:
    """Return the address by which the other machines of the model reach it; empty when it has none."""
    return _preferred(machine.addresses, ("local-cloud", "local-fan", "public")) or str(
        machine.ssh.get("host", "")
    )


def _preferred(addresses: Iterable[Mapping[str, Any]], scopes: tuple[str, ...]) -> str:
    for scope in scopes:
        values = [item["value"] for item in addresses if item["scope"] == scope]
        if values:
            return str(min(values, key=lambda value: ":" in value))
    return ""


def addresses_hash(machine: Machine, bindings: Mapping[str, str]) -> str:
    """Return the hash whose change makes config-changed run."""
    addresses = sorted((item["value"], item["scope"]) for item in machine.addresses)
    text = json.dumps([addresses, sorted(bindings.items())])
    return digest(text)


def network_info(machine: Machine, egress: Iterable[str] = ()) -> dict[str, Any]:
    """Return what network-get tells of a binding in space alpha.

    Args:
        egress: Subnets that the model or the relation names; else the first address alone.
    """
    devices: dict[str, dict[str, Any]] = {}
    for item in machine.addresses:
        device = devices.setdefault(
            item["nic"], {"mac-address": item["mac"], "interface-name": item["nic"], "addresses": []}
        )
        device["addresses"].append({"hostname": "", "value": item["value"], "cidr": item["cidr"]})
    ingress = [item["value"] for item in machine.addresses]
    private = private_address(machine)
    if not devices and private:
        ingress = [private]
        entry = {"hostname": "", "value": private, "cidr": ""}
        devices[""] = {"mac-address": "", "interface-name": "", "addresses": [entry]}
    return {
        "bind-addresses": list(devices.values()),
        "egress-subnets": list(egress) or [single_subnet(value) for value in ingress[:1]],
        "ingress-addresses": ingress,
    }


def single_subnet(value: str) -> str:
    """Return an address as a subnet of its own; a host name stays as it is."""
    try:
        return f"{value}/{ipaddress.ip_address(value).max_prefixlen}"
    except ValueError:
        return value


def relation_settings(machine: Machine, egress: Iterable[str] = ()) -> dict[str, str]:
    """Return the keys that a unit's bag gets when it enters a relation."""
    info = network_info(machine, egress)
    if not info["ingress-addresses"]:
        return {}
    first = info["ingress-addresses"][0]
    return {
        "egress-subnets": ",".join(info["egress-subnets"]),
        "ingress-address": first,
        "private-address": first,
    }
