"""The requests of add-space, move-to-space, rename-space, remove-space and reload-spaces.

Mirrors: juju apiserver/facades/client/spaces (3.6)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from pushjuju.core.errors import AlreadyExists, NotFound, NotValid
from pushjuju.core.names import is_space
from pushjuju.core.values import dataclass
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis import wake
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import spaces
from pushjuju.services.entities.machine.machines import list_machines
from pushjuju.services.entities.machine.spaces import ALPHA, ALPHA_ID, Uses
from pushjuju.services.entities.model import model_config
from pushjuju.store.rows.records import Application, ExposedEndpoint, Space
from pushjuju.store.tx import ModelTx


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A subnet that was moved, with the names of its old and new space."""

    cidr: str
    old: str
    new: str


def add(ctx: Context, model: str, name: str, cidrs: Sequence[str]) -> None:
    """Add a space, and move known subnets into it."""
    _require_name(name)
    with ctx.change(model) as tx:
        if name in spaces.names(tx).values():
            raise AlreadyExists(f"space {quote(name)} already exists")
        known = {subnet.cidr: subnet.space for subnet in spaces.subnets(tx)}
        for cidr in cidrs:
            if cidr not in known:
                raise NotFound(f"subnet {quote(cidr)} not found", hint="pushjuju subnets")
        number = str(tx.next(model, "space", 1))
        tx.insert("space", Space(model=model, id=number, name=name))
        _move(tx, number, cidrs, force=False)


def _require_name(name: str) -> None:
    if not is_space(name):
        raise NotValid(f"{quote(name)} is not a valid space name")


def move(ctx: Context, model: str, name: str, cidrs: Sequence[str], *, force: bool) -> list[Moved]:
    """Move subnets to a space; return the moves."""
    with ctx.change(model) as tx:
        space = spaces.require(tx, name)
        known = {subnet.cidr: subnet.space for subnet in spaces.subnets(tx)}
        if missing := [cidr for cidr in cidrs if cidr not in known]:
            raise NotFound(f"subnet {quote(missing[0])} not found")
        called = spaces.names(tx)
        _move(tx, space, cidrs, force=force)
        return [Moved(cidr=cidr, old=called[known[cidr]], new=name) for cidr in cidrs]


def _move(tx: ModelTx, space: str, cidrs: Iterable[str], *, force: bool) -> None:
    before = {machine.id: spaces.machine_spaces(machine) for machine in list_machines(tx)}
    for cidr in cidrs:
        tx.run("subnet_move", cidr=cidr, space=space)
    spaces.sort_again(tx, "subnets moved")
    if not force:
        _check_bindings(tx, before, spaces.names(tx)[space])


def _check_bindings(tx: ModelTx, before: Mapping[str, set[str]], target: str) -> None:
    """Refuse a move that leaves units without an address in a space their application is bound to."""
    called = spaces.names(tx)
    lost = {machine.id: before[machine.id] - spaces.machine_spaces(machine) for machine in list_machines(tx)}
    for row in tx.rows("binding_list_all"):
        if row["space"] == ALPHA_ID:
            continue
        units = tx.rows("unit_of_application", application=row["application"])
        cut_off = [unit["name"] for unit in units if row["space"] in lost.get(unit["machine"] or "", ())]
        if cut_off:
            endpoint = f"{row['endpoint']}:{called[row['space']]}"
            raise NotValid(
                f"moving subnet(s) to space {quote(target)} violates endpoint binding {endpoint} for "
                f"application {quote(row['application'])}\n\tunits not connected to the space: "
                f"{', '.join(cut_off)}"
            )


def rename(ctx: Context, model: str, old: str, new: str) -> None:
    """Rename a space, also in constraints, exposures and the model's `default-space`."""
    _require_name(new)
    with ctx.change(model) as tx:
        if old == ALPHA:
            raise NotValid(f"the {quote(ALPHA)} space cannot be renamed")
        if new in spaces.names(tx).values():
            raise AlreadyExists(f"space {quote(new)} already exists")
        tx.run("space_rename", id=spaces.require(tx, old), name=new)
        _change_constraints(tx, old, new)
        _rename_exposures(tx, old, new)
        if model_config.get(tx, "default-space") == old:
            model_config.change(tx, {"default-space": new})


def _change_constraints(tx: ModelTx, old: str, new: str) -> None:
    """Replace the name of a space in the constraints of applications; an empty name removes the space."""
    for app in tx.list(Application, "application_list"):
        if spaces.names_space(app.constraints, old):
            words = [
                word.replace(old, new) if word.removeprefix("^") == old else word
                for word in app.constraints["spaces"]
            ]
            kept = [word for word in words if word.removeprefix("^")]
            constraints = {**app.constraints, "spaces": kept}
            tx.run("application_set_constraints", name=app.name, constraints=json.dumps(constraints))


def _rename_exposures(tx: ModelTx, old: str, new: str) -> None:
    for row in tx.list(ExposedEndpoint, "exposure_of_model"):
        if old in row.spaces:
            names_ = sorted(new if name == old else name for name in row.spaces)
            tx.run(
                "exposure_set_spaces", application=row.application, endpoint=row.endpoint,
                spaces=json.dumps(names_)
            )  # fmt: skip


def remove(ctx: Context, model: str, name: str, *, force: bool) -> Uses:
    """Remove a space; its subnets move to alpha, and with `force` its bindings do too.

    Returns:
        The applications that prevent the removal without `force`; empty after a removal.
    """
    with ctx.change(model) as tx:
        space = spaces.require_removable(tx, name)
        found = spaces.uses(tx, space)
        if (found.constraints or found.bindings) and not force:
            return found
        tx.run("subnet_leave", space=space)
        tx.run("binding_leave", space=space)
        tx.run("space_delete", id=space)
        _change_constraints(tx, name, "")
        spaces.sort_again(tx, "space removed")
        for application in found.bindings:
            wake.application(tx, application, "space removed")
        return Uses()


def plan_removal(ctx: Context, model: str, name: str) -> Uses:
    """Return the applications that use a space, or raise when the space may not be removed."""
    with ctx.read(model) as tx:
        return spaces.uses(tx, spaces.require_removable(tx, name))


def reload(ctx: Context, model: str) -> list[str]:
    """Make every machine report its addresses again, and delete unused subnets of alpha.

    Returns:
        The names of all applications, whose machines are woken.
    """
    with ctx.change(model) as tx:
        machines = list_machines(tx)
        present = {entry["cidr"] for machine in machines for entry in machine.addresses}
        for subnet in spaces.subnets(tx):
            if subnet.space == ALPHA_ID and subnet.cidr not in present:
                tx.run("subnet_delete", cidr=subnet.cidr)
        for machine in machines:
            tx.run("machine_see_again", id=machine.id)
            wake.machine(tx, machine.id, "spaces reloaded")
        return sorted(app.name for app in tx.list(Application, "application_list"))
