"""Listens for HTTP requests: limits of connections and headers, and the headers of every answer."""

from __future__ import annotations

import asyncio
import resource
import ssl
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from aiohttp import web

from pushjuju.web import limits
from pushjuju.web.pool import PEER

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
}
"""Of answers that are no pages, so that no browser shows what they have as a page."""
_LONGEST_LINE = 8 * 1024
_HANDSHAKE_S = 10.0
_WAITING = 512  # connections that wait to be accepted
_OTHER_FILES = 300  # files that are no connections: stores, uploads, programs

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Listener:
    """Accepts connections for an application."""

    def __init__(self, app: web.Application, headers: Mapping[str, str], *, end_within_s: float) -> None:
        """Make a listener that does not listen yet.

        Args:
            headers: The headers of every answer that does not have others of the same names.
            end_within_s: How long the end of the server waits for requests.
        """

        async def add(_request: web.Request, answer: web.StreamResponse) -> None:
            _complete(answer, headers)

        app.on_response_prepare.append(add)
        self._headers = headers
        self._runner = web.AppRunner(app, shutdown_timeout=end_within_s)
        self._servers: list[asyncio.Server] = []
        self._most_open = limits.MOST_OPEN

    async def start(self) -> None:
        """Prepare to listen; the process may have more files open from now on."""
        self._most_open = _open_files()
        await self._runner.setup()

    async def listen(self, host: str, port: int, tls: ssl.SSLContext | None = None) -> tuple[str, int]:
        """Listen at an address, and return it, with the port that was free for port 0.

        Raises:
            OSError: The server cannot listen there.
        """
        made = await asyncio.get_running_loop().create_server(
            self._connection, host, port, ssl=tls, backlog=_WAITING,
            ssl_handshake_timeout=_HANDSHAKE_S if tls else None,
        )  # fmt: skip
        self._servers.append(made)
        found: tuple[str, int] = made.sockets[0].getsockname()[:2]
        return found

    def _connection(self) -> asyncio.BaseProtocol:
        """Return the protocol of a new connection; one of too many connections ends at once."""
        server = self._runner.server
        assert server is not None, "it was set up"
        if len(server.connections) >= self._most_open:
            return _Full()
        return _Protocol(server, self._headers)

    def stop(self) -> None:
        """Accept no more connections."""
        for server in self._servers:
            server.close()

    async def close(self) -> None:
        """Accept no more connections, and end all connections."""
        self.stop()
        await self._runner.cleanup()


class _Protocol(web.RequestHandler):
    """A connection; errors about what is no HTTP have the headers of all answers, too."""

    __slots__ = ("_added",)

    def __init__(self, server: web.Server, headers: Mapping[str, str]) -> None:
        super().__init__(
            server, loop=asyncio.get_running_loop(), max_line_size=_LONGEST_LINE,
            max_field_size=limits.LARGEST_HEADERS, keepalive_timeout=limits.REQUEST_WITHIN_S,
            access_log=None,  # type: ignore[arg-type]  # no log: addresses have tokens
        )  # fmt: skip
        self._added = headers

    def handle_error(self, *args: Any, **more: Any) -> web.StreamResponse:
        """Answer what is no HTTP request."""
        answer = super().handle_error(*args, **more)
        _complete(answer, self._added)
        return answer


class _Full(asyncio.Protocol):
    """Refuses a connection."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport), "it reads and writes"
        transport.abort()


@web.middleware
async def note_peer(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Note the address of the client for the audit log."""
    PEER.set(request.remote or "")
    return await handler(request)


@web.middleware
async def small_headers(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse a request whose headers are too large together; aiohttp limits each header."""
    size = sum(len(name) + len(value) for name, value in request.raw_headers)
    if size > limits.LARGEST_HEADERS:
        raise web.HTTPRequestHeaderFieldsTooLarge(text="the headers are too large\n")
    return await handler(request)


def _complete(answer: web.StreamResponse, headers: Mapping[str, str]) -> None:
    for name, value in headers.items():
        answer.headers.setdefault(name, value)


def _open_files() -> int:
    """Let this process open as many files as it may, and return how many connections that leaves room for."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = limits.MOST_OPEN + _OTHER_FILES
    if soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return min(limits.MOST_OPEN, max(soft // 2, soft - _OTHER_FILES))
