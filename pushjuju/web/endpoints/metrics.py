"""HTTP endpoint of metrics, for Prometheus.

Superusers and readers of the controller's own model may read the path, as Juju's `/introspection/metrics`,
with a password or with a token of `pushjuju metrics token`, which opens no other path.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from aiohttp import web

from pushjuju.services.entities.basis.tally import bound_of
from pushjuju.services.entities.model import models
from pushjuju.services.requests.user import tokens
from pushjuju.services.views.metrics import exposition
from pushjuju.services.views.metrics.reading import Sample, histogram
from pushjuju.web import errors
from pushjuju.web.call import reach
from pushjuju.web.endpoints.transfers import Handler, Transfers, refusing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pushjuju.services.entities.basis.context import Context


class Metrics:
    """Answers Prometheus."""

    def __init__(self, transfers: Transfers, traffic: Traffic) -> None:
        self._transfers = transfers
        self._traffic = traffic

    def routes(self) -> list[web.RouteDef]:
        """Return the path of metrics."""
        return [web.get("/metrics", refusing(self._get, dict))]

    async def _get(self, request: web.Request) -> web.Response:
        user = await self._user(request)
        per_unit = request.query.get("per-unit") == "true"
        is_open = exposition.wants_open_metrics(request.headers.get("Accept", ""))
        read = partial(_read, self._traffic.samples(), per_unit=per_unit, open_metrics=is_open)
        text = await self._transfers.api.pool.run(lambda ctx: read(replace(ctx, user=user)))
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


class Traffic:
    """What a server has answered since it began."""

    def __init__(self) -> None:
        self._answers: Counter[tuple[str, str]] = Counter()
        self._durations: dict[str, Counter[int]] = defaultdict(Counter)
        self._seconds: Counter[str] = Counter()
        self._streams = 0

    @web.middleware
    async def count(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answer a request, and count the request by its route, whose parts that vary have no values."""
        resource = request.match_info.route.resource
        route = resource.canonical if resource is not None else "none"
        is_stream = "Upgrade" in request.headers or "event-stream" in request.headers.get("Accept", "")
        begun, code = time.monotonic(), "500"
        self._streams += is_stream
        try:
            answer = await handler(request)
            code = str(answer.status)
            return answer
        except web.HTTPException as error:
            code = str(error.status)
            raise
        finally:
            self._streams -= is_stream
            self._answers[route, code] += 1
            if not is_stream:
                self._note_duration(route, time.monotonic() - begun)

    def _note_duration(self, route: str, seconds: float) -> None:
        self._durations[route][bound_of(int(seconds * 1000))] += 1
        self._seconds[route] += seconds  # type: ignore[assignment]

    def samples(self) -> list[Sample]:
        """Return the metrics of the server."""
        found = [Sample("http_requests_total", labels, number) for labels, number in self._answers.items()]
        for route, counts in self._durations.items():
            found += histogram("http_request_duration_seconds", (route,), counts, self._seconds[route])
        return [*found, Sample("http_streams", (), self._streams)]
