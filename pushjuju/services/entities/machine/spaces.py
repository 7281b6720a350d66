"""Network spaces, and the subnets of the addresses that machines have.

Space alpha always exists; it has every subnet that was not moved to another space. The rows of machines keep
the space of each address, so that a hook needs no lookup.

Mirrors: juju apiserver/facades/client/spaces, state/spaces.go (3.6)
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from pushjuju.core import limits
from pushjuju.core.errors import NotValid, not_found
from pushjuju.core.values import dataclass
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis import network, wake
from pushjuju.services.entities.machine.machines import list_machines
from pushjuju.services.entities.model import firewall, model_config
from pushjuju.store.rows.records import Application, Machine, Space, Subnet
from pushjuju.store.tx import ModelTx

ALPHA = network.ALPHA
ALPHA_ID = network.ALPHA_ID


@dataclass(frozen=True, slots=True, kw_only=True)
class Uses:
    """The entities whose constraints or bindings name a space."""

    constraints: list[str] = field(default_factory=list)
    bindings: list[str] = field(default_factory=list)

    def lines(self, name: str) -> list[str]:
        """Return lines about the entities that use the space, in Juju's words."""
        found = []
        if self.constraints:
            found.append(f"- {quote(name)} is used as a constraint on: {', '.join(self.constraints)}")
        if self.bindings:
            found.append(f"- {quote(name)} is used as a binding on: {', '.join(self.bindings)}")
        return found


# --- reading ----------------------------------------------------------------------------------------------


def names(tx: ModelTx) -> dict[str, str]:
    """Return id -> name of every space: alpha, then the others in the order in which they were added."""
    found = tx.list(Space, "space_list")
    return {ALPHA_ID: ALPHA, **{space.id: space.name for space in sorted(found, key=lambda it: int(it.id))}}


def require(tx: ModelTx, name: str) -> str:
    """Return the id of a space, or raise NotFound."""
    found = next((number for number, other in names(tx).items() if other == name), None)
    if found is None:
        raise not_found("space", name)
    return found


def subnets(tx: ModelTx) -> list[Subnet]:
    """Return all subnets that machines have reported or users have named."""
    return tx.list(Subnet, "subnet_list")


def default_space(tx: ModelTx) -> str:
    """Return the id of the space that endpoints are bound to by default, as `default-space` names it."""
    name = str(model_config.get(tx, "default-space") or "")
    return require(tx, name) if name else ALPHA_ID


def check_default(tx: ModelTx, config: Mapping[str, Any]) -> None:
    """Raise NotFound when a new model configuration names a default space that does not exist.

    Mirrors: juju apiserver/facades/client/modelconfig (3.6)
    """
    name = str(config.get("default-space") or "")
    if name:
        require(tx, name)


def uses(tx: ModelTx, space: str) -> Uses:
    """Return the applications whose constraints or bindings name a space."""
    name = names(tx)[space]
    every = tx.list(Application, "application_list")
    constrained = [app.name for app in every if names_space(app.constraints, name)]
    rows = tx.rows("binding_list_all")
    return Uses(
        constraints=constrained,
        bindings=sorted({row["application"] for row in rows if row["space"] == space}),
    )


def names_space(constraints: Mapping[str, Any], name: str) -> bool:
    return any(word.removeprefix("^") == name for word in constraints.get("spaces") or ())


# --- what machines report ---------------------------------------------------------------------------------


def note_addresses(
    tx: ModelTx, machine: Machine, addresses: Sequence[Mapping[str, Any]]
) -> list[dict[str, object]]:
    """Record new subnets from the addresses that a machine reported, up to a limit.

    Returns:
        The addresses with their spaces, as the model keeps them.
    """
    known = {subnet.cidr: subnet.space for subnet in subnets(tx)}
    told = [cidr for cidr in {entry["cidr"] for entry in addresses} - known.keys() if network.is_subnet(cidr)]
    for cidr in sorted(told)[: max(limits.SUBNETS - len(known), 0)]:
        tx.run("subnet_add", cidr=cidr)
    return network.noted(addresses, machine.addresses, _outside(known))


def _outside(known: Mapping[str, str]) -> dict[str, str]:
    return {cidr: space for cidr, space in known.items() if space != ALPHA_ID}


def sort_again(tx: ModelTx, reason: str) -> None:
    """Update the spaces of all machines' addresses, and wake the machines whose addresses have changed."""
    outside = _outside({subnet.cidr: subnet.space for subnet in subnets(tx)})
    for machine in list_machines(tx):
        new = network.noted(machine.addresses, machine.addresses, outside)
        if new != machine.addresses:
            tx.run("machine_set_addresses", id=machine.id, addresses=json.dumps(new))
            wake.machine(tx, machine.id, reason)
    firewall.changed_everywhere(tx, reason)


# --- spaces of machines -----------------------------------------------------------------------------------


def machine_spaces(machine: Machine) -> set[str]:
    """Return the ids of the spaces that a machine has addresses in."""
    return {str(entry.get("space", ALPHA_ID)) for entry in machine.addresses}


def require_removable(tx: ModelTx, name: str) -> str:
    """Return the id of a space, or raise NotValid when the space may not be removed."""
    if name == ALPHA:
        raise NotValid(f"the {quote(ALPHA)} space cannot be removed")
    if model_config.get(tx, "default-space") == name:
        raise NotValid(f"space {quote(name)} is the default-space of the model")
    return require(tx, name)
