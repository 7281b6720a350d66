"""The upgrade of a machine to another base, in two steps between which a user upgrades the system by hand.

`prepare` locks the machine and makes its units run pre-series-upgrade; then the units do nothing until
`complete`, which makes them run post-series-upgrade, sets the machine's base and removes the lock. Each unit
reports its own step (`unit_is`); when the last unit has reported, the machine goes to the next step. The
state is in the store alone, so any process that works on the model can continue the upgrade.

Mirrors: juju apiserver/facades/client/machinemanager/upgradebase.go, state/machine_upgradeseries.go,
worker/upgradeseries/worker.go (3.6)
"""

from __future__ import annotations

from collections.abc import Iterable

from pushjuju.core.base import Base
from pushjuju.core.errors import Conflict, NotFound, NotValid
from pushjuju.core.model.series import SeriesStatus
from pushjuju.core.problems import Subject
from pushjuju.core.status import Agent, InstanceStatus, Life, StatusInfo, StatusKind, Workload
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis import statuses, wake
from pushjuju.services.entities.charm import charms
from pushjuju.services.entities.machine import machines
from pushjuju.store.rows.records import Application, Machine, MachineUpgrade, MachineUpgradeMessage, Unit
from pushjuju.store.tx import ModelTx

# The message of the instance's status in each step.
_SAYS = {
    SeriesStatus.PREPARE_STARTED: "preparing units",
    SeriesStatus.PREPARE_COMPLETED: "waiting for completion command",
    SeriesStatus.COMPLETE_STARTED: "waiting for units",
    SeriesStatus.COMPLETED: "success",
}
_BEFORE_PREPARED = (SeriesStatus.PREPARE_STARTED, SeriesStatus.PREPARE_RUNNING)


class Locked(Conflict, code="machine-locked"):
    """The error for a machine that is already being upgraded."""

    def __init__(self, machine_id: str, status: SeriesStatus) -> None:
        found = f"upgrade series lock found for {quote(machine_id)}"
        super().__init__(f"{found}; series upgrade is in the {quote(status)} state")
        self.status = status  # the step that the upgrade has reached


# --- the lock ---------------------------------------------------------------------------------------------


def lock_of(tx: ModelTx, machine_id: str) -> MachineUpgrade | None:
    """Return the lock of a machine that is being upgraded, or None."""
    return tx.find(MachineUpgrade, "machine_upgrade_get", machine=machine_id)


def status_of(tx: ModelTx, machine_id: str) -> SeriesStatus:
    """Return the step that the upgrade of a machine has reached."""
    lock = lock_of(tx, machine_id)
    return SeriesStatus(lock.status) if lock else SeriesStatus.NOT_STARTED


def require_unlocked(tx: ModelTx, machine_id: str) -> None:
    """Raise Conflict when a machine may not be removed, because it is being upgraded."""
    if lock_of(tx, machine_id):
        raise Conflict(f"machine {machine_id} is locked for series upgrade")


def messages(tx: ModelTx, machine_id: str, after: int = 0) -> list[MachineUpgradeMessage]:
    """Return the messages of a machine's newest upgrade whose number is above `after`."""
    return tx.list(MachineUpgradeMessage, "machine_upgrade_message_list", machine=machine_id, after=after)


def last_message(tx: ModelTx, machine_id: str) -> int:
    """Return the number of the last message of a machine; 0 without messages."""
    return int(tx.scalar("machine_upgrade_message_last", machine=machine_id))


def instance_message(tx: ModelTx, machine_id: str) -> str:
    """Return the message for the instance of a machine that is upgraded; empty for any other machine."""
    status = status_of(tx, machine_id)
    return "" if status is SeriesStatus.NOT_STARTED else _instance_text(status)


def _instance_text(status: SeriesStatus) -> str:
    return f"series upgrade {status}: {_SAYS[status]}"


# --- checks before an upgrade ---------------------------------------------------------------------------


def affected_units(tx: ModelTx, machine_id: str) -> list[str]:
    """Return the units of a machine, subordinates included, sorted as text."""
    if tx.find(Machine, "machine_get", id=machine_id) is None:
        raise NotFound(f"unable to locate instance: instance {quote(machine_id)} not found")
    names = sorted(unit.name for unit in machines.units_on(tx, machine_id))
    if not names:
        raise NotFound(f"units for machine {quote(machine_id)} not found")
    return names


def check(tx: ModelTx, machine_id: str, base: Base, *, force: bool = False) -> Base:
    """Check that the upgrade of a machine may begin; return the machine's present base.

    Args:
        base: The new base; as in Juju, only its track and risk count.
        force: True to allow charms that do not name the new base.
    """
    affected_units(tx, machine_id)
    machine = machines.get(tx, machine_id)
    if lock := lock_of(tx, machine_id):
        raise Locked(machine_id, SeriesStatus(lock.status))
    if machine.life != Life.ALIVE:
        raise Conflict("machine not found or not alive")
    present = Base.parse(machine.base)
    wanted = Base(present.os, base.track, base.risk)
    _check_base(machine_id, present, wanted)
    units = machines.units_on(tx, machine_id)
    if not force:
        _check_charms(tx, units, wanted)
    _check_units(tx, units)
    return present


def _check_base(machine_id: str, present: Base, wanted: Base) -> None:
    tag = f"machine-{machine_id}"
    if present.os != "ubuntu":
        raise NotValid(f"{tag} is running {present.os} and is not valid for Ubuntu series upgrade")
    if wanted.track == present.track:
        raise NotValid(f"{tag} is already running base {wanted.display}")
    if _release(wanted) < _release(present):
        raise NotValid(
            f"machine {tag} is running {present.display} which is a newer base than {wanted.display}."
        )


