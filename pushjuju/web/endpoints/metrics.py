"""HTTP endpoint of metrics, for Prometheus.

Superusers and readers of the controller's own model may read the path, as Juju's `/introspection/metrics`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from aiohttp import web

from pushjuju.core.errors import PushjujuError
from pushjuju.services.entities.model import models
from pushjuju.services.views.metrics import exposition
from pushjuju.web.call import reach
from pushjuju.web.endpoints.transfers import Transfers, refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pushjuju.services.entities.basis.context import Context
    from pushjuju.services.views.metrics.reading import Sample
    from pushjuju.web.endpoints.traffic import Traffic
    from pushjuju.web.errors import Error


class Metrics:
    """Answers Prometheus."""

    def __init__(self, transfers: Transfers, traffic: Traffic) -> None:
        self._transfers = transfers
        self._traffic = traffic

    def routes(self) -> list[web.RouteDef]:
        """Return the path of metrics."""
        return [web.get("/metrics", self._get)]

    async def _get(self, request: web.Request) -> web.Response:
        try:
            entered = await self._transfers.enter(request)
            per_unit = request.query.get("per-unit") == "true"
            is_open = exposition.wants_open_metrics(request.headers.get("Accept", ""))
            read = partial(_read, self._traffic.samples(), per_unit=per_unit, open_metrics=is_open)
            text = await self._transfers.run(entered, read)
        except PushjujuError as error:
            return refusal(error, _body)
        kind = exposition.content_type(open_metrics=is_open)
        return web.Response(body=text.encode(), headers={"Content-Type": kind})


def _read(more: Sequence[Sample], ctx: Context, *, per_unit: bool, open_metrics: bool) -> str:
    reach(ctx, models.own(ctx).uuid)
    return exposition.text(ctx, more, per_unit=per_unit, open_metrics=open_metrics)


def _body(found: Error) -> Error:
    return found
