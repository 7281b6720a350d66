"""Network spaces, and the subnets that machines have addresses in.

Space alpha is always there; it holds every subnet that was not moved elsewhere. Machines keep the spaces of
their addresses with these, so that nothing of it has to be looked up for a hook.

Mirrors: juju apiserver/facades/client/spaces, state/spaces.go (3.6)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pushjuju.core import limits
from pushjuju.core.errors import AlreadyExists, NotFound, NotValid, not_found
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis import network, wake
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine.machines import list_machines
from pushjuju.services.entities.model import firewall, model_config
from pushjuju.store.rows.records import Application, ExposedEndpoint, Machine, Space, Subnet
from pushjuju.store.tx import Tx

ALPHA = network.ALPHA
ALPHA_ID = network.ALPHA_ID


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A subnet that changed its space."""

    cidr: str
    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Uses:
    """The entities that name a space."""

    constraints: list[str] = field(default_factory=list)
    bindings: list[str] = field(default_factory=list)

    def lines(self, name: str) -> list[str]:
        """Return them in Juju's words."""
        found = []
        if self.constraints:
            found.append(f"- {quote(name)} is used as a constraint on: {', '.join(self.constraints)}")
        if self.bindings:
            found.append(f"- {quote(name)} is used as a binding on: {', '.join(self.bindings)}")
        return found


# --- reading ----------------------------------------------------------------------------------------------


def names(tx: Tx, model: str) -> dict[str, str]:
    """Return id -> name of every space, alpha first, in the order in which they were made."""
    found = tx.list(Space, "space_list", model=model)
    return {ALPHA_ID: ALPHA, **{space.id: space.name for space in sorted(found, key=lambda it: int(it.id))}}


def require(tx: Tx, model: str, name: str) -> str:
    """Return the id of a space."""
    found = next((number for number, other in names(tx, model).items() if other == name), None)
    if found is None:
        raise not_found("space", name)
    return found


def subnets(tx: Tx, model: str) -> list[Subnet]:
    """Return all subnets that are known."""
    return tx.list(Subnet, "subnet_list", model=model)


def default_space(tx: Tx, model: str) -> str:
    """Return the id of the space that endpoints are bound to by default."""
    name = str(model_config.get(tx, model, "default-space") or "")
    return require(tx, model, name) if name else ALPHA_ID


def check_default(tx: Tx, model: str, config: Mapping[str, Any]) -> None:
    """Refuse a change of the model's configuration that names a default space which is not there.

    Mirrors: juju apiserver/facades/client/modelconfig (3.6)
    """
    name = str(config.get("default-space") or "")
    if name:
        require(tx, model, name)


def uses(tx: Tx, model: str, space: str) -> Uses:
    """Return the applications that name a space."""
    name = names(tx, model)[space]
    every = tx.list(Application, "application_list", model=model)
    constrained = [app.name for app in every if _names_it(app.constraints, name)]
    rows = tx.rows("binding_list_all", model=model)
    return Uses(
        constraints=constrained,
        bindings=sorted({row["application"] for row in rows if row["space"] == space}),
    )


def _names_it(constraints: Mapping[str, Any], name: str) -> bool:
    return any(word.removeprefix("^") == name for word in constraints.get("spaces") or ())


# --- what machines report ---------------------------------------------------------------------------------


