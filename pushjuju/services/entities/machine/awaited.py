"""Machines that are there already and that a client of the API has named: their proof, and what is allowed.

The controller believes nothing about such a machine before the machine has shown the proof that the
provisioning script leaves there. So a client can add only machines on which it is root.
"""

from __future__ import annotations

import ipaddress

from pushjuju.core.errors import NotPermitted
from pushjuju.core.holding import owner_line
from pushjuju.core.ids import digest
from pushjuju.services.entities.basis.context import Context
from pushjuju.store.rows.records import Machine
from pushjuju.store.tx import ModelTx

PROVIDER = "manual"
PLACE = "ssh:"
MOST = 50  # machines of a model that may wait at once
TRIES = 80
_QUICK = 10  # the first tries, which follow each other at short intervals
_QUICK_S, _SLOW_S = 2.0, 8.0
_THIS_NETWORK = ipaddress.ip_network("0.0.0.0/8")


def is_awaited(machine: Machine) -> bool:
    """Return True for a machine that a client has named, and that has not shown its proof yet."""
    return machine.provider == PROVIDER and not machine.instance_id


def host_of(machine: Machine) -> str:
    """Return the name or IP address by which a client has named a machine."""
    return machine.placement.removeprefix(PLACE)


def count(tx: ModelTx) -> int:
    """Return the number of machines of a model that are awaited."""
    return sum(is_awaited(machine) for machine in tx.list(Machine, "machine_list"))


def owner_of(ctx: Context, machine: Machine) -> str:
    """Return the line that marks a machine as held by this controller and model."""
    return owner_line(str(ctx.controller.settings().get("uuid", "")), machine.model, machine.id)


def proof_of(ctx: Context, machine: Machine) -> str:
    """Return the secret text by which a machine proves that the provisioning script has run there."""
    return digest(f"{owner_of(ctx, machine)} {machine.nonce}")


def pause(attempts: int) -> float:
    """Return the seconds between two tries to reach a machine."""
    return _QUICK_S if attempts < _QUICK else _SLOW_S


def require_allowed(address: str, host: str) -> None:
    """Check an IP address to which a client of the API sends the controller.

    Private networks are allowed, since most machines are there.

    Args:
        host: What the client has named: the address itself, or a name that leads to it.

    Raises:
        NotPermitted: The address leads to the controller's own host, to its link (as the metadata services of
            clouds do), or to no single host.
    """
    found = ipaddress.ip_address(address.partition("%")[0])
    found = getattr(found, "ipv4_mapped", None) or found
    nowhere = (found.is_unspecified, found.is_multicast, found.is_reserved, found in _THIS_NETWORK)
    if found.is_loopback or found.is_link_local or any(nowhere):
        raise NotPermitted(
            f"{host} cannot be added over the API: it is no address of a host in a network",
            hint="On the host of the controller: pushjuju add-machine ssh:...",
        )
