"""Removes entities, Alive -> Dying -> Dead -> deleted, each after the entities that it waits for.

Relations and applications are deleted with their last reference, units and machines when their worker has
finished. A forced removal adds a cleanup, which deletes the entity after a wait. Mirrors: juju
state/cleanup.go (3.6)
"""

from __future__ import annotations

import json
from datetime import timedelta
from functools import partial

from pushjuju.core.errors import Conflict, NotFound, NotValid
from pushjuju.core.model.tasks import Receiver
from pushjuju.core.names import UnitName, parent_machine
from pushjuju.core.problems import Subject
from pushjuju.core.status import Agent, Life, MachineStatus, StatusKind
from pushjuju.core.values import dataclass
from pushjuju.portable.natural import natural_key
from pushjuju.services.entities.action import actions
from pushjuju.services.entities.application import applications, units
from pushjuju.services.entities.basis import leadership, notices, statuses, wake
from pushjuju.services.entities.machine import machines, upgrade_machine
from pushjuju.services.entities.model import firewall, models
from pushjuju.services.entities.relation import offers, relations, remote_applications
from pushjuju.services.entities.secret import remote_secrets, secrets
from pushjuju.services.entities.storage import storage_instances, storage_work
from pushjuju.services.lifecycle import storage_ends
from pushjuju.services.lifecycle.forced_ends import forced_subject
from pushjuju.store.queue import machine_key
from pushjuju.store.rows.records import Application, Machine, Model, Offer, Relation, RelationScope, Unit
from pushjuju.store.tx import ModelTx