def _release(base: Base) -> tuple[int, ...]:
    """Return the release of an Ubuntu base as numbers, to compare releases."""
    return tuple(int(part) for part in base.track.split(".") if part.isdigit())


def _check_charms(tx: ModelTx, units: Iterable[Unit], wanted: Base) -> None:
    """Check that the charms of all units on a machine name the new base."""
    for name in sorted({unit.application for unit in units}):
        application = tx.get(Application, "application_get", Subject("application", name), name=name)
        charm = charms.get(tx, application.charm_url)
        bases = charm.bases()
        if not bases:
            raise NotValid(f"charm {quote(charm.name)} does not support any bases. Not valid")
        if not any(other.matches(wanted) for other in bases):
            named = ", ".join(other.display for other in bases)
            raise NotValid(
                f"base {quote(wanted.display)} not supported by charm {quote(charm.name)}, "
                f"supported bases are: {named}"
            )


def _check_units(tx: ModelTx, units: Iterable[Unit]) -> None:
    """Check that every unit is idle and not in error."""
    for unit in units:
        workload, agent = _shown(tx, unit)
        if agent.status != Agent.IDLE:
            raise Conflict(
                f"unit {unit.name} is not ready to start a series upgrade; "
                f"its agent status is: {quote(str(agent.status))} {agent.message}"
            )
        if workload.status == Workload.ERROR:
            raise Conflict(
                f'unit {unit.name} is not ready to start a series upgrade; its status is: "error" '
                f"{workload.message}"
            )


def _shown(tx: ModelTx, unit: Unit) -> tuple[StatusInfo, StatusInfo]:
    kinds = (StatusKind.WORKLOAD, StatusKind.AGENT)
    found = [statuses.get_status(tx, kind, unit.name) for kind in kinds]
    workload, agent = (info or StatusInfo(status="unknown") for info in found)
    return statuses.shown_unit(workload, agent)


# --- what units report ------------------------------------------------------------------------------------


def unit_is(tx: ModelTx, unit: Unit, status: SeriesStatus, message: str) -> None:
    """Record the step that a unit has reached, and advance its machine; a repeated report is ignored."""
    lock = lock_of(tx, unit.machine) if unit.machine is not None else None
    present = SeriesStatus(unit.series)
    if lock is None or present is SeriesStatus.NOT_STARTED or not status.is_after(present):
        return
    set_unit(tx, unit, status, Base.parse(lock.to_base))
    say(tx, lock, f"{unit.name} {message}")
    if status.frozen:
        tx.run("unit_freeze", name=unit.name)
    advance(tx, lock.machine)


def advance(tx: ModelTx, machine_id: str) -> None:
    """Move a machine to its next step when all its units are ready; removed units do not count."""
    lock = lock_of(tx, machine_id)
    if lock is None:
        return
    reached = {SeriesStatus(unit.series) for unit in units_in(tx, lock)}
    status = SeriesStatus(lock.status)
    if not reached:
        _unlock(tx, lock)
    elif status in _BEFORE_PREPARED and reached == {SeriesStatus.PREPARE_COMPLETED}:
        set_machine(tx, lock, SeriesStatus.PREPARE_COMPLETED, "binaries and service files written")
    elif status is SeriesStatus.COMPLETE_STARTED and reached == {SeriesStatus.COMPLETED}:
        _finish(tx, lock)


def _finish(tx: ModelTx, lock: MachineUpgrade) -> None:
    """Set the machine's new base and remove the lock, so that its units run the hooks that were put off."""
    set_machine(tx, lock, SeriesStatus.COMPLETED, "series upgrade complete")
    tx.run("machine_set_base", id=lock.machine, base=lock.to_base)
    _unlock(tx, lock)
    wake.machine(tx, lock.machine, "the machine is upgraded")


def _unlock(tx: ModelTx, lock: MachineUpgrade) -> None:
    for unit in units_in(tx, lock):
        set_unit(tx, unit, SeriesStatus.NOT_STARTED, None)
    tx.run("machine_upgrade_delete", machine=lock.machine)


def forget(tx: ModelTx, machine_id: str) -> None:
    """End the upgrade of a machine that is removed by force; its units continue normally."""
    lock = lock_of(tx, machine_id)
    if lock is not None:
        _unlock(tx, lock)


def units_in(tx: ModelTx, lock: MachineUpgrade) -> list[Unit]:
    """Return the units that take part in an upgrade."""
    return [unit for unit in machines.units_on(tx, lock.machine) if unit.series != SeriesStatus.NOT_STARTED]


def set_unit(tx: ModelTx, unit: Unit, status: SeriesStatus, target: Base | None) -> None:
    """Record the step of a unit; `target` is the base that its machine is upgraded to."""
    tx.run(
        "unit_set_series", name=unit.name, series=status,
        target=target.display if target else ""
    )  # fmt: skip


def set_machine(tx: ModelTx, lock: MachineUpgrade, status: SeriesStatus, message: str) -> None:
    """Record the step of a machine, with a message for the user and the instance's status."""
    tx.run("machine_upgrade_set_status", machine=lock.machine, status=status)
    say(tx, lock, f"machine-{lock.machine} {message}")
    statuses.set_status(
        tx, StatusKind.INSTANCE, lock.machine, InstanceStatus.RUNNING, _instance_text(status)
    )  # fmt: skip


def say(tx: ModelTx, lock: MachineUpgrade, message: str) -> None:
    """Add a message about an upgrade, which `upgrade-machine` shows while it waits."""
    tx.run("machine_upgrade_message_add", machine=lock.machine, time=tx.now, message=message)
