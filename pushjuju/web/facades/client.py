"""Client: the status of a model, and its watcher. Mirrors: juju apiserver/facades/client/client (3.6)"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from pushjuju.services.entities.model import models
from pushjuju.services.views.status import document, status_filter, status_rows
from pushjuju.web.registry import Facade, Needs, On, facade, method
from pushjuju.web.shapes import storage_details
from pushjuju.web.shapes.full_status import Kept, full_status
from pushjuju.web.shapes.models import AllWatcherId

FindToolsResult = TypedDict("FindToolsResult", {"list": list[Any]})

_STORAGE_SINCE = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusParams:
    """Which part of the status is wanted."""

    patterns: list[str] = field(default_factory=list)
    include_storage: bool = False


@facade("Client", versions=[6, 7, 8], on=On.MODEL)
class Client(Facade):
    """The model of the connection."""

    @method(Needs.READ)
    def full_status(self, params: StatusParams) -> dict[str, object]:
        """Return the status of the model, or of what the patterns name."""
        with self.ctx.read(self.model) as tx:
            found = models.get(tx)
            rows = status_rows.read(self.ctx, tx, found, str)
            joined = status_rows.of_relations(tx)
            others = document.other_models(tx, rows, str)
            stored = document.storage(tx, str)
        left = self._filtered(params.patterns) if params.patterns else None
        status = full_status(rows, joined, others, _kept(left) if left is not None else None)
        if not params.include_storage or self.call.version < _STORAGE_SINCE:
            return status
        return {**status, **storage_details.every(stored if left is None else left.get("storage", {}))}

    def _filtered(self, patterns: Sequence[str]) -> Mapping[str, Any]:
        """Return what patterns leave of the document of the model."""
        with self.ctx.read(self.model) as tx:
            found = models.get(tx)
        left, _ = status_filter.filter_status(document.document(self.ctx, found, str), patterns)
        return left

    @method(Needs.READ)
    async def watch_all(self) -> AllWatcherId:
        """Begin to watch the model."""
        return {"watcher-id": await self.call.watchers.watch(self.model)}

    @method(Needs.WRITE, until=7)
    def find_tools(self) -> FindToolsResult:
        """Return an empty list: models have no agents."""
        return {"list": []}


def _kept(left: Mapping[str, Any]) -> Kept:
    apps = left["applications"]
    return Kept(set(left["machines"]), set(apps), set(_names(apps)))


def _names(applications: Mapping[str, Any]) -> Iterator[str]:
    for app in applications.values():
        yield from app.get("units", {})
