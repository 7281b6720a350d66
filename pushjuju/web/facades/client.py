"""Client: the status of a model, and its watcher. Mirrors: juju apiserver/facades/client/client (3.6)"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypedDict

from pushjuju.core.errors import NotValid
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.basis.statuses import HistoryEntry
from pushjuju.services.entities.model import models
from pushjuju.services.views import application_documents
from pushjuju.services.views.listings import statuses
from pushjuju.services.views.status import document, status_filter, status_rows
from pushjuju.web import tags, times
from pushjuju.web.decoding import Count
from pushjuju.web.messages import Encoded
from pushjuju.web.registry import Facade, Needs, bulk, facade, method
from pushjuju.web.shapes import storage_details
from pushjuju.web.shapes.full_status import Kept, full_status
from pushjuju.web.shapes.models import AllWatcherId

FindToolsResult = TypedDict("FindToolsResult", {"list": list[Any]})

_STORAGE_SINCE = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryFilter:
    """Which history entries to return: the newest, those since a date, or those of the last nanoseconds."""

    size: Count = 0
    date: str | None = None
    delta: Count | None = None
    exclude: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryRequest:
    """The history of an entity, by Juju's name of the kind: `unit`, `juju-machine`."""

    history_kind: str = field(default="", metadata={"wire": "historyKind"})
    size: Count = 0
    filter: HistoryFilter = field(default_factory=HistoryFilter)
    tag: str = ""


_USUAL = 20  # entries of a history
_LONGEST_S = 100 * 365 * 86400.0


@facade("Client")
class Client(Facade):
    """The model of the connection."""

    @method(Needs.READ)
    async def full_status(self, patterns: list[str], *, include_storage: bool) -> Encoded:
        """Return the status of the model, or of the entities that match the patterns."""
        with_storage = include_storage and self.call.version >= _STORAGE_SINCE
        model, wanted = self.model, tuple(patterns)
        return await self.call.server.statuses.answer(
            (model, wanted, with_storage), lambda ctx: _status(ctx, model, wanted, with_storage=with_storage)
        )

    @method(Needs.READ)
    async def watch_all(self) -> AllWatcherId:
        """Begin to watch the model."""
        return {"watcher-id": await self.call.watchers.watch(self.model)}

    @bulk("requests", Needs.READ, empty={"history": {"statuses": []}})
    def status_history(self, item: HistoryRequest) -> dict[str, object]:
        """Return the status histories of entities."""
        if item.history_kind not in statuses.KINDS:
            raise NotValid(f'unknown status history kind "{item.history_kind}"')
        kinds, since = statuses.KINDS[item.history_kind], self._since(item.filter)
        limit = item.filter.size or item.size or (sys.maxsize if since else _USUAL)
        with self.ctx.read(self.model) as tx:
            own = models.get(tx).name
        name = own if item.history_kind == "model" else tags.name_of(item.tag)
        found = statuses.history_of(self.ctx, self.model, kinds, name, limit=limit, since=since)
        kept = [_entry(entry) for entry in found if entry.message not in item.filter.exclude]
        return {"history": {"statuses": kept}}

    def _since(self, wanted: HistoryFilter) -> datetime | None:
        if wanted.delta:
            return self.ctx.clock.now() - timedelta(seconds=min(wanted.delta / 1e9, _LONGEST_S))
        return times.read(wanted.date) if wanted.date else None

    @method(Needs.WRITE, until=7)
    def find_tools(self) -> FindToolsResult:
        """Return an empty list: models have no agents."""
        return {"list": []}


def _status(ctx: Context, model: str, patterns: Sequence[str], *, with_storage: bool) -> dict[str, object]:
    left = _filtered(ctx, model, patterns) if patterns else None
    kept = None if left is None else _kept(left)
    with ctx.read(model) as tx:
        found = models.get(tx)
        rows = status_rows.read(ctx, tx, found, str)
        if kept is not None:
            rows = status_rows.narrowed(tx, rows, kept.applications & rows.applications.keys(), kept.units)
        joined = status_rows.of_relations(tx)
        others = document.other_models(tx, rows, str)
        stored = document.storage(tx, str)
        exposed = application_documents.exposures(tx)
        versions = {row["unit"]: row["version"] for row in tx.rows("unit_versions")}
    status = full_status(rows, joined, others, exposed, versions, kept)
    if not with_storage:
        return status
    return {**status, **storage_details.every(stored if left is None else left.get("storage", {}))}


def _filtered(ctx: Context, model: str, patterns: Sequence[str]) -> Mapping[str, Any]:
    """Return the part of the model's document that matches the patterns."""
    with ctx.read(model) as tx:
        found = models.get(tx)
    left, _ = status_filter.filter_status(document.document(ctx, found, str, patterns), patterns)
    return left


def _entry(found: HistoryEntry) -> dict[str, object]:
    return {
        "status": found.status,
        "info": found.message,
        "data": dict(found.data),
        "since": times.text(found.since),
        "kind": found.kind,
        "version": "",
        "life": "",
    }


def _kept(left: Mapping[str, Any]) -> Kept:
    apps = left["applications"]
    return Kept(set(left["machines"]), set(apps), set(_names(apps)))


def _names(applications: Mapping[str, Any]) -> Iterator[str]:
    for app in applications.values():
        yield from app.get("units", {})
