"""Subnets on the wire. The id of a subnet is a number, as in Juju, and is made from the CIDR."""

from __future__ import annotations

import ipaddress

_PREFIX = "subnet-"
_LENGTHS = 256  # one byte of the number is the length of the prefix
_IPV6 = 64  # added to the lengths of IPv6 prefixes, so that they differ from those of IPv4


def cidr_of(text: str) -> str:
    """Return the CIDR of a subnet that a client names by its tag, its CIDR, or a tag with the CIDR."""
    name = text.removeprefix(_PREFIX)
    if not name.isdecimal():
        return name
    address, length = divmod(int(name), _LENGTHS)
    try:
        if length < _IPV6:
            return str(ipaddress.IPv4Network((address, length)))
        return str(ipaddress.IPv6Network((address, length - _IPV6)))
    except ValueError:
        return name


def id_of(cidr: str) -> str:
    """Return the number of a subnet; the same CIDR has the same number in all models."""
    network = ipaddress.ip_network(cidr)
    length = network.prefixlen + (_IPV6 if network.version == 6 else 0)
    return str(int(network.network_address) * _LENGTHS + length)


def tag_of(cidr: str) -> str:
    """Return the tag of a subnet."""
    return _PREFIX + id_of(cidr)


def subnet(cidr: str, space: str) -> dict[str, object]:
    """Return a subnet."""
    return {"cidr": cidr, "vlan-tag": 0, "life": "alive", "space-tag": f"space-{space}", "zones": []}
