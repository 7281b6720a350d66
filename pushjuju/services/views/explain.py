"""Finds why entities are in their state and which commands help: the data of `explain`.

The sources are the last decision of each unit, statuses, running operations, leases, pending removals, and
the reasons in the work queue.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from pushjuju.core.clock import from_iso
from pushjuju.core.errors import NotFound
from pushjuju.core.model.series import SeriesStatus
from pushjuju.core.names import parent_machine
from pushjuju.core.problems import Subject, loads
from pushjuju.core.status import Agent, InstanceStatus, Life, StatusKind
from pushjuju.portable.natural import natural_key
from pushjuju.services.entities.basis import leadership, statuses
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine.machine_work import Hands
from pushjuju.services.entities.storage import storage_instances
from pushjuju.services.lifecycle.forced_ends import forced_subject
from pushjuju.services.views.explain_basis import (
    UNDECIDED,
    UPDATE_STATUS,
    Decide,
    Reason,
    Seen,
    Wanted,
    decided,
    ends_of,
    held_up,
    own_trouble,
    read,
    trouble,
    with_crowd,
)
from pushjuju.services.views.next_steps import ended_with
from pushjuju.store.queue import WorkItem
from pushjuju.store.rows.records import Application, Cleanup, Machine, Operation, Unit
from pushjuju.store.rows.storage_records import Backing, BackingAttachment, StorageInstance
from pushjuju.store.tx import ModelTx

_QUIET = ("idle", "at rest")
_FEW = 5  # entities that are read one by one
_USUAL = {  # loop of a model -> what it does at its usual times
    "charms": "newer charms are looked up",
    "cleanup": "old logs and histories are deleted",
    "firewall": "firewall rules are checked",
    "poller": "the cloud is asked for addresses",
    "secrets": "secrets are rotated and expire",
    "storage": "storage is checked",
}


def explain(
    ctx: Context,
    model: str,
    decide: Decide,
    names: Sequence[str] = (),
    *,
    busy: bool = False,
    most: int = sys.maxsize,
) -> list[Reason]:
    """Return why units, machines and loops of a model are in their state, in natural order.

    Args:
        decide: Returns the decisions of units.
        names: Names of units and applications, or ids of machines and storage; empty for all units, machines
            and loops.
        busy: True for the reasons of the names, of all that is worked on or failed, and of the loops.
        most: Of an application, so many units that are not idle have their reasons, by decisions of this
            moment; of the other units, the last decisions are counted.
    """
    with ctx.read(model) as tx:
        seen = read(ctx, tx, decide)
        if not (names or busy):
            return _everything(tx, with_crowd(tx, seen))
        named = dict.fromkeys([*names, *(seen.busy() if busy else ())])
        if len(named) > _FEW or not seen.applications.keys().isdisjoint(named):
            seen = with_crowd(tx, seen)
        found = [reason for name in named for reason in _named(tx, seen, name, most)]
        return [*found, *(_loop(seen, item) for item in seen.loops if busy)]


def _everything(tx: ModelTx, seen: Seen) -> list[Reason]:
    found = [_unit(tx, seen, seen.units[name]) for name in sorted(seen.units, key=natural_key)]
    found += [_end(seen, end) for end in seen.ends]
    found += [_machine(tx, seen, name) for name in sorted(seen.items, key=natural_key)]
    return found + [_loop(seen, item) for item in seen.loops]


def _named(tx: ModelTx, seen: Seen, name: str, most: int) -> list[Reason]:
    """Return the reason of one entity, with the forced ends of the entity."""
    subject = name
    if name in seen.units:
        found = _unit(tx, seen, seen.units[name])
    elif name in seen.applications:
        found = _application(tx, seen, seen.applications[name], most)
    elif name in seen.machines:
        found, subject = _machine(tx, seen, name), f"machine {name}"
    elif name in seen.storage:
        found, subject = _storage(tx, seen, seen.storage[name]), f"storage {name}"
    else:
        noun = "unit or storage" if "/" in name else "machine" if name.isdigit() else "application"
        quoted = name if name.isdigit() else f'"{name}"'
        raise NotFound(f"{noun} {quoted} not found", subject=Subject(noun, name))
    return [found, *(_end(seen, end) for end in ends_of(seen, subject))]


# --- units ------------------------------------------------------------------------------------------------


def _unit(tx: ModelTx, seen: Seen, unit: Unit, *, briefly: bool = False) -> Reason:
    """Return the reason of a unit.

    Args:
        briefly: True to run no statement for this unit: the last decision counts, and some commands that
            help are left out.
    """
    running = seen.running(tx, unit.machine)
    mine = next((row for row in running if row.unit == unit.name), None)
    item = seen.items.get(unit.machine or "")
    silent = trouble(tx, seen, unit.machine)
    stuck = silent or own_trouble(tx, seen, unit)
    # When work is due or the machine is in trouble, the last decision may be out of date, unless it runs.
    anew = not briefly and mine is None and (stuck is not None or seen.is_due(item))
    wanted = seen.decide(tx, unit, anew)
    found = decided(seen, unit, wanted)
    if briefly and mine is None and item is not None and (seen.is_due(item) or item.attempts):
        found = replace(found, doing="waiting", reason="its machine has work to do")
    if wanted is None and unit.machine is not None and stuck is None:
        why = _machine(tx, seen, unit.machine).reason or "its machine is not there yet"
        found = replace(found, reason=why)
    by = seen.hands_of(item, retried=bool(unit.retry_due))
    found = _attended(found, by)
    if stuck is not None:
        found = held_up(found, wanted, mine if silent else None, stuck, item)
    elif anew and found.unattended and wanted is not None and wanted.answer == "run":
        found = replace(found, doing="waiting", reason=f"to {found.doing}: {found.reason}")
    shown = mine or next((row for row in running if found.doing.startswith("run ")), None)
    if shown is not None and stuck is None:
        found = replace(found, running=_title(shown), since=shown.prepared)
        found = replace(found, held_by=by.working if by else "")
    return replace(found, next=tuple(_unit_next(tx, seen, unit, found, None if briefly else wanted)))


def _attended(found: Reason, by: Hands | None) -> Reason:
    """Add the process that will work on an entity later, or that there is no such process."""
    if by is None:
        return found
    return replace(found, attended_by="" if by.working else by.waiting, unattended=by.none)


def _title(row: Operation) -> str:
    return f"{row.name} of {row.unit}" if row.unit else f"{row.name} on machine {row.machine}"


def _unit_next(tx: ModelTx, seen: Seen, unit: Unit, found: Reason, wanted: Wanted | None) -> Iterable[str]:
    """Yield the commands that help a unit."""
    agent = seen.status(tx, StatusKind.AGENT, unit.name)
    if SeriesStatus(unit.series).frozen:
        yield f"upgrade-machine {unit.machine} complete    when its base is upgraded"
    elif agent is not None and agent.status == Agent.ERROR:
        yield f"hooks {unit.name} --failed    shows what failed"
        yield f"debug-log --replay --include {unit.name}    shows what it printed"
        yield f"resolved {unit.name}    tries it again at once"
        yield f"resolved {unit.name} --no-retry    goes on without it"
    elif found.doing == UNDECIDED and unit.machine is not None:
        yield f"explain {unit.machine}    tells why its machine is not there yet"
    elif wanted is not None and wanted.waits_for == "storage":
        for row in storage_instances.of_unit(tx, unit.name):
            yield f"explain {row.storage}    tells what storage {row.storage} waits for"
    elif wanted is not None and wanted.waits_for == "core":
        rows = tx.rows("unit_lives_of_principal", principal=unit.name)
        names = sorted(row["name"] for row in rows)
        yield f"explain {' '.join(names)}    tells what they wait for"
    elif unit.life == Life.ALIVE or found.running or ends_of(seen, unit.name):
        pass
    elif ends := ended_with(tx, unit):
        yield f"remove-unit {ends} --force    ends it without its hooks, when it cannot"
    if found.since is not None and not found.running:
        yield f"explain {unit.machine}    tells what is known of its machine"


# --- applications -----------------------------------------------------------------------------------------


def _application(tx: ModelTx, seen: Seen, application: Application, most: int) -> Reason:
    reasons = _of_units(tx, seen, application.name, most)
    counts: dict[str, int] = {}
    for reason in reasons:
        counts[reason.doing] = counts.get(reason.doing, 0) + 1
    busy = [f"{reason.subject}: {reason.reason}" for reason in reasons if reason.doing not in _QUIET]
    if (left := len(busy) - most) > 0:
        busy[most:] = [f"{left} more units" if left > 1 else "1 more unit"]
    dues = [reason.due for reason in reasons if reason.due]
    doing = ", ".join(f"{count} {what}" for what, count in counts.items()) or "no units"
    return Reason(
        subject=application.name,
        doing=doing if application.life == Life.ALIVE else f"going away: {doing}",
        reason="; ".join(busy),
        due=min(dues) if dues else None,
        unattended=any(reason.unattended for reason in reasons),
        leader=leadership.holder(tx, application.name) or "",
        next=tuple(_application_next(seen, application, reasons)),
    )


def _of_units(tx: ModelTx, seen: Seen, application: str, most: int) -> list[Reason]:
    """Return the reasons of an application's units; after some that are not idle, the rest are brief."""
    found, left = [], most
    units = [unit for unit in seen.units.values() if unit.application == application]
    for unit in sorted(units, key=lambda unit: unit.number):
        found.append(_unit(tx, seen, unit, briefly=left <= 0))
        left -= found[-1].doing not in _QUIET
    return found


