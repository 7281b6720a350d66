"""The status history of an entity. Mirrors: juju cmd/juju/status/history.go (3.6)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from pushjuju.core.status import StatusKind
from pushjuju.services.entities.basis import statuses
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.basis.statuses import HistoryEntry

KINDS: Mapping[str, tuple[StatusKind, ...]] = {
    "unit": (StatusKind.WORKLOAD, StatusKind.AGENT),
    "workload": (StatusKind.WORKLOAD,),
    "juju-unit": (StatusKind.AGENT,),
    "machine": (StatusKind.INSTANCE,),
    "juju-machine": (StatusKind.MACHINE,),
    "container": (StatusKind.INSTANCE,),
    "juju-container": (StatusKind.MACHINE,),
    "application": (StatusKind.APPLICATION,),
    "saas": (StatusKind.APPLICATION,),
    "model": (StatusKind.MODEL,),
}
"""Juju's names of histories: the kinds of statuses in each."""


def history_of(
    ctx: Context, model: str, kinds: Sequence[StatusKind], entity: str, *, limit: int, since: datetime | None
) -> list[HistoryEntry]:
    """Return the newest entries of one or two kinds of status of an entity, oldest first."""
    with ctx.read(model) as tx:
        return statuses.history(tx, kinds[0], entity, also=kinds[-1], limit=limit, since=since)
