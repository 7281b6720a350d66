"""A websocket that also ends when its client does not read."""

from __future__ import annotations

import asyncio

from aiohttp import web

from pushjuju.web import limits


class Socket(web.WebSocketResponse):
    """A websocket whose end does not depend on the client."""

    def __init__(self, largest: int, heartbeat: float | None = None) -> None:
        """Make a websocket.

        Args:
            largest: The most bytes of a client's message.
            heartbeat: Seconds between pings, or None without pings.
        """
        super().__init__(
            max_msg_size=largest, heartbeat=heartbeat, compress=False, timeout=limits.END_WITHIN_S
        )
        self._below: asyncio.Transport | None = None

    async def open(self, request: web.Request) -> None:
        """Accept the websocket that a request asks for."""
        self._below = request.transport
        await self.prepare(request)

    async def end(self, code: int, reason: str) -> None:
        """Close the websocket; cut the connection of a client that does not take the close frame in time."""
        try:
            async with asyncio.timeout(limits.END_WITHIN_S):
                await self.close(code=code, message=reason.encode())
        except ConnectionError:
            pass  # the client was faster
        except TimeoutError:
            if self._below is not None:
                self._below.abort()
