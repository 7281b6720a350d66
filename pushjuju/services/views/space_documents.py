"""The documents of `spaces`, `show-space` and `subnets`, as plain data.

Keys and order are those of Juju's JSON. Mirrors: juju cmd/juju/space, cmd/juju/subnet (3.6)
"""

from __future__ import annotations

from typing import Any

from pushjuju.portable.gotypes import Struct
from pushjuju.services.entities.application import bindings
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import spaces
from pushjuju.services.entities.machine.machines import list_machines


def show(ctx: Context, model: str, name: str) -> Struct:
    """Return the document of `show-space`."""
    with ctx.read(model) as tx:
        space = spaces.require(tx, name)
        inside = [subnet for subnet in spaces.subnets(tx) if subnet.space == space]
        machines = [item for item in list_machines(tx) if space in spaces.machine_spaces(item)]
        bound = bindings.bound_to(tx, space)
    listed = [Struct([("cidr", subnet.cidr), ("vlan-tag", 0)]) for subnet in inside]
    described = Struct([("id", space), ("name", name), ("subnets", listed)])
    return Struct([("space", described), ("applications", bound), ("machine-count", len(machines))])


def listing(ctx: Context, model: str) -> list[Struct]:
    """Return the list of `spaces`: each space with its subnets."""
    with ctx.read(model) as tx:
        called, every = spaces.names(tx), spaces.subnets(tx)
    found = []
    for number, name in called.items():
        inside = {item.cidr: _subnet(item.cidr) for item in every if item.space == number}
        found.append(Struct([("id", number), ("name", name), ("subnets", inside)]))
    return found


def _subnet(cidr: str, *, space: str = "") -> Struct:
    found: list[tuple[str, Any]] = [("type", "ipv6" if ":" in cidr else "ipv4"), ("status", "in-use")]
    if space:
        found.append(("space", space))
    return Struct([*found, ("zones", [])])


def subnets(ctx: Context, model: str, *, space: str = "") -> dict[str, Struct]:
    """Return the document of `subnets`: CIDR -> subnet, for one space or for all."""
    with ctx.read(model) as tx:
        wanted = spaces.require(tx, space) if space else ""
        called, every = spaces.names(tx), spaces.subnets(tx)
    return {
        item.cidr: _subnet(item.cidr, space=called[item.space])
        for item in every
        if wanted in ("", item.space)
    }
