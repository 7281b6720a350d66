"""Adds and reads machines, and retries their start. Mirrors: juju state/machine.go (3.6)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pushjuju.core import constraints as rules
from pushjuju.core.base import Base
from pushjuju.core.errors import NotValid, UsageError
from pushjuju.core.ids import new_uuid
from pushjuju.core.model.placement import Placement
from pushjuju.core.names import is_machine, parent_machine
from pushjuju.core.status import InstanceStatus, Life, MachineStatus, StatusKind
from pushjuju.core.storage import Directive
from pushjuju.portable.natural import natural_key
from pushjuju.services.entities.basis import statuses, wake
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import constraints as of_machines
from pushjuju.services.entities.model import firewall, models, ssh_keys
from pushjuju.store.queue import WorkItem, machine_key
from pushjuju.store.rows.records import Machine, Seat, Unit
from pushjuju.store.tx import ModelTx

MACHINE_KINDS = (StatusKind.MACHINE, StatusKind.INSTANCE)
STOPPED = "is stopped; the next command that needs the machine starts it"
KVM = "kvm containers are not supported"


def new_machine(
    tx: ModelTx, *, base: Base, constraints: Mapping[str, Any], placement: str = "", within: str = ""
) -> Machine:
    """Record a machine for a worker to start; `within` is set for a container: host and type, as `0/lxd`."""
    number = tx.next(tx.model, f"machine-{within}" if within else "machine")
    machine = Machine(
        model=tx.model, id=f"{within}/{number}" if within else str(number), life=Life.ALIVE, base=str(base),
        constraints=dict(constraints), placement=placement, nonce=new_uuid(), created=tx.now,
        keys_due=ssh_keys.ever(tx),
    )  # fmt: skip
    tx.insert("machine", machine)
    statuses.set_status(tx, StatusKind.MACHINE, machine.id, MachineStatus.PENDING)
    statuses.set_status(tx, StatusKind.INSTANCE, machine.id, InstanceStatus.PENDING)
    wake.machine(tx, machine.id, "new machine")
    return machine


def new_container(tx: ModelTx, target: Placement, *, base: Base, constraints: Mapping[str, Any]) -> Machine:
    """Record a container for a worker to start, and its host when the target names no existing host.

    Mirrors: juju state/addmachine.go AddMachineInsideMachine, AddMachineInsideNewMachine (3.6)
    """
    if target.value != "lxd":
        raise NotValid(KVM)
    alone = target.parent is not None
    if target.parent is not None:
        host = get(tx, target.parent)
        if host.life != Life.ALIVE:
            raise NotValid(f"cannot add a new machine: machine {host.id} is not alive")
        if parent_machine(host.id) is not None:
            raise NotValid(f"cannot add a new machine: machine {host.id} cannot host lxd containers")
    else:
        host = new_machine(tx, base=base, constraints=rules.of_host(constraints))
    own = rules.of_container(constraints, alone=alone)
    return new_machine(tx, base=base, constraints=own, within=f"{host.id}/{target.value}")


def containers_on(tx: ModelTx, machine_id: str) -> list[Machine]:
    """Return the containers of a machine, in natural order."""
    found = tx.list(Machine, "machine_containers", host=machine_id)
    return sorted(found, key=lambda machine: natural_key(machine.id))


def containers_waited_for(tx: ModelTx, machine: Machine) -> tuple[str, bool]:
    """Return the text about the containers that a dying machine waits for, and whether one of them failed.

    The text is empty for a machine that is alive or has no containers.
    """
    if machine.life == Life.ALIVE:
        return "", False
    parts, failed = [], False
    for container in containers_on(tx, machine.id):
        item = tx.find(WorkItem, "work_get", key=machine_key(machine.model, container.id))
        stuck = item is not None and item.owner is None and item.attempts > 0
        parts.append(f"{container.id} ({item.reason})" if item is not None and stuck else container.id)
        failed = failed or stuck
    return (f"waits for container {', '.join(parts)}" if parts else ""), failed


def add_machine(
    ctx: Context,
    model: str,
    *,
    base: Base,
    constraints: Mapping[str, Any],
    placement: str = "",
    container: Placement | None = None,
    disks: Sequence[Directive] = (),
) -> Machine:
    """Add a machine that hosts no unit yet.

    Args:
        container: The placement of a container to add, or None for a machine of its own.
        disks: Volumes that belong to the machine itself; ignored for containers.
    """
    with ctx.change(model) as tx:
        models.require_alive(tx)
        if container is not None:
            wanted = of_machines.for_machine(tx, constraints)
            return new_container(tx, container, base=base, constraints=wanted)
        machine = new_machine(
            tx, base=base, constraints=of_machines.for_machine(tx, constraints), placement=placement
        )
        if disks:
            _equip(ctx, tx, machine, disks)
            machine = get(tx, machine.id)
        return machine


def _equip(ctx: Context, tx: ModelTx, machine: Machine, wanted: Sequence[Directive]) -> None:
    from pushjuju.services.entities.storage import disks  # imports plugins, which only disks need

    disks.equip(ctx, tx, machine, wanted)


def get(tx: ModelTx, machine_id: str) -> Machine:
    """Return a machine, or raise NotFound."""
    return tx.get(Machine, "machine_get", f"machine {machine_id} not found", id=machine_id)


def list_machines(tx: ModelTx) -> list[Machine]:
    """Return the machines of a model in natural order."""
    found = tx.list(Machine, "machine_list")
    return sorted(found, key=lambda machine: natural_key(machine.id))


def sequences(tx: ModelTx) -> dict[str, int]:
    """Return the next numbers: of machines as `machine`, of the units of NAME as `application-NAME`."""
    found = {"machine": int(tx.scalar("sequence_get", scope=tx.model, name="machine") or 0)}
    for row in tx.rows("sequence_units", scope=tx.model):
        found[f"application-{row['name'].removeprefix('unit-')}"] = int(row["next"])
    return found


def units_on(tx: ModelTx, machine_id: str) -> list[Unit]:
    """Return the units of a machine, subordinates included."""
    return tx.list(Unit, "unit_on_machine", machine=machine_id)


def seats_on(tx: ModelTx, machine_id: str) -> list[Seat]:
    """Return name and machine of the units on a machine, in the order of `units_on`; the rows are cached."""
    return tx.list(Seat, "unit_seats", machine=machine_id)


def require_id(text: str) -> str:
    """Return a machine id that a user typed, or raise UsageError."""
    if not is_machine(text):
        raise UsageError(f'invalid machine id "{text}"')
    return text


def not_started(tx: ModelTx) -> list[str]:
    """Return the machines whose start has failed for good, in pushjuju or in their cloud."""
    waiting = (item for item in list_machines(tx) if not item.last_seen)
    return [
        item.id
        for item in waiting
        if (shown := statuses.get_status(tx, StatusKind.INSTANCE, item.id))
        and shown.status == InstanceStatus.PROVISIONING_ERROR
    ]


def set_ssh(tx: ModelTx, machine: Machine, ssh: Mapping[str, Any]) -> Machine:
    """Record the SSH login of a machine; the firewalls of the other machines then let its new address in."""
    tx.run("machine_set_ssh", id=machine.id, ssh=json.dumps(dict(ssh)))
    firewall.changed_everywhere(tx, "a machine has another address")
    return get(tx, machine.id)


def retry_refused(tx: ModelTx) -> list[str]:
    """Retry the start of machines whose credential the cloud refused; return their ids."""
    found = []
    for name in not_started(tx):
        shown = statuses.get_status(tx, StatusKind.INSTANCE, name)
        if shown and shown.data.get("code") == "credential-invalid":
            retry_start(tx, name)
            found.append(name)
    return found


def see_again(tx: ModelTx, machine_id: str, reason: str) -> None:
    """Let a machine be contacted at once; a stopped machine is started, when its cloud supports starts."""
    tx.run("machine_see_again", id=machine_id)
    wake.machine(tx, machine_id, reason)


def retry_start(tx: ModelTx, machine_id: str) -> None:
    """Retry the start of a machine that failed.

    When the cloud could not install the instance, its id is removed; the next start deletes the instance.
    """
    machine = get(tx, machine_id)
    if machine.instance_id:
        shown = statuses.get_status(tx, StatusKind.INSTANCE, machine_id)
        state = shown.status if shown else InstanceStatus.UNKNOWN
        if state == InstanceStatus.STOPPED:
            see_again(tx, machine_id, "retry provisioning")
            return
        if machine.last_seen or state != InstanceStatus.PROVISIONING_ERROR:
            raise NotValid(f"machine {machine_id} is not in an error state ({state})")
        tx.run("machine_forget_instance", id=machine_id)
        firewall.changed_everywhere(tx, f"machine {machine_id} has lost its instance")
    tx.run("machine_set_attempts", id=machine_id, attempts=0)
    statuses.set_status(
        tx, StatusKind.INSTANCE, machine_id, InstanceStatus.ALLOCATING, data={"transient": True}
    )
    wake.machine(tx, machine_id, "retry provisioning")


def stopped(ctx: Context, cloud_type: str, running: Mapping[str, str]) -> set[str]:
    """Return the ids of the machines that are stopped.

    Args:
        cloud_type: The type of the model's cloud; only machines of a `local` cloud are on this host.
        running: Instance -> id of its machine, for machines that ran at their last contact.
    """
    if cloud_type != "local" or not running:
        return set()
    from pushjuju.plugins.providers.nspawn import glance  # commands on other clouds do without

    return {running[instance] for instance in glance.stopped(ctx.controller.machines, running)}
