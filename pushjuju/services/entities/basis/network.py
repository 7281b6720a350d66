"""Chooses the addresses of machines, and makes the answers of network-get.

Mirrors: juju core/network/address.go, apiserver/facades/agent/uniter/networkinfoiaas.go (3.6)
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from pushjuju.core import firewall
from pushjuju.core.errors import NotValid
from pushjuju.core.ids import digest

if TYPE_CHECKING:
    from pushjuju.store.rows.records import Machine

_FAN = ipaddress.ip_network("240.0.0.0/4")
_UNUSED_NICS = ("lo", "lxdbr0", "virbr0", "docker0")
_MOST_PUBLIC_FIRST = {"public": 0, "local-cloud": 30, "local-fan": 50, "local-machine": 70, "link-local": 90}
_PUBLIC, _PRIVATE = ("public", "local-cloud", "local-fan"), ("local-cloud", "local-fan", "public")
_CHOSEN = {"public": _PUBLIC, "private": _PRIVATE}
_OURS = ("space", *_CHOSEN)  # the keys that the model adds to an address that a machine reported
ALPHA, ALPHA_ID = "alpha", "0"
_Entry = TypeVar("_Entry", bound=Mapping[str, Any])


def scope_of(value: str) -> str:
    """Return the scope of an address: public, local-cloud, local-fan, local-machine or link-local."""
    address = ipaddress.ip_address(value)
    if address.is_loopback:
        return "local-machine"
    if address.is_link_local:
        return "link-local"
    if isinstance(address, ipaddress.IPv4Address) and address in _FAN:
        return "local-fan"
    return "local-cloud" if address.is_private else "public"


def addresses_from_nics(nics: Iterable[Mapping[str, Any]], gateway: str = "") -> list[dict[str, object]]:
    """Return the usable addresses of a machine, most public first.

    Args:
        nics: The network devices that the machine reported: [{name, mac, mtu, parent, addresses: [{value,
            cidr}], up}].
        gateway: The address of the default gateway; empty when it is unknown.

    Returns:
        [{value, cidr, nic, mac, scope, mtu?, gateway?}], without loopback and link-local addresses. An
        address of both a bridge and a port of the bridge is listed for the bridge.
    """
    listed = [nic for nic in nics if nic["name"] not in _UNUSED_NICS]
    parents = {nic["parent"] for nic in listed if nic.get("parent")}
    found: dict[str, dict[str, object]] = {}
    for nic in sorted(listed, key=lambda nic: nic["name"] not in parents):
        for address in nic["addresses"]:
            scope = scope_of(address["value"])
            if scope not in ("local-machine", "link-local"):
                found.setdefault(address["value"], _entry(nic, address, scope, gateway))
    return sorted(found.values(), key=_order)


def _entry(nic: Mapping[str, Any], address: Mapping[str, Any], scope: str, gateway: str) -> dict[str, object]:
    cidr = address["cidr"]
    cidr = str(ipaddress.ip_network(cidr, strict=False)) if "/" in cidr else cidr
    entry = {"value": address["value"], "cidr": cidr, "nic": nic["name"], "mac": nic.get("mac", "")}
    entry["scope"] = scope
    if nic.get("mtu"):
        entry["mtu"] = nic["mtu"]
    if gateway and "/" in cidr and ipaddress.ip_address(gateway) in ipaddress.ip_network(cidr):
        entry["gateway"] = gateway
    return entry


def is_known(machine: Machine, addresses: list[dict[str, object]]) -> bool:
    """Return True when a machine reports the same addresses as before."""
    before = [{key: value for key, value in entry.items() if key not in _OURS} for entry in machine.addresses]
    return before == addresses


def noted(
    addresses: Iterable[Mapping[str, Any]], before: Iterable[Mapping[str, Any]], spaces: Mapping[str, str]
) -> list[dict[str, object]]:
    """Return addresses as the model keeps them: with their spaces, and marks on preferred addresses.

    A preferred address stays preferred while the machine has it, unless an address of a better scope appears.

    Args:
        before: The addresses that the model has kept so far.
        spaces: Subnet -> id of its space, without the subnets of alpha.
    """
    found = [{key: value for key, value in entry.items() if key not in _OURS} for entry in addresses]
    for entry in found:
        if space := spaces.get(entry["cidr"]):
            entry["space"] = space
    old = list(before)
    for kind, scopes in _CHOSEN.items():
        chosen = _choose(found, [entry["value"] for entry in old if entry.get(kind)], scopes)
        if chosen is not None:
            chosen[kind] = True
    return found


def _choose(found: Sequence[_Entry], before: Sequence[str], scopes: tuple[str, ...]) -> _Entry | None:
    best = next((item for item in (_first(found, scope) for scope in scopes) if item), None)
    kept = next((entry for entry in found if entry["value"] in before), None)
    if kept is None or (best and best["scope"] == scopes[0] != kept["scope"]):
        return best
    return kept


def _first(found: Sequence[_Entry], scope: str) -> _Entry | None:
    of_scope = [entry for entry in found if entry["scope"] == scope]
    return min(of_scope, key=lambda entry: ":" in entry["value"]) if of_scope else None


def is_subnet(cidr: str) -> bool:
    """Return True when a CIDR is a network and not a single address."""
    network = ipaddress.ip_network(cidr)
    return network.prefixlen < network.max_prefixlen


def _order(address: Mapping[str, Any]) -> tuple[int, bool, str, str]:
    six = ":" in address["value"]
    return (_MOST_PUBLIC_FIRST[address["scope"]] + six, six, address["nic"], address["value"])


def public_address(machine: Machine) -> str:
    """Return the address by which users reach a machine; empty when the machine has no such address."""
    return public(machine.addresses) or str(machine.ssh.get("host", ""))


def public(addresses: Sequence[Mapping[str, Any]]) -> str:
    """Return the address by which users reach a machine; empty when the machine reported no such address."""
    return _preferred(addresses, "public")


def private_address(machine: Machine) -> str:
    """Return the address by which the model's other machines reach a machine, or an empty text."""
    return private(machine.addresses) or str(machine.ssh.get("host", ""))