def note_addresses(tx: Tx, machine: Machine, addresses: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Take in what a machine says of its addresses: new subnets are known from now on, up to a limit.

    Returns:
        The addresses as the model keeps them.
    """
    known = {subnet.cidr: subnet.space for subnet in subnets(tx, machine.model)}
    told = [cidr for cidr in {entry["cidr"] for entry in addresses} - known.keys() if network.is_subnet(cidr)]
    for cidr in sorted(told)[: max(limits.SUBNETS - len(known), 0)]:
        tx.run("subnet_add", model=machine.model, cidr=cidr)
    return network.noted(addresses, machine.addresses, _outside(known))


def _outside(known: Mapping[str, str]) -> dict[str, str]:
    return {cidr: space for cidr, space in known.items() if space != ALPHA_ID}


def _sort_again(tx: Tx, model: str, now: datetime, reason: str) -> None:
    """Put the addresses of all machines into their spaces; where one changes, units look again."""
    outside = _outside({subnet.cidr: subnet.space for subnet in subnets(tx, model)})
    for machine in list_machines(tx, model):
        new = network.noted(machine.addresses, machine.addresses, outside)
        if new != machine.addresses:
            tx.run("machine_set_addresses", model=model, id=machine.id, addresses=json.dumps(new))
            wake.machine(tx, model, machine.id, now, reason)
    firewall.changed_everywhere(tx, model, now, reason)


# --- changing ---------------------------------------------------------------------------------------------


def add(ctx: Context, model: str, name: str, cidrs: Sequence[str]) -> None:
    """Make a space of subnets that are known."""
    with ctx.store.write() as tx:
        if name in names(tx, model).values():
            raise AlreadyExists(f"space {quote(name)} already exists")
        known = {subnet.cidr: subnet.space for subnet in subnets(tx, model)}
        for cidr in cidrs:
            if cidr not in known:
                raise NotFound(f"subnet {quote(cidr)} not found", hint="pushjuju subnets")
        number = str(tx.next(model, "space", 1))
        tx.insert("space", Space(model=model, id=number, name=name))
        _move(tx, model, number, cidrs, ctx.clock.now(), force=False)


def move(ctx: Context, model: str, name: str, cidrs: Sequence[str], *, force: bool) -> list[Moved]:
    """Move subnets to a space."""
    with ctx.store.write() as tx:
        space = require(tx, model, name)
        known = {subnet.cidr: subnet.space for subnet in subnets(tx, model)}
        if missing := [cidr for cidr in cidrs if cidr not in known]:
            raise NotFound(f"subnet {quote(missing[0])} not found")
        called = names(tx, model)
        _move(tx, model, space, cidrs, ctx.clock.now(), force=force)
        return [Moved(cidr=cidr, old=called[known[cidr]], new=name) for cidr in cidrs]


def _move(tx: Tx, model: str, space: str, cidrs: Iterable[str], now: datetime, *, force: bool) -> None:
    before = {machine.id: machine_spaces(machine) for machine in list_machines(tx, model)}
    for cidr in cidrs:
        tx.run("subnet_move", model=model, cidr=cidr, space=space)
    _sort_again(tx, model, now, "subnets moved")
    if not force:
        _check_bindings(tx, model, before, names(tx, model)[space])


def machine_spaces(machine: Machine) -> set[str]:
    """Return the ids of the spaces that a machine has addresses in."""
    return {str(entry.get("space", ALPHA_ID)) for entry in machine.addresses}


def _check_bindings(tx: Tx, model: str, before: Mapping[str, set[str]], target: str) -> None:
    """Refuse to take a space away from units whose application is bound to it."""
    called = names(tx, model)
    lost = {machine.id: before[machine.id] - machine_spaces(machine) for machine in list_machines(tx, model)}
    for row in tx.rows("binding_list_all", model=model):
        if row["space"] == ALPHA_ID:
            continue
        units = tx.rows("unit_of_application", model=model, application=row["application"])
        cut_off = [unit["name"] for unit in units if row["space"] in lost.get(unit["machine"] or "", ())]
        if cut_off:
            endpoint = f"{row['endpoint']}:{called[row['space']]}"
            raise NotValid(
                f"moving subnet(s) to space {quote(target)} violates endpoint binding {endpoint} for "
                f"application {quote(row['application'])}\n\tunits not connected to the space: "
                f"{', '.join(cut_off)}"
            )


def rename(ctx: Context, model: str, old: str, new: str) -> None:
    """Give a space another name; constraints follow."""
    with ctx.store.write() as tx:
        if old == ALPHA:
            raise NotValid(f"the {quote(ALPHA)} space cannot be renamed")
        if new in names(tx, model).values():
            raise AlreadyExists(f"space {quote(new)} already exists")
        tx.run("space_rename", model=model, id=require(tx, model, old), name=new)
        _change_constraints(tx, model, old, new)
        _rename_exposures(tx, model, old, new)
        if model_config.get(tx, model, "default-space") == old:
            model_config.change(tx, model, {"default-space": new})


def _change_constraints(tx: Tx, model: str, old: str, new: str) -> None:
    """Replace a space in the constraints of applications; an empty name takes it out."""
    for app in tx.list(Application, "application_list", model=model):
        if _names_it(app.constraints, old):
            words = [
                word.replace(old, new) if word.removeprefix("^") == old else word
                for word in app.constraints["spaces"]
            ]
            kept = [word for word in words if word.removeprefix("^")]
            constraints = {**app.constraints, "spaces": kept}
            tx.run(
                "application_set_constraints", model=model, name=app.name, constraints=json.dumps(constraints)
            )


def _rename_exposures(tx: Tx, model: str, old: str, new: str) -> None:
    for row in tx.list(ExposedEndpoint, "exposure_of_model", model=model):
        if old in row.spaces:
            names_ = sorted(new if name == old else name for name in row.spaces)
            tx.run(
                "exposure_set_spaces", model=model, application=row.application, endpoint=row.endpoint,
                spaces=json.dumps(names_),
            )  # fmt: skip


def remove(ctx: Context, model: str, name: str, *, force: bool) -> Uses:
    """Remove a space; its subnets go to alpha, and so do bindings when it is forced.

    Returns:
        What names the space: when anything does and the removal is not forced, nothing is changed.
    """
    now = ctx.clock.now()
    with ctx.store.write() as tx:
        space = require_removable(tx, model, name)
        found = uses(tx, model, space)
        if (found.constraints or found.bindings) and not force:
            return found
        tx.run("subnet_leave", model=model, space=space)
        tx.run("binding_leave", model=model, space=space)
        tx.run("space_delete", model=model, id=space)
        _change_constraints(tx, model, name, "")
        _sort_again(tx, model, now, "space removed")
        for application in found.bindings:
            wake.application(tx, model, application, now, "space removed")
        return Uses()


def plan_removal(ctx: Context, model: str, name: str) -> Uses:
    """Return what names a space that may be removed."""
    with ctx.store.read() as tx:
        return uses(tx, model, require_removable(tx, model, name))


def require_removable(tx: Tx, model: str, name: str) -> str:
    """Return the id of a space that may be removed."""
    if name == ALPHA:
        raise NotValid(f"the {quote(ALPHA)} space cannot be removed")
    if model_config.get(tx, model, "default-space") == name:
        raise NotValid(f"space {quote(name)} is the default-space of the model")
    return require(tx, model, name)


def reload(ctx: Context, model: str) -> list[str]:
    """Let every machine be asked for its addresses again, and forget subnets of alpha that none has.

    Returns:
        The applications with units, whose workers look again.
    """
    now = ctx.clock.now()
    with ctx.store.write() as tx:
        machines = list_machines(tx, model)
        present = {entry["cidr"] for machine in machines for entry in machine.addresses}
        for subnet in subnets(tx, model):
            if subnet.space == ALPHA_ID and subnet.cidr not in present:
                tx.run("subnet_delete", model=model, cidr=subnet.cidr)
        for machine in machines:
            tx.run("machine_see_again", model=model, id=machine.id)
            wake.machine(tx, model, machine.id, now, "spaces reloaded")
        return sorted(app.name for app in tx.list(Application, "application_list", model=model))
