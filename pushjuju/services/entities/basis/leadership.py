"""Elects the leader of an application. Mirrors: juju worker/lease, core/leadership (3.6).

The first unit that is ready gets the lease, and keeps it until it is removed or its machine is unreachable.
"""

from __future__ import annotations

from pushjuju.core import limits
from pushjuju.core.errors import NotPermitted, NotValid
from pushjuju.services.entities.basis import wake
from pushjuju.store.rows.records import Machine, Unit
from pushjuju.store.tx import ModelTx

LEASE_S = 60.0  # how long an unreachable leader keeps its lease, as in Juju


def holder(tx: ModelTx, application: str) -> str | None:
    """Return the name of the leader unit, or None."""
    found = tx.scalar("lease_get", application=application)
    return str(found) if found else None


def claim(tx: ModelTx, unit: Unit) -> bool:
    """Make a unit the leader when no unit leads or the leader is lost; return True when the unit leads."""
    present = holder(tx, unit.application)
    if present is not None and (present == unit.name or not is_lost(tx, present)):
        return present == unit.name
    if present is not None:
        tx.run("lease_revoke", application=unit.application, holder=present)
    tx.run("lease_take", application=unit.application, holder=unit.name, granted=tx.now)
    return holder(tx, unit.application) == unit.name


def is_lost(tx: ModelTx, name: str) -> bool:
    """Return True when the leader's machine could not be reached for longer than the lease.

    Only failed contacts count, so no leadership expires while no process works on the model.
    """
    place = tx.row("unit_place", name=name)  # not the whole row, which each hook of the leader changes
    machine = tx.find(Machine, "machine_get", id=place["machine"]) if place else None
    if place is None or machine is None or machine.unreachable_since is None or machine.last_failed is None:
        return place is None
    silence = machine.last_failed - machine.unreachable_since
    return silence.total_seconds() > LEASE_S and not _is_pinned(tx, place["application"])


def _is_pinned(tx: ModelTx, application: str) -> bool:
    """Return True when the leader must stay, as a machine of the application is upgraded to another base."""
    return bool(tx.scalar("application_in_upgrade", application=application))


def revoke(tx: ModelTx, unit: Unit) -> None:
    """End the leadership of a removed unit, and wake the other units, which claim the leadership."""
    if tx.run("lease_revoke", application=unit.application, holder=unit.name):
        wake.application(tx, unit.application, "the leader was removed")


def followers(tx: ModelTx, unit: Unit) -> list[Unit]:
    """Return the other units of an application."""
    every = tx.list(Unit, "unit_of_application", application=unit.application)
    return [other for other in every if other.name != unit.name]


def settings(tx: ModelTx, application: str) -> dict[str, str]:
    """Return the leader settings of an application."""
    rows = tx.rows("leader_setting_list", application=application)
    return {row["key"]: row["value"] for row in rows}


def set_settings(tx: ModelTx, unit: Unit, changes: dict[str, str]) -> None:
    """Merge leader settings; an empty value deletes its key."""
    if holder(tx, unit.application) != unit.name:
        raise NotPermitted("cannot write leadership settings: cannot write settings: not the leader")
    present = settings(tx, unit.application)
    wanted = {key: value for key, value in {**present, **changes}.items() if value}
    if wanted == present:
        return
    if sum(len(key.encode()) + len(value.encode()) for key, value in wanted.items()) > limits.BAG:
        raise NotValid(f"cannot write leadership settings: max allowed size ({limits.BAG}) exceeded")
    for key in present.keys() - wanted.keys():
        tx.run("leader_setting_delete", application=unit.application, key=key)
    for key, value in wanted.items():
        tx.run("leader_setting_set", application=unit.application, key=key, value=value)
    tx.run("leader_settings_bump", application=unit.application)
    for other in followers(tx, unit):
        wake.unit(tx, other, "leader settings changed")