def _application_next(seen: Seen, application: Application, reasons: Sequence[Reason]) -> Iterable[str]:
    if application.subordinate and not reasons:
        yield f"integrate {application.name} <application>    puts its units beside those of a principal"
    elif not reasons and application.life == Life.ALIVE:
        yield f"add-unit {application.name}    adds a unit"
    stuck = [reason.subject for reason in reasons if reason.next]
    if stuck:
        yield f"explain {' '.join(stuck)}    tells how to go on with each"
    elif application.life != Life.ALIVE and not any(ends_of(seen, reason.subject) for reason in reasons):
        yield f"remove-application {application.name} --force    ends it without its hooks, when it cannot"


# --- machines ---------------------------------------------------------------------------------------------


def _machine(tx: ModelTx, seen: Seen, name: str) -> Reason:
    subject, machine = f"machine {name}", seen.machines.get(name)
    item = seen.items.get(name)
    found = _worked(seen, subject, item) if item else Reason(subject=subject, doing="at rest", reason="")
    if machine is None:
        return found
    running = seen.running(tx, name)
    status = seen.status(tx, StatusKind.INSTANCE, name)
    found = _resting(seen, machine, found)
    if not found.reason and not machine.instance_id:
        found = replace(found, reason="it is not started yet")
    if status is not None and status.status == InstanceStatus.PROVISIONING_ERROR:
        found = replace(found, reason=status.message or found.reason)
    if running:
        titles = ", ".join(map(_title, running))
        found = replace(found, running=titles, since=running[0].prepared)
    if (stuck := trouble(tx, seen, name)) is not None:
        problems = loads(item.noted) if item is not None and item.failed else ()
        # The problem of the work says what to do, too.
        why = next((str(problem) for problem in problems if problem.text == stuck.why), stuck.why)
        found = replace(found, running="", reason=why, since=stuck.since)
    return replace(found, next=tuple(_machine_next(seen, machine, found, status.status if status else "")))


