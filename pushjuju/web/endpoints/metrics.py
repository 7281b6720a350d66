"""HTTP endpoint of metrics, for Prometheus.

Superusers and readers of the controller's own model may read the path, as Juju's `/introspection/metrics`,
with a password or with a token of `pushjuju metrics token`, which opens no other path.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from aiohttp import web

from pushjuju.core.errors import PushjujuError
from pushjuju.services.entities.model import models
from pushjuju.services.requests.user import tokens
from pushjuju.services.views.metrics import exposition
from pushjuju.web import errors
from pushjuju.web.call import reach
from pushjuju.web.endpoints.transfers import Transfers, refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pushjuju.services.entities.basis.context import Context
    from pushjuju.services.views.metrics.reading import Sample
    from pushjuju.web.endpoints.traffic import Traffic


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
            user = await self._user(request)
            per_unit = request.query.get("per-unit") == "true"
            is_open = exposition.wants_open_metrics(request.headers.get("Accept", ""))
            read = partial(_read, self._traffic.samples(), per_unit=per_unit, open_metrics=is_open)
            text = await self._transfers.api.pool.run(lambda ctx: read(replace(ctx, user=user)))
        except PushjujuError as error:
            return refusal(error, dict)
        kind = exposition.content_type(open_metrics=is_open)
        return web.Response(body=text.encode(), headers={"Content-Type": kind})

    async def _user(self, request: web.Request) -> str:
        """Return the user of a bearer token, of a name and password, or of a macaroon.

        Raises:
            ApiError: The token, or the name or password, is wrong.
        """
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() != "bearer":
            return (await self._transfers.enter(request)).user
        found = await self._transfers.api.pool.run(lambda ctx: tokens.metrics_reader(ctx, token.strip()))
        if not found:
            raise errors.ApiError("invalid token", errors.UNAUTHORIZED)
        return found


def _read(more: Sequence[Sample], ctx: Context, *, per_unit: bool, open_metrics: bool) -> str:
    reach(ctx, models.own(ctx).uuid)
    return exposition.text(ctx, more, per_unit=per_unit, open_metrics=open_metrics)
