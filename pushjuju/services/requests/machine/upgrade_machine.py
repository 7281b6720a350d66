"""The requests of upgrade-machine: prepare, complete, and their progress. Mirrors: juju cmd/juju/machine."""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.charms.values.charm_bases import WORKLOAD_BASES
from pushjuju.core.base import Base
from pushjuju.core.errors import Conflict, NotFound, NotValid
from pushjuju.core.model.series import SeriesStatus
from pushjuju.core.problems import Problem, Subject
from pushjuju.core.status import Agent, Life, StatusKind
from pushjuju.core.values import dataclass
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis import statuses, wake
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import machines, upgrade_machine
from pushjuju.services.entities.model import models
from pushjuju.store.rows.records import MachineUpgrade, MachineUpgradeMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The progress of a machine's upgrade."""

    status: SeriesStatus
    new: Sequence[MachineUpgradeMessage]  # the messages that the command has not shown yet
    failed: Sequence[Problem]  # the units in error, with the reason


def progress(ctx: Context, model: str, machine_id: str, units: Sequence[str], seen: int) -> Progress:
    """Return the progress of an upgrade; `seen` is the number of the last message that was shown."""
    with ctx.read(model) as tx:
        agents = [(name, statuses.get_status(tx, StatusKind.AGENT, name)) for name in units]
        return Progress(
            status=upgrade_machine.status_of(tx, machine_id),
            new=upgrade_machine.messages(tx, machine_id, seen),
            failed=[
                Problem.of(Subject("unit", name), agent.message)
                for name, agent in agents
                if agent is not None and agent.status == Agent.ERROR
            ],
        )


def units_of(ctx: Context, model: str, machine_id: str) -> list[str]:
    """Return the units of a machine as `affected_units` does."""
    with ctx.read(model) as tx:
        return upgrade_machine.affected_units(tx, machine_id)


def plan(ctx: Context, model: str, machine_id: str, base: Base, *, force: bool = False) -> list[str]:
    """Return the units on a machine, after checking that the upgrade may begin.

    Raises:
        PushjujuError: As `upgrade_machine.check`.
    """
    with ctx.read(model) as tx:
        upgrade_machine.check(tx, machine_id, base, force=force)
        return upgrade_machine.affected_units(tx, machine_id)


def prepare(ctx: Context, model: str, machine_id: str, base: Base, *, force: bool = False) -> None:
    """Lock a machine for its upgrade, and make its units run pre-series-upgrade, or change nothing."""
    now = ctx.clock.now()
    with ctx.change(model) as tx:
        models.require_alive(tx)
        present = upgrade_machine.check(tx, machine_id, base, force=force)
        wanted = Base(present.os, base.track, base.risk)
        lock = MachineUpgrade(
            model=model, machine=machine_id, from_base=str(present), to_base=str(wanted), force=force,
            status=SeriesStatus.PREPARE_STARTED, created=now,
        )  # fmt: skip
        tx.insert("machine_upgrade", lock)
        tx.run("machine_upgrade_message_delete", machine=machine_id)
        for unit in machines.units_on(tx, machine_id):
            upgrade_machine.set_unit(tx, unit, SeriesStatus.PREPARE_STARTED, wanted)
        text = f"started upgrade from {quote(present.display)} to {quote(wanted.display)}"
        upgrade_machine.set_machine(tx, lock, SeriesStatus.PREPARE_STARTED, text)
        wake.machine(tx, machine_id, "upgrade-machine prepare")


def complete(ctx: Context, model: str, machine_id: str) -> int:
    """Make the units of a prepared machine run post-series-upgrade; return the last message's number."""
    with ctx.change(model) as tx:
        seen = upgrade_machine.last_message(tx, machine_id)
        machine = machines.get(tx, machine_id)
        if machine.life != Life.ALIVE:
            raise Conflict("machine not found or not alive")
        lock = upgrade_machine.lock_of(tx, machine_id)
        if lock is None:
            raise NotFound(f"upgrade lock for machine {quote(machine_id)} not found")
        if lock.status != SeriesStatus.PREPARE_COMPLETED:
            why = "it is either not prepared or already completed"
            raise Conflict(f"machine {quote(machine_id)} can not complete, {why}")
        upgrade_machine.set_machine(tx, lock, SeriesStatus.COMPLETE_STARTED, "complete phase started")
        for unit in upgrade_machine.units_in(tx, lock):
            upgrade_machine.set_unit(tx, unit, SeriesStatus.COMPLETE_STARTED, Base.parse(lock.to_base))
        upgrade_machine.say(tx, lock, f"machine-{machine_id} start units after series upgrade")
        wake.machine(tx, machine_id, "upgrade-machine complete")
    return seen


def check_supported(base: Base) -> None:
    """Raise NotValid when a base is not one of Juju's bases for workloads."""
    if not any(base.matches(known) for known in WORKLOAD_BASES):
        raise NotValid(f"{quote(str(base))} is an unsupported base")