def _resting(seen: Seen, machine: Machine, found: Reason) -> Reason:
    """Add the reason why an idle machine is checked again at its due time."""
    if machine.life != Life.ALIVE or not machine.instance_id or found.doing != "waiting":
        return found
    if found.reason or found.attempts:
        return found
    on_it = [unit for unit in seen.units.values() if unit.machine == machine.id]
    retried = [unit.name for unit in on_it if unit.retry_due and unit.retry_due == found.due]
    if retried:
        return replace(found, reason=f"a hook of {retried[0]} is tried again then")
    if any(unit.update_status_due and unit.update_status_due == found.due for unit in on_it):
        return replace(found, doing="at rest", reason=f"nothing to do until {UPDATE_STATUS}")
    return found


def _machine_next(seen: Seen, machine: Machine, found: Reason, status: str) -> Iterable[str]:
    if status == InstanceStatus.PROVISIONING_ERROR:
        yield f"retry-provisioning {machine.id}    tries to make it again"
    elif found.attempts and not (found.held_by or found.unattended or seen.is_elsewhere):
        yield "update-status    tries it again at once"
    if machine.life != Life.ALIVE:
        inside = [name for name in seen.machines if parent_machine(name) == machine.id]
        if inside:
            yield f"explain {' '.join(sorted(inside, key=natural_key))}    tells what its containers wait for"
        there = [unit.name for unit in seen.units.values() if unit.machine == machine.id]
        if there:
            yield f"explain {' '.join(sorted(there, key=natural_key))}    tells what its units wait for"
        if not machine.forced:
            yield f"remove-machine {machine.id} --force    removes it without contacting it"


