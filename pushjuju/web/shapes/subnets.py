"""Subnets on the wire; the id of a subnet is its CIDR."""

from __future__ import annotations


def cidr_of(text: str) -> str:
    """Return the CIDR of a subnet that a client names by its tag or its CIDR."""
    return text.removeprefix("subnet-")


def subnet(cidr: str, space: str) -> dict[str, object]:
    """Return a subnet."""
    return {"cidr": cidr, "vlan-tag": 0, "life": "alive", "space-tag": f"space-{space}", "zones": []}