def private(addresses: Sequence[Mapping[str, Any]]) -> str:
    """Return the address by which the model's other machines reach this machine, or an empty text."""
    return _preferred(addresses, "private")


def _preferred(addresses: Sequence[Mapping[str, Any]], kind: str) -> str:
    chosen = next((entry for entry in addresses if entry.get(kind)), None)
    chosen = chosen or _choose(addresses, [], _CHOSEN[kind])
    return str(chosen["value"]) if chosen else ""


def addresses_hash(machine: Machine, bindings: Mapping[str, str]) -> str:
    """Return a hash of a machine's addresses and bindings; a unit runs config-changed after a change."""
    addresses = sorted(
        (item["value"], item["scope"], *([item["space"]] if "space" in item else []))
        for item in machine.addresses
    )
    text = json.dumps([addresses, sorted(bindings.items())])
    return digest(text)


def network_info(machine: Machine, egress: Iterable[str] = (), space: str = ALPHA_ID) -> dict[str, object]:
    """Return network-get's answer for a binding; empty when the machine has no address in the space.

    The answer for alpha also has the machine's private address when that address is in another space.

    Args:
        egress: Subnets of the relation or the model; when empty, the answer has the first address as subnet.
        space: The id of the space that the endpoint is bound to.
    """
    private = private_address(machine) if space == ALPHA_ID else ""
    inside = [
        item for item in machine.addresses if item.get("space", ALPHA_ID) == space or item["value"] == private
    ]
    devices = _devices(inside)
    ingress = [item["value"] for item in inside]
    if not devices and private:
        ingress = [private]
        entry = {"hostname": "", "value": private, "cidr": ""}
        devices = [{"mac-address": "", "interface-name": "", "addresses": [entry]}]
    if not devices:
        return {}
    return {
        "bind-addresses": devices,
        "egress-subnets": list(egress) or [single_subnet(value) for value in ingress[:1]],
        "ingress-addresses": ingress,
    }


def _devices(addresses: Iterable[Mapping[str, Any]]) -> list[dict[str, object]]:
    """Return network devices with their addresses, as network-get shows them."""
    devices: dict[str, dict[str, Any]] = {}
    for item in addresses:
        device = devices.setdefault(
            item["nic"], {"mac-address": item["mac"], "interface-name": item["nic"], "addresses": []}
        )
        device["addresses"].append({"hostname": "", "value": item["value"], "cidr": item["cidr"]})
    return list(devices.values())


def single_subnet(value: str) -> str:
    """Return an address as a subnet of one address; a host name is returned as it is."""
    try:
        return f"{value}/{ipaddress.ip_address(value).max_prefixlen}"
    except ValueError:
        return value


def relation_settings(info: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings that a unit gets when it enters a relation, made from network-get's answer."""
    if not info:
        return {}
    first = info["ingress-addresses"][0]
    return {
        "egress-subnets": ",".join(info["egress-subnets"]),
        "ingress-address": first,
        "private-address": first,
    }


def between_models(info: Mapping[str, Any], public: str, egress: Iterable[str] = ()) -> dict[str, object]:
    """Return network-get's answer for a relation to another model, whose ingress is the public address.

    Args:
        public: The unit's public address; empty when it is unknown.
        egress: Subnets of the relation or the model; when empty, the public address is the subnet.

    Mirrors: juju apiserver/facades/agent/uniter/networkinfobase.go (3.6)
    """
    ingress = [public] if public else list(info.get("ingress-addresses", ()))
    subnets = list(egress) or [single_subnet(value) for value in ingress[:1]]
    return {**info, "egress-subnets": subnets, "ingress-addresses": ingress}


def check_egress(text: str) -> None:
    """Raise NotValid when a text is not a list of subnets with commas."""
    for cidr in (part.strip() for part in text.split(",")):
        if not cidr:
            continue
        try:
            found = firewall.parse_cidr(cidr)
        except NotValid as error:
            raise NotValid(f"invalid egress subnet: {cidr}: {error.message}") from None
        if found.endswith("/0"):
            raise NotValid(f'CIDR "{cidr}" not allowed')


def check_fan(text: str) -> None:
    """Raise NotValid when a text is no list of `underlay=overlay` with blanks; the messages are Juju's.

    Mirrors: juju network/fan.go (3.6)
    """
    for entry in text.split(" ") if text else ():
        cidrs = entry.split("=")
        if len(cidrs) != 2:
            raise NotValid(f"invalid FAN config entry: {entry}")
        try:
            under, over = (int(firewall.parse_cidr(cidr.strip()).partition("/")[2]) for cidr in cidrs)
        except NotValid as error:
            raise NotValid(f"invalid address in FAN config: {error.message}") from None
        if under <= over:
            raise NotValid(f"invalid FAN config, underlay mask must be larger than overlay: {entry}")
