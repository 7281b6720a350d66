"""Pages that many browsers show: when the model changes, the page is made once for all that ask anew."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Awaitable, Callable, Hashable

from aiohttp import web

LIVE = "X-Live"
"""The header of requests that pages make by themselves, to stay up to date."""

_FOR_S = 1.0  # how long a page serves others; times in it are that old at most
_MOST = 32


class Shared:
    """The packed texts of pages that were made a moment ago."""

    def __init__(self) -> None:
        self._made: dict[Hashable, tuple[float, asyncio.Task[bytes]]] = {}

    async def get(self, key: Hashable, make: Callable[[], Awaitable[bytes]]) -> bytes:
        """Return what `make` returns; equal requests at the same time wait for one call.

        Args:
            key: All that the page depends on: address, user, rights, and the state of the model.
        """
        now = asyncio.get_running_loop().time()
        self._made = {other: item for other, item in self._made.items() if item[0] > now}
        if key not in self._made:
            if len(self._made) >= _MOST:
                del self._made[next(iter(self._made))]
            self._made[key] = (now + _FOR_S, asyncio.ensure_future(make()))
        try:
            return await asyncio.shield(self._made[key][1])
        except Exception:
            self._made.pop(key, None)  # the next request tries again
            raise


def may_share(request: web.Request) -> bool:
    """Return True for a request of a page of a model that a page makes by itself: it has no use for forms."""
    packed = "gzip" in request.headers.get("Accept-Encoding", "")
    is_file = "format" in request.query
    return LIVE in request.headers and packed and not is_file and "model" in request.match_info


def packed(text: str) -> bytes:
    """Return the text of a page as it is sent."""
    return gzip.compress(text.encode(), mtime=0)


def answer(body: bytes) -> web.Response:
    """Return the answer with the packed text of a page."""
    headers = {"Vary": "Accept", "Content-Encoding": "gzip"}
    return web.Response(body=body, content_type="text/html", charset="utf-8", headers=headers)