# --- storage ----------------------------------------------------------------------------------------------


def _storage(tx: ModelTx, seen: Seen, instance: StorageInstance) -> Reason:
    """Return why storage is in its state: the step of its volume and filesystem."""
    doing, why, dues, attempts = "not made yet", [], list[datetime](), 0
    machine = ""
    for backing in storage_instances.backings(tx, instance):
        status = statuses.get_status(tx, storage_instances.KINDS[backing.kind], backing.id)
        if status is not None:
            doing = str(status.status)
            why += [f"{backing.kind} {backing.id}: {status.message}"] if status.message else []
        rows: list[Backing | BackingAttachment] = [backing, *storage_instances.hosts(tx, backing)]
        for row in rows:
            dues += [from_iso(row.due)] if row.due else []
            attempts = max(attempts, row.attempts)
            machine = row.machine or machine
    if instance.life != Life.ALIVE:
        doing = f"going away: {doing}"
    owner = f"of {instance.owner}" if instance.owner else "detached: no unit has it"
    found = Reason(
        subject=f"storage {instance.id}",
        doing=doing,
        reason="; ".join([owner, *why]),
        due=min(dues) if dues else None,
        attempts=attempts,
        unattended=bool(dues) and attempts > 0 and _storage_hands(seen, machine).none,
    )
    return replace(found, next=tuple(_storage_next(seen, instance, found, machine)))


def _storage_hands(seen: Seen, machine: str) -> Hands:
    """Return the process that works on storage: on its machine, or in the model's loop."""
    item = seen.items.get(machine) or _loop_item(seen, "storage")
    return seen.hands(item) if item is not None else Hands()


def _loop_item(seen: Seen, name: str) -> WorkItem | None:
    return next((item for item in seen.loops if item.key.endswith(f"/{name}")), None)


def _storage_next(seen: Seen, instance: StorageInstance, found: Reason, machine: str) -> Iterable[str]:
    if not instance.owner and instance.life == Life.ALIVE:
        yield f"attach-storage <unit> {instance.id}    gives it to a unit"
        yield f"remove-storage {instance.id}    destroys it"
    if machine in seen.items and (found.attempts or seen.items[machine].reason):
        yield f"explain {machine}    tells what its machine waits for"
    if found.attempts and not (found.unattended or seen.is_elsewhere):
        yield "update-status    tries it again at once"


# --- removals and the queue -------------------------------------------------------------------------------


def _end(seen: Seen, end: Cleanup) -> Reason:
    item = _loop_item(seen, "cleanup")
    return Reason(
        subject=forced_subject(end.kind, end.entity),
        doing="waiting to be removed",
        reason=end.reason,
        due=end.due,
        unattended=item is None or seen.hands(item).none,
    )


def _loop(seen: Seen, item: WorkItem) -> Reason:
    """Return why a loop of the model is due: the reason of its last wake, or what it usually does."""
    found = _worked(seen, "model", item)
    usual = _USUAL.get(item.key.rpartition("/")[2], "")
    if found.reason or found.held_by or found.attempts or not usual:
        return found
    return replace(found, doing="at rest", reason=f"{usual} next")


def _worked(seen: Seen, subject: str, item: WorkItem) -> Reason:
    by = seen.hands_of(item)
    worker = by.working if by is not None else ""
    found = Reason(
        subject=subject,
        doing=f"worked by {worker}" if worker else "waiting" if item.due else "at rest",
        reason=item.reason,
        due=item.due,
        attempts=item.attempts,
        held_by=worker,
    )
    return _attended(found, by)


def fields(reason: Reason) -> dict[str, object]:
    """Return the other fields of a reason that are not empty, by their names in JSON."""
    found = {
        "running": reason.running,
        "held-by": reason.held_by,
        "attended-by": reason.attended_by,
        "unattended": reason.unattended,
        "leader": reason.leader,
        "next": list(reason.next),
    }
    return {key: value for key, value in found.items() if value}
