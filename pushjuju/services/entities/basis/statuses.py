"""Statuses and their history. Mirrors: juju state/status.go (3.6)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from pushjuju.core.errors import NotFound
from pushjuju.core.status import Agent, StatusInfo, StatusKind, Workload
from pushjuju.core.values import dataclass
from pushjuju.portable.jsontext import compact
from pushjuju.services.entities.basis import notices
from pushjuju.store.rows.records import Status
from pushjuju.store.tx import ModelTx, Questions


def set_status(
    tx: ModelTx,
    kind: StatusKind,
    entity: str,
    status: str,
    message: str = "",
    *,
    now: datetime | None = None,
    data: Mapping[str, Any] | None = None,
) -> None:
    """Set a status; a status equal to the newest entry of the history only gets its time.

    Args:
        now: The time since when the status holds, or None for the time of the transaction.
    """
    row: dict[str, Any] = {
        "model": tx.model,
        "kind": str(kind),
        "entity": entity,
        "status": str(status),
        "message": message,
        "data": compact(dict(data)) if data else "{}",
        "since": now or tx.now,
    }
    present = tx.find(Status, "status_get", kind=str(kind), entity=entity)
    same = present is not None and (present.status, present.message) == (row["status"], message)
    if present is not None and same and compact(present.data) == row["data"]:
        newest = tx.scalar("history_newest", kind=str(kind), entity=entity)
        tx.run("history_move", id=newest, entity=entity, since=row["since"])
    else:
        tx.run("history_add", **row)
    tx.run("status_set", **row)
    written = Status(**{**row, "data": json.loads(row["data"]) if data else {}})
    tx.know(Status, "status_get", written, kind=str(kind), entity=entity)
    if not same and kind in (StatusKind.AGENT, StatusKind.WORKLOAD):
        notices.of_status(tx, kind, entity, present.status if present else "", row["status"], message)


def questions(unit: str) -> Questions:
    """Yield what `get_status` asks the store about a unit, for `Tx.ahead`."""
    for kind in (StatusKind.WORKLOAD, StatusKind.AGENT):
        yield "status_get", {"kind": kind, "entity": unit}


def not_before(tx: ModelTx, unit: str, moment: datetime) -> datetime:
    """Return a moment, or the time of a unit's newest status when later, so that histories stay sorted."""
    known = (get_status(tx, kind, unit) for kind in (StatusKind.WORKLOAD, StatusKind.AGENT))
    return max([moment, *(status.since for status in known if status is not None and status.since)])


def set_agent_status(
    tx: ModelTx,
    unit: str,
    status: Agent,
    message: str = "",
    *,
    now: datetime,
    data: Mapping[str, Any] | None = None,
) -> bool:
    """Set a unit's agent status; an equal status keeps its `since`. Return True when the status changed."""
    told = StatusInfo(status=status, message=message, data=data or {})
    return set_once(tx, StatusKind.AGENT, unit, told, now=now)


def set_once(
    tx: ModelTx, kind: StatusKind, entity: str, told: StatusInfo, *, now: datetime | None = None
) -> bool:
    """Set a status and return True; an equal status keeps its `since`, and False is returned."""
    present = get_status(tx, kind, entity)
    if present and (present.status, present.message) == (str(told.status), told.message):
        return False
    set_status(tx, kind, entity, told.status, told.message, now=now, data=told.data)
    return True


def get_status(tx: ModelTx, kind: StatusKind, entity: str) -> StatusInfo | None:
    """Return the present status of an entity, or None when no status was ever set."""
    found = tx.find(Status, "status_get", kind=str(kind), entity=entity)
    return info(found) if found else None


def workloads(tx: ModelTx, application: str) -> dict[str, StatusInfo]:
    """Return the workload statuses of an application's units: unit -> status."""
    found = tx.list(Status, "status_of_units", application=application)
    return {item.entity: info(item) for item in found}


def info(record: Status) -> StatusInfo:
    """Return a status row as a value."""
    return StatusInfo(status=record.status, message=record.message, data=record.data, since=record.since)


def forget(tx: ModelTx, entity: str, kinds: Iterable[StatusKind]) -> None:
    """Delete the statuses of a removed entity, with their history."""
    for kind in kinds:
        tx.run("status_delete", entity=entity, kind=str(kind))
        tx.run("history_delete", entity=entity, kind=str(kind))


def shown_unit(workload: StatusInfo, agent: StatusInfo) -> tuple[StatusInfo, StatusInfo]:
    """Return (workload, agent) as users see them: an agent's error is shown as the workload's status.

    Mirrors: juju apiserver/common/unitstatus.go (3.6)
    """
    if agent.status == Agent.ERROR:
        return agent, StatusInfo(status=Agent.IDLE, since=agent.since)
    if agent.status == Agent.IDLE and agent.message:  # the message says what a charm upgrade waits for
        waits = StatusInfo(status=Workload.WAITING, message=agent.message, since=agent.since)
        return waits, StatusInfo(status=Agent.IDLE, since=agent.since)
    return workload, agent


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """One line of a status history."""

    kind: str
    status: str
    message: str
    data: Mapping[str, Any]
    since: datetime


def history(
    tx: ModelTx,
    kind: StatusKind,
    entity: str,
    *,
    also: StatusKind | None = None,
    limit: int = 20,
    since: datetime | None = None,
) -> list[HistoryEntry]:
    """Return the newest entries of a history, oldest first, or raise NotFound when it is empty.

    Args:
        also: A second kind of status to include, such as a unit's agent beside its workload.
        since: The time before which entries are left out, or None.
    """
    found = tx.list(
        HistoryEntry,
        "history_list",
        entity=entity,
        kind=str(kind),
        other=str(also or kind),
        limit=limit,
        since=since or "",
    )
    if not found:
        raise NotFound("no status history available")
    return found
