"""Counts the requests of a server for metrics, by their routes."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable

from aiohttp import web

from pushjuju.services.entities.basis.tally import bound_of
from pushjuju.services.views.metrics.reading import Sample, histogram

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


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
