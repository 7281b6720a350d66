"""The streams that tell open pages when their model has changed, as server-sent events."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping

from aiohttp import web

from pushjuju.services.entities.basis.context import Context
from pushjuju.services.views import entity_news
from pushjuju.web.api import Api
from pushjuju.web.subscriptions import Signal, Wanted
from pushjuju.web.watch.readings import sign

_ALIVE_S, _REST_S = 5.0, 0.25
_MOST_STREAMS, _MOST_OF_USER = 500, 50
_CHANGE = b"event: change\ndata:\n\n"
_UNBUFFERED = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}  # a proxy passes each event on at once


class Streams:
    """The streams of all browsers."""

    def __init__(self, api: Api, headers: Mapping[str, str]) -> None:
        self._api = api
        self._headers = headers
        self._open: dict[int, tuple[web.Request, str]] = {}

    async def answer(
        self, request: web.Request, user: str, model: str, may_follow: Callable[[], Awaitable[bool]]
    ) -> web.StreamResponse:
        """Say when a model has changed, at most four times a second.

        The query has the sign of the last change that the page has `seen`, and `writes` for pages that
        change with the log and with runs.

        Args:
            model: The UUID; empty for all models.
            may_follow: Returns False when the user's session or access has ended.
        """
        open_now = Counter(user for stream, user in self._open.values() if _is_connected(stream))
        if open_now.total() >= _MOST_STREAMS or open_now[user] >= _MOST_OF_USER:
            raise web.HTTPServiceUnavailable(text="too many streams")
        answer = web.StreamResponse(headers={**self._headers, **_UNBUFFERED})
        answer.content_type = "text/event-stream"
        try:
            await answer.prepare(request)
        except ConnectionResetError:
            return answer  # the browser has gone
        wanted = Wanted(facade="", model=model, read=sign, writes="writes" in request.query)
        signal = await self._api.hub.listen(wanted)
        self._open[id(request)] = (request, user)
        try:
            await self._tell(answer, signal, request.query.get("seen", ""), may_follow)
        except ConnectionResetError:
            pass  # the browser has gone
        finally:
            del self._open[id(request)]
            self._api.hub.unlisten(signal)
        return answer

    async def _tell(
        self, answer: web.StreamResponse, signal: Signal, seen: str, may_follow: Callable[[], Awaitable[bool]]
    ) -> None:
        """Write events until the stream must end."""
        signal.news.clear()
        model = signal.wanted.model
        knows = seen == await self._api.pool.run(lambda ctx: _sign(ctx, model))
        while not signal.stopped and await may_follow():
            if not knows:
                signal.news.clear()
                await answer.write(_CHANGE)
                await asyncio.sleep(_REST_S)
            await _wait(signal.news)
            if knows := not signal.news.is_set():
                await answer.write(b"event: alive\ndata:%d\n\n" % await self._api.pool.run(_seconds))


def _seconds(ctx: Context) -> int:
    """Return seconds since 1970 by the clock that the times of pages are from."""
    return int(ctx.clock.now().timestamp())


def _sign(ctx: Context, model: str) -> str:
    with ctx.store.read() as tx:
        return entity_news.sign(ctx, tx, model)


def _is_connected(stream: web.Request) -> bool:
    """Return False for a stream whose browser has gone, which the server notices at the next write."""
    return stream.transport is not None and not stream.transport.is_closing()


async def _wait(news: asyncio.Event) -> None:
    """Wait for news, at most until the stream must say that it is alive."""
    try:
        async with asyncio.timeout(_ALIVE_S):
            await news.wait()
    except TimeoutError:
        pass
