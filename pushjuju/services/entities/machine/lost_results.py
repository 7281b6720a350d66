"""Hooks that machines have run, and whose results the store lacks: they do not run again unasked.

A store lacks its latest commits after the restore of an older copy, and after a standby server of PostgreSQL
has taken over that had not received them. Machines remember which hooks they have run. Each machine is asked
at its next contact; a unit that is about to run such a hook again goes into error instead, until `resolved`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Container, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from pushjuju.core.names import unit_tag
from pushjuju.core.status import Agent, StatusKind
from pushjuju.core.values import dataclass
from pushjuju.portable.durations import parse_duration
from pushjuju.services.entities.basis import logs, statuses
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import model_config
from pushjuju.store.queue import latest_moment
from pushjuju.store.rows.records import Machine, Operation, Unit
from pushjuju.store.tx import ModelTx, Tx

if TYPE_CHECKING:
    from pushjuju.portable.frames import Recalled

LOST = "the store has lost the result of this operation, which has run"
_LOGGER = "pushjuju.store"
_HARMLESS = "update-status"  # may run twice
_STANDBY_LACKS = timedelta(hours=1)  # at the least
_SLACK_S = 60.0
_MOST = 2000  # operations of a machine; the machine keeps 1000
_MOST_SHOWN = 20  # names in a line of the log
_NOTHING: Mapping[str, Any] = {"shown": "", "names": []}


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What the store knows about commits that it lacks."""

    number: int = 0  # how often the store has lost commits
    line: int = 0  # the history of writes of the server, as a number; 0 if none is known
    since: int = 0  # commits from this moment on may be missing, as milliseconds
    restored: int = 0  # 1 when a copy was restored, which has nothing of what came later


def history(tx: Tx) -> History:
    """Return what the store knows about commits that it lacks."""
    return History(**{row["name"]: row["next"] for row in tx.rows("lost_history")})


def _set(tx: Tx, **numbers: int) -> None:
    for name, number in numbers.items():
        tx.run("sequence_forget", scope="", name=f"history-{name}")
        tx.run("sequence_set", scope="", name=f"history-{name}", number=number)


def mark_restored(tx: Tx, now: datetime) -> None:
    """Note in a copy, before it is restored, that all later commits will be missing."""
    since = latest_moment(tx) or datetime.fromtimestamp(0, UTC)
    _lack(tx, now, line=0, since=_milliseconds(since), restored=1)


def _lack(tx: Tx, now: datetime, **numbers: int) -> None:
    """Note that commits are missing, and let every machine be asked soon."""
    _set(tx, number=history(tx).number + 1, **numbers)
    tx.run("lost_look")
    tx.run("lost_ask", now=now)


def _today(ctx: Context) -> History:
    """Return the history; note that another server has taken over, which may lack commits."""
    with ctx.store.read() as tx:
        found = history(tx)
    line = int(hashlib.sha256(ctx.store.line.encode()).hexdigest()[:12], 16) if ctx.store.line else 0
    if not line or line == found.line:
        return found
    with ctx.store.write() as tx:
        found = history(tx)
        if found.line and line != found.line:
            now = ctx.clock.now()
            since = min(latest_moment(tx) or now, now - _STANDBY_LACKS)
            _lack(tx, now, since=_milliseconds(since), restored=0)
        _set(tx, line=line)
        return history(tx)


def seconds(ctx: Context, machine: Machine) -> float | None:
    """Return of how many seconds a machine must tell what it has run; None when nothing is missing."""
    found = _today(ctx)
    if machine.history == found.number:
        return None
    passed = (_milliseconds(ctx.clock.now()) - found.since) / 1000
    if not found.restored:  # the store has deleted older operations because of their age
        with ctx.read(machine.model) as tx:
            kept = parse_duration(str(model_config.get(tx, "max-status-history-age")))
        passed = min(passed, kept - 2 * _SLACK_S)
    return max(passed, 0.0) + _SLACK_S


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def note(ctx: Context, machine: Machine, recalled: Sequence[Recalled]) -> None:
    """Record which hooks a machine has run that the store does not know."""
    with ctx.write(machine.model) as tx:
        units = {seat.name for seat in machines.seats_on(tx, machine.id)}
        mine = [item for item in recalled[-_MOST:] if item["unit"] in units and item["name"] != _HARMLESS]
        new: dict[str, list[str]] = {}
        for item in mine:
            if tx.find(Operation, "operation_get", id=item["id"]) is None:
                new.setdefault(item["unit"], []).append(item["name"])
        lost = dict(machines.get(tx, machine.id).lost)
        for unit, names in new.items():
            entry = lost.get(unit, _NOTHING)
            lost[unit] = {**entry, "names": [*entry["names"], *names]}
            text = f"the store has lost the results of operations that have run: {_listed(names)}"
            logs.append(tx, unit_tag(unit), "WARNING", _LOGGER, text, now=tx.now)
        number = history(tx).number
        tx.run("machine_set_history", id=machine.id, history=number, lost=json.dumps(lost))


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_SHOWN
    return ", ".join(names[:_MOST_SHOWN]) + (f" and {more} more" if more > 0 else "")


# --- until `resolved` -------------------------------------------------------------------------------------


def is_lost(machine: Machine, unit: str, name: str) -> bool:
    """Return True when a unit has run an operation of this name, and the store has lost the result."""
    entry = machine.lost.get(unit)
    return entry is not None and (name == entry["shown"] or name in entry["names"])


def is_shown(machine: Machine, unit: str) -> bool:
    """Return True when a unit is in error because a result was lost, until `resolved`."""
    entry = machine.lost.get(unit)
    return entry is not None and bool(entry["shown"])


def show(tx: ModelTx, machine: str, unit: str, name: str, *, again: bool) -> None:
    """Record that a user learns of a lost result.

    Args:
        again: False when the operation is not repeated, and nothing waits for `resolved`.
    """

    def shown(entry: dict[str, Any]) -> dict[str, Any]:
        rest = list(entry["names"])
        if name in rest and name != entry["shown"]:
            rest.remove(name)
        return {"shown": name if again else "", "names": rest}

    _change(tx, machine, unit, shown)


def excuse(tx: ModelTx, unit: Unit, *, retry: bool) -> None:
    """Let a unit run the hook whose result was lost, or pass over it, as a user has decided."""

    def excused(entry: dict[str, Any]) -> dict[str, Any]:
        rest = [name for name in entry["names"] if not (retry and name == entry["shown"])]
        return {"shown": "", "names": rest}

    if unit.machine:
        _change(tx, unit.machine, unit.name, excused)


def forget(ctx: Context, machine: Machine, *, busy: Container[str]) -> None:
    """Forget the lost results of units other than `busy`: what these run from now on has new causes."""
    with ctx.write(machine.model) as tx:
        for unit, entry in machines.get(tx, machine.id).lost.items():
            agent = statuses.get_status(tx, StatusKind.AGENT, unit)
            waits = unit in busy or (agent is not None and agent.status == Agent.ERROR)
            if not (waits or entry["shown"]):
                _change(tx, machine.id, unit, lambda _: dict(_NOTHING))


def _change(tx: ModelTx, machine: str, unit: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    found = tx.find(Machine, "machine_get", id=machine)
    if found is None:
        return
    entry = change(dict(found.lost.get(unit, _NOTHING)))
    lost = {name: each for name, each in found.lost.items() if name != unit}
    if entry != _NOTHING:
        lost[unit] = entry
    if lost != found.lost:
        tx.run("machine_set_history", id=machine, history=found.history, lost=json.dumps(lost))