MAX_WAIT_S = 60.0  # seconds that a forced removal leaves for the entity's hooks and workers
FORCE_UNIT, FORCE_REMOVE_UNIT = "force-unit", "force-remove-unit"
_FORCED_ENDS = {
    FORCE_UNIT: "is declared dead if it still exists by then, whatever its hooks do",
    FORCE_REMOVE_UNIT: "is dead, and is deleted if its machine does not answer by then",
}
UNIT_KINDS = (StatusKind.WORKLOAD, StatusKind.AGENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Force:
    """The force of a removal."""

    wait_s: float = MAX_WAIT_S  # seconds that the entity has to end normally


# --- units ------------------------------------------------------------------------------------------------


def destroy_unit(
    tx: ModelTx, unit: Unit, force: Force | None = None, *, destroy_storage: bool = False
) -> None:
    """Remove a unit: at once when it never ran, else through its hooks. By default its storage stays.

    Mirrors: juju state/unit.go DestroyOperation (3.6)
    """
    if destroy_storage and unit.storage:
        storage_instances.doom_of_unit(tx, unit)
    if force:
        tx.run("unit_set_forced", name=unit.name)
        _force_later(tx, FORCE_UNIT, unit.name, force)
    if unit.life != Life.ALIVE:
        wake.unit(tx, unit, "remove-unit again")
        return
    if not _ever_ran(tx, unit):
        remove_unit(tx, unit)
        return
    tx.run("unit_set_life", name=unit.name, life=Life.DYING)
    notices.dying(tx, "unit", unit.name)
    relations.depart(tx, unit)
    wake.unit(tx, unit, "remove-unit")


def _ever_ran(tx: ModelTx, unit: Unit) -> bool:
    """Return True when a unit has run, or has storage or subordinates; other units can be deleted at once."""
    agent = statuses.get_status(tx, StatusKind.AGENT, unit.name)
    busy = agent is not None and agent.status != Agent.ALLOCATING
    return busy or bool(unit.storage) or bool(subordinates(tx, unit))


def subordinates(tx: ModelTx, unit: Unit) -> list[Unit]:
    return tx.list(Unit, "unit_of_principal", principal=unit.name)


def lives_of_subordinates(tx: ModelTx, principal: str) -> dict[str, Life]:
    """Return the lives of a principal's subordinates: unit -> life."""
    rows = tx.rows("unit_lives_of_principal", principal=principal)
    return {row["name"]: Life(row["life"]) for row in rows}


def remove_unit(tx: ModelTx, unit: Unit) -> None:
    """Delete a unit that has ended, and the entities that waited for its end."""
    for scope in tx.list(RelationScope, "scope_of_unit", unit=unit.name):
        relations.leave_scope(tx, scope.relation, unit.name)
    # The lease need not run out: another unit becomes leader with its next hook.
    leadership.revoke(tx, unit)
    if _has_secrets(tx, unit.application):
        secrets.forget_unit(tx, unit)
        remote_secrets.forget_unit(tx, unit)
    if unit.storage:
        storage_instances.unit_gone(tx, unit)
    actions.cancel_all(tx, Receiver.UNIT, unit.name, actions.UNIT_REMOVED)
    statuses.forget(tx, unit.name, UNIT_KINDS)
    notices.forget(tx, Subject("unit", unit.name))
    tx.run("operation_delete_unit", unit=unit.name)
    if tx.rows("exposure_list", application=unit.application):
        firewall.changed_on(tx, unit.machine, f"{unit.name} is gone")
    units.delete(tx, unit)
    # The principal waits for the end of its subordinates.
    if unit.principal:
        _wake_named(tx, unit.principal, f"{unit.name} is gone")
        if unit.forced:  # a principal in error does not run; its own forced end may wait for this unit
            wake.cleaner(tx, tx.now, f"{unit.name} is gone")
    finish_application(tx, unit.application)
    if unit.machine is not None:
        upgrade_machine.advance(tx, unit.machine)
    if unit.machine is not None and not unit.principal:
        let_go_of_empty(tx, unit.machine)


def _has_secrets(tx: ModelTx, application: str) -> bool:
    found = tx.find(Application, "application_get", name=application)
    return found is not None and bool(found.secrets)


def _wake_named(tx: ModelTx, name: str, reason: str) -> None:
    found = tx.find(Unit, "unit_get", name=name)
    if found:
        wake.unit(tx, found, reason)


def let_go_of_empty(tx: ModelTx, machine_id: str) -> None:
    """Remove a machine without units and containers, unless storage that only a user destroys is on it."""
    machine = tx.find(Machine, "machine_get", id=machine_id)
    if machine is None or machines.units_on(tx, machine_id):
        return
    if machine.life == Life.ALIVE and (text := kept_text(tx, machine)):
        statuses.set_status(tx, StatusKind.MACHINE, machine.id, MachineStatus.STARTED, text)
    elif machine.life == Life.ALIVE:
        if not machines.containers_on(tx, machine_id):
            destroy_machine(tx, machine)
    else:  # the machine's worker may be waiting for its next try, when the unit was removed by force
        wake.machine(tx, machine_id, "the last unit is gone")


def kept_text(tx: ModelTx, machine: Machine) -> str:
    """Return the message for a machine without units that stays for its storage; empty for other machines."""
    kept = _kept(tx, machine)
    if not kept or machines.units_on(tx, machine.id):
        return ""
    return f"kept for its storage: {', '.join(kept)}"


def _kept(tx: ModelTx, machine: Machine) -> list[str]:
    """Return the storage on a machine that would be destroyed without a user's request."""
    return storage_instances.kept_on(tx, machine.id) if machine.storage else []


# --- applications -----------------------------------------------------------------------------------------


def destroy_application(
    tx: ModelTx, application: Application, force: Force | None = None, *, destroy_storage: bool = False
) -> None:
    """Remove an application: its relations, then its units, then the application itself.

    Mirrors: juju state/application.go DestroyOperation (3.6)
    """
    if application.offered:
        end = partial(destroy_relation, tx, force=force) if force else None
        offers.remove_of_application(tx, application, end)
    tx.run("application_set_life", name=application.name, life=Life.DYING)
    notices.dying(tx, "application", application.name)
    for relation in relations.of_application(tx, application.name):
        if relation.life == Life.ALIVE and not relations.is_peer(relations.endpoints(tx, relation.id)):
            relations.destroy(tx, relation)
    for unit in units.of_application(tx, application.name):
        if destroy_storage and unit.storage:
            storage_instances.doom_of_unit(tx, unit)
        if not unit.principal or force:
            destroy_unit(tx, unit, force)
    finish_application(tx, application.name)


def finish_application(tx: ModelTx, name: str) -> None:
    """Delete a dying application when it has no units and only peer relations left."""
    found = tx.find(Application, "application_get", name=name)
    if found is None or found.life == Life.ALIVE or units.of_application(tx, name):
        return
    for relation in relations.of_application(tx, name):
        if not relations.is_peer(relations.endpoints(tx, relation.id)):
            return
    for relation in relations.of_application(tx, name):
        relations.remove(tx, relation.id)
    statuses.forget(tx, name, [StatusKind.APPLICATION])
    notices.forget(tx, Subject("application", name))
    secrets.forget_application(tx, name)
    tx.run("application_delete", name=name)
    tx.run("charm_delete_unused")
    wake.cleaner(tx, tx.now, f"application {name} is gone")


# --- relations --------------------------------------------------------------------------------------------


def destroy_relation(tx: ModelTx, relation: Relation, force: Force | None = None) -> None:
    """Remove a relation; by force, units that are still in scope after the wait are taken out of scope."""
    relations.destroy(tx, relation)
    if force:
        _force_later(tx.beside(relation.model), "force-relation", str(relation.id), force)


def force_relation(tx: ModelTx, relation_id: int) -> None:
    """Take all units out of the scope of a relation without hooks, which deletes the relation."""
    for scope in relations.scopes(tx, relation_id):
        relations.leave_scope(tx, relation_id, scope.unit)


def remove_offer(tx: ModelTx, offer: Offer, force: Force | None = None) -> None:
    """Remove an offer; by force, the relations to it are removed too."""
    offers.remove(tx, offer, partial(destroy_relation, tx, force=force) if force else None)


def finish_applications(tx: ModelTx) -> None:
    """Delete dying applications without units and relations, and remote applications without relations."""
    remote_applications.finish(tx)
    for row in tx.rows("application_dying"):
        finish_application(tx, row["name"])


# --- machines ---------------------------------------------------------------------------------------------


def destroy_machine(
    tx: ModelTx, machine: Machine, *, force: Force | None = None, keep_instance: bool = False
) -> None:
    """Remove a machine after its units; `keep_instance` leaves its instance running in the cloud."""
    if force:
        upgrade_machine.forget(tx, machine.id)
    else:
        upgrade_machine.require_unlocked(tx, machine.id)
    # Dying containers do not block the removal: the machine's worker waits until they have ended.
    hosted = machines.containers_on(tx, machine.id)
    if not force and (alive := [item.id for item in hosted if item.life == Life.ALIVE]):
        text = f'machine {machine.id} is hosting containers "{",".join(alive)}"'
        raise NotValid(text, subject=Subject("machine", machine.id))
    subject, staying = Subject("machine", machine.id), _staying_units(tx, machine)
    if staying and not force:
        plural = "units" if len(staying) > 1 else "unit"
        names = ", ".join(f'"{name}"' for name in staying)
        raise NotValid(f"{subject} has {plural} {names} assigned", subject=subject)
    # Data of a machine is destroyed only at a user's request.
    if not force and (kept := _kept(tx, machine)):
        names = ", ".join(f'"{name}"' for name in kept)
        raise Conflict(
            f"{subject} has storage {names} on it",
            hint=f"pushjuju remove-storage {' '.join(kept)}",
            subject=subject,
        )
    if keep_instance:
        tx.run("machine_set_keep", id=machine.id, keep=1)
    if force:
        tx.run("machine_set_forced", id=machine.id)
        if machine.storage:
            storage_instances.doom_on(tx, machine.id)
        for container in hosted:
            destroy_machine(tx, container, force=force)
        for unit in machines.units_on(tx, machine.id):
            destroy_unit(tx, unit, force)
        _force_later(tx, "force-machine", machine.id, force)
    tx.run("machine_set_life", id=machine.id, life=Life.DYING)
    notices.dying(tx, "machine", machine.id)
    statuses.set_status(tx, StatusKind.MACHINE, machine.id, MachineStatus.STOPPED)
    wake.machine(tx, machine.id, "remove-machine")


def _staying_units(tx: ModelTx, machine: Machine) -> list[str]:
    staying = []
    for unit in machines.units_on(tx, machine.id):
        application = tx.find(Application, "application_get", name=unit.application)
        if unit.life == Life.ALIVE and application and application.life == Life.ALIVE:
            staying.append(unit.name)
    return sorted(staying, key=natural_key)


def remove_machine(tx: ModelTx, machine: Machine) -> None:
    """Delete a machine whose instance does not exist any more."""
    actions.cancel_all(tx, Receiver.MACHINE, machine.id, actions.MACHINE_REMOVED)
    if machine.storage:
        storage_instances.machine_gone(tx, machine.id)
    statuses.forget(tx, machine.id, machines.MACHINE_KINDS)
    notices.forget(tx, Subject("machine", machine.id))
    tx.run("operation_delete_machine", machine=machine.id)
    tx.run("contact_delete_machine", machine=machine.id)
    tx.run("machine_delete", id=machine.id)
    tx.run("work_delete", key=machine_key(machine.model, machine.id))
    firewall.changed_everywhere(tx, f"machine {machine.id} is gone")
    wake.cleaner(tx, tx.now, f"machine {machine.id} is gone")
    if host := parent_machine(machine.id):
        _after_container(tx, host)


def _after_container(tx: ModelTx, host_id: str) -> None:
    """Wake the host of a removed container, and remove the host when it is empty and its model is dying."""
    host = tx.find(Machine, "machine_get", id=host_id)
    if host is None:
        return
    wake.machine(tx, host_id, "a container is gone")
    of_model = models.get(tx)
    alone = not (machines.units_on(tx, host_id) or machines.containers_on(tx, host_id))
    if alone and host.life == Life.ALIVE and of_model.life != Life.ALIVE:
        destroy_machine(tx, host)


# --- models -----------------------------------------------------------------------------------------------


def destroy_model(
    tx: ModelTx, model: Model, force: Force | None = None, *, destroy_storage: bool | None = None
) -> None:
    """Start the removal of a model: its applications, its machines, then the model itself.

    Args:
        force: The force of the removal, or None for no force.
        destroy_storage: True to destroy storage that outlives units, False to release it, None to refuse the
            removal when there is such storage.

    Mirrors: juju state/model.go Destroy (3.6)
    """
    storage_ends.begin(tx, model, destroy=destroy_storage)
    tx.run("model_set_life", life=Life.DYING, forced=force is not None)
    notices.dying(tx, "model", model.qualified)
    statuses.set_status(tx, StatusKind.MODEL, model.name, "destroying")
    if force:
        for row in tx.rows("storage_instance_list"):
            force_storage_later(tx, row["id"], force)
    _end_of_other_models(tx, force)
    for application in tx.list(Application, "application_list"):
        destroy_application(tx, application, force)
    for machine in reversed(machines.list_machines(tx)):  # containers before their machines
        if machine.life == Life.ALIVE and (force or _is_empty(tx, machine)):
            destroy_machine(tx, machine, force=force)
    wake.cleaner(tx, tx.now, "destroy-model")


def _is_empty(tx: ModelTx, machine: Machine) -> bool:
    """Return True when a machine has neither units nor containers that will stay."""
    hosted = machines.containers_on(tx, machine.id)
    alive = [item for item in hosted if item.life == Life.ALIVE]
    return not (alive or machines.units_on(tx, machine.id))


def _end_of_other_models(tx: ModelTx, force: Force | None) -> None:
    """End a model's ties to other models: its offers with their relations, and the offers it consumes.

    Mirrors: juju state/cleanup.go removeOffersForDyingModel, removeRemoteApplicationsForDyingModel (3.6)
    """
    for offer in offers.of_model(tx):
        offers.remove(tx, offer, partial(destroy_relation, tx, force=force))
    for remote in remote_applications.consumed(tx):
        remote_applications.destroy(tx, remote, partial(destroy_relation, tx, force=force))


# --- forced ends ------------------------------------------------------------------------------------------


def _force_later(tx: ModelTx, kind: str, entity: str, force: Force) -> None:
    due = tx.now + timedelta(seconds=force.wait_s)
    then = _FORCED_ENDS.get(kind, "is removed by force if it still exists by then")
    reason = f"{forced_subject(kind, entity)} {then}"
    tx.run(
        "cleanup_add",
        kind=kind,
        entity=entity,
        args=json.dumps({"wait": force.wait_s}),
        due=due,
        reason=reason,
    )
    wake.cleaner(tx, due, reason)


def force_storage_later(tx: ModelTx, storage_id: str, force: Force) -> None:
    """Add a cleanup that deletes storage after a wait, even when it still exists in its cloud."""
    _force_later(tx, "force-storage", storage_id, force)


def force_dead(tx: ModelTx, unit: Unit, force: Force) -> None:
    """Declare a unit dead without running its hooks; its machine cleans up, or the unit is deleted later.

    Subordinates are removed first in the same way; the unit waits for them.

    Mirrors: juju state/cleanup.go cleanupForceDestroyedUnit (3.6)
    """
    if below := subordinates(tx, unit):
        for subordinate in below:
            if subordinate.life != Life.DEAD:
                destroy_unit(tx, subordinate, force)
        _force_later(tx, FORCE_UNIT, unit.name, force)
        return
    for scope in tx.list(RelationScope, "scope_of_unit", unit=unit.name):
        relations.leave_scope(tx, scope.relation, unit.name)
    leadership.revoke(tx, unit)
    if unit.storage:
        storage_instances.unit_gone(tx, unit)
    tx.run("unit_set_life", name=unit.name, life=Life.DEAD)
    wake.unit(tx, unit, f"{unit.name} is dead")
    _force_later(tx, FORCE_REMOVE_UNIT, unit.name, force)


def force_unit(tx: ModelTx, unit: Unit) -> None:
    """Delete a unit and its subordinates without running their hooks."""
    for subordinate in subordinates(tx, unit):
        remove_unit(tx, subordinate)
    remove_unit(tx, unit)


# --- what commands remove -------------------------------------------------------------------------------


def plan_units(tx: ModelTx, names: list[str]) -> list[Unit]:
    """Return the units that `remove-unit` names, or raise NotFound or NotValid."""
    found = []
    for name in names:
        unit = tx.find(Unit, "unit_get", name=name)
        if unit is None:
            raise NotFound(f'unit "{name}" does not exist', subject=Subject("unit", name))
        if unit.principal:
            raise NotValid(
                f'unit "{name}" is a subordinate, to remove use remove-relation. '
                f'Note: this will remove all units of "{UnitName.parse(name).application}"',
                subject=Subject("unit", name),
            )
        found.append(unit)
    return found


def plan_applications(tx: ModelTx, names: list[str]) -> list[Application]:
    """Return the applications that `remove-application` names, or raise NotFound."""
    return [applications.get(tx, name) for name in names]


def blockers(tx: ModelTx) -> list[str]:
    """Return one clause for each entity that a dying model waits for."""
    waits = []
    for machine in machines.list_machines(tx):
        names = sorted((unit.name for unit in machines.units_on(tx, machine.id)), key=natural_key)
        waits.append(
            f"machine {machine.id} waits for {', '.join(names)}" if names else f"machine {machine.id} stops"
        )
    waits += [f"application {item.name} is {item.life}" for item in tx.list(Application, "application_list")]
    waits += [f"SAAS {item.name} is {item.life}" for item in remote_applications.consumed(tx)]
    return waits + storage_work.waits(tx)
