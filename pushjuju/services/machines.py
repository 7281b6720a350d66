"""Machines: adding, removing, what they are. Layer: services. Mirrors: juju state/machine.go (3.6)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pushjuju.core.base import Base
from pushjuju.core.clock import to_iso
from pushjuju.core.errors import NotValid, UsageError
from pushjuju.core.ids import new_uuid
from pushjuju.core.life import Life
from pushjuju.core.names import is_machine
from pushjuju.core.natural import natural_key
from pushjuju.core.placement import Placement, PlacementKind
from pushjuju.core.status import InstanceStatus, MachineStatus, StatusKind
from pushjuju.services import constraints as of_machines
from pushjuju.services import models, ssh_keys, statuses, touch
from pushjuju.services.context import Context
from pushjuju.state.records import Machine, Unit
from pushjuju.state.store import Tx

MACHINE_KINDS = (StatusKind.MACHINE, StatusKind.INSTANCE)


def new_machine(
    tx: Tx, model: str, *, base: Base, constraints: Mapping[str, Any], placement: str = "", now: datetime
) -> Machine:
    """Record a machine that is to be started."""
    machine = Machine(
        model=model, id=str(tx.next(model, "machine")), life=Life.ALIVE, base=str(base),
        constraints=dict(constraints), placement=placement, nonce=new_uuid(), created=to_iso(now),
        keys_due=int(ssh_keys.ever(tx, model)),
    )  # fmt: skip
    tx.insert("machine", machine)
    statuses.set_status(tx, model, StatusKind.MACHINE, machine.id, MachineStatus.PENDING, now=now)
    statuses.set_status(tx, model, StatusKind.INSTANCE, machine.id, InstanceStatus.PENDING, now=now)
    touch.machine(tx, model, machine.id, now, "new machine")
    return machine


def add_machine(
    ctx: Context, model: str, *, base: Base, constraints: Mapping[str, Any], placement: str = ""
) -> Machine:
    """Add a machine without a unit; a provider makes it.

    Raises:
        NotValid: The model dies, or the placement makes no sense here.
    """
    with ctx.store.write() as tx:
        models.require_alive(tx, model)
        return new_machine(
            tx,
            model,
            base=base,
            constraints=of_machines.for_machine(tx, model, constraints),
            placement=placement,
            now=ctx.clock.now(),
        )


def check_placement(text: str) -> Placement | None:
    """Read the argument of add-machine.

    Raises:
        UsageError: Not a directive that add-machine takes; the message is Juju's.
    """
    if not text:
        return None
    try:
        placement = Placement.parse(text)
    except NotValid as error:
        raise UsageError(error.message) from error
    if placement.kind is PlacementKind.MACHINE:
        raise NotValid("machine-id cannot be specified when adding machines")
    return placement


def get(tx: Tx, model: str, machine_id: str) -> Machine:
    """Return a machine.

    Raises:
        NotFound: There is no such machine.
    """
    return tx.get(Machine, "machine_get", f"machine {machine_id} not found", model=model, id=machine_id)


def list_machines(tx: Tx, model: str) -> list[Machine]:
    """Return the machines of a model in natural order."""
    found = tx.list(Machine, "machine_list", model=model)
    return sorted(found, key=lambda machine: natural_key(machine.id))


def units_on(tx: Tx, model: str, machine_id: str) -> list[Unit]:
    """Return the units of a machine, subordinates included."""
    return tx.list(Unit, "unit_on_machine", model=model, machine=machine_id)


def require_id(text: str) -> str:
    """Return a machine id that a person typed.

    Raises:
        UsageError: It is none; the message is Juju's.
    """
    if not is_machine(text):
        raise UsageError(f'invalid machine id "{text}"')
    return text


def not_started(tx: Tx, model: str) -> list[str]:
    """Return the machines whose start was given up."""
    waiting = (item for item in list_machines(tx, model) if not item.instance_id)
    return [
        item.id
        for item in waiting
        if (shown := statuses.get_status(tx, model, StatusKind.INSTANCE, item.id))
        and shown.status == InstanceStatus.PROVISIONING_ERROR
    ]


def retry_refused(tx: Tx, model: str, now: datetime) -> list[str]:
    """Let machines be tried anew that the cloud refused because of the credential; return them."""
    found = []
    for name in not_started(tx, model):
        shown = statuses.get_status(tx, model, StatusKind.INSTANCE, name)
        if shown and shown.data.get("code") == "credential-invalid":
            retry_provisioning(tx, model, name, now)
            found.append(name)
    return found


def retry_provisioning(tx: Tx, model: str, machine_id: str, now: datetime) -> None:
    """Let a machine whose start failed be tried anew.

    Raises:
        NotFound: There is no such machine.
        NotValid: The machine was started; the message is Juju's.
    """
    if get(tx, model, machine_id).instance_id:
        shown = statuses.get_status(tx, model, StatusKind.INSTANCE, machine_id)
        state = shown.status if shown else InstanceStatus.UNKNOWN
        raise NotValid(f"machine {machine_id} is not in an error state ({state})")
    tx.run("machine_set_attempts", model=model, id=machine_id, attempts=0)
    statuses.set_status(
        tx,
        model,
        StatusKind.INSTANCE,
        machine_id,
        InstanceStatus.ALLOCATING,
        now=now,
        data={"transient": True},
    )
    touch.machine(tx, model, machine_id, now, "retry provisioning")
