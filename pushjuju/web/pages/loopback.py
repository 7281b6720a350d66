"""The server of `pushjuju dashboard`: pages without TLS on a loopback address of this computer."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from dataclasses import replace

from aiohttp import web

from pushjuju.services.entities.basis.context import Context, open_context
from pushjuju.services.entities.machine import machine_work
from pushjuju.web import login
from pushjuju.web.api import Api
from pushjuju.web.pages.addresses import ROOT
from pushjuju.web.pages.site import Site
from pushjuju.web.pool import Pool
from pushjuju.web.transport.listening import Listener, note_peer, small_headers

_END_S = 2.0
_THREADS = 2  # each keeps a store and what its pages needed; the interpreter runs one at a time


def address_of(controller: str) -> str:
    """Return the loopback address of a controller's dashboard, from its UUID.

    A browser sends a cookie to all ports of an address: on Linux each controller has its own address.
    """
    if sys.platform != "linux":
        return "127.0.0.1"
    parts = hashlib.sha256(f"dashboard {controller}".encode()).digest()[:3]
    return "127." + ".".join(str(part % 254 + 1) for part in parts)


class Loopback:
    """The dashboard of one controller on this computer."""

    def __init__(
        self,
        ctx: Context,
        host: str = "",
        port: int = 0,
        *,
        work: Callable[[], None] = lambda: None,
        read_only: bool = False,
    ) -> None:
        """Prepare the server.

        Args:
            work: Called after each change, to wake the background work.
            read_only: True when no page changes anything.
            host: The address to listen at; empty for the controller's own.
            port: 0 stands for any free port.
        """
        uuid = str(ctx.controller.settings().get("uuid", ""))
        self._ctx = ctx
        self._host, self._port = host or address_of(uuid), port
        self._pool = Pool(_opener(ctx), threads=_THREADS)
        self._api = Api(ctx, self._pool, work)
        self._site = Site(self._api, lambda: (self._host,), secure=False, read_only=read_only)
        self._listener: Listener | None = None

    async def start(self) -> None:
        """Listen, and serve pages; raise OSError when the server cannot listen at the address."""
        made = web.Application(client_max_size=0, middlewares=[note_peer, self._site.guarded, small_headers])
        made.add_subapp(ROOT.rstrip("/"), self._site.application())
        self._listener = Listener(made, self._site.headers, end_within_s=_END_S)
        await self._listener.start()
        self._host, self._port = await self._listener.listen(self._host, self._port)

    @property
    def address(self) -> tuple[str, int]:
        """The host and port at which the server listens."""
        return self._host, self._port

    async def link(self, user: str) -> str:
        """Return a link that logs a user in once, within two minutes.

        Raises:
            ApiError: The user does not exist or has no access to the controller.
        """
        entered = replace(await self._pool.run(lambda ctx: login.enter(ctx, user)), proved=False)
        return f"{self.root}enter?token={self._site.links.make(entered)}"

    @property
    def root(self) -> str:
        """The address of the first page."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._port}{ROOT}"

    async def is_work_left(self) -> bool:
        """Return True when work of the controller is due, and no process does it."""
        return await self._pool.run(machine_work.is_any_left)

    async def close(self) -> None:
        """End all streams, and stop listening."""
        await self._api.close()
        if self._listener is not None:
            await self._listener.close()
        await self._pool.close()


def _opener(ctx: Context) -> Callable[[], Context]:
    return lambda: replace(
        open_context(ctx.datadir, ctx.controller.name, clock=ctx.clock, environ=ctx.environ),
        random=ctx.random,
    )
