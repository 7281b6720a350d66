"""A websocket besides the API's connections: the user who reads from it, and frames that are sent in time."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from aiohttp import WSCloseCode, web

from pushjuju.web import limits
from pushjuju.web.endpoints.transfers import require_room
from pushjuju.web.transport.sockets import Socket

if TYPE_CHECKING:
    from pushjuju.web.api import Api
    from pushjuju.web.login import LoggedIn


class Stream:
    """One websocket."""

    def __init__(self, api: Api, socket: Socket, peer: str) -> None:
        self.api = api
        self.peer = peer
        self.host = ""  # the host and port of this server, as the client calls them; of no use for a stream
        self.entered: LoggedIn | None = None  # the user, after the check of name and password
        self.what = ""  # the command that the client runs, which is unknown for a stream
        self.socket = socket

    async def serve(self, request: web.Request) -> None:
        """Send and read frames until one of the two sides ends the websocket."""
        raise NotImplementedError

    async def quiet(self) -> None:
        """Return at once: a stream changes nothing."""

    def lower(self, level: str) -> None:
        """Note a lower access to the controller; a stream shows only what its model permits."""
        assert self.entered is not None, "the user had a higher access"
        self.entered = replace(self.entered, controller_access=level)

    async def close(self, code: int = WSCloseCode.OK, reason: str = "") -> None:
        """End the websocket."""
        await self.socket.end(code, reason)

    async def send(self, text: str) -> None:
        """Send a frame; close the connection of a client that does not read in time."""
        try:
            async with asyncio.timeout(limits.SEND_WITHIN_S):
                await self.socket.send_str(text)
        except TimeoutError:
            await self.close(WSCloseCode.INTERNAL_ERROR, "the client reads too slowly")
        except ConnectionError:
            pass  # `serve` sees the end of the connection, too


async def opened(api: Api, request: web.Request, largest: int) -> Socket:
    """Accept a websocket that is pinged as Juju does: each 60 s, with an answer within 30 s.

    Args:
        largest: The most bytes of a client's message.
    """
    await require_room(api, request)
    socket = Socket(largest, limits.PING_S)
    await socket.open(request)
    return socket


async def served(stream: Stream, request: web.Request) -> web.WebSocketResponse:
    """Serve a websocket, which is one of the server's connections until it ends."""
    stream.api.connections.add(stream)
    try:
        await stream.serve(request)
    finally:
        stream.api.connections.discard(stream)
    return stream.socket
