"""The status history of an entity. Mirrors: juju cmd/juju/status/history.go (3.6)"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pushjuju.core.status import StatusKind
from pushjuju.services.entities.basis import statuses
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.basis.statuses import HistoryEntry


def history_of(
    ctx: Context,
    model: str,
    kinds: Sequence[StatusKind],
    entity: str,
    *,
    limit: int,
    since: datetime | None,
) -> list[HistoryEntry]:
    """Return the newest entries of one or two kinds of status of an entity, oldest first."""
    with ctx.read(model) as tx:
        return statuses.history(tx, kinds[0], entity, also=kinds[-1], limit=limit, since=since)
