"""The server: TLS, the paths of Juju's API, and its start and end."""

from __future__ import annotations

import ipaddress
import socket as sockets
from asyncio import sslproto
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from aiohttp import web

from pushjuju.core.errors import NotValid
from pushjuju.services.entities.basis.context import Context, open_context
from pushjuju.services.requests.user import registration_string
from pushjuju.web import certificates, limits
from pushjuju.web.api import Api
from pushjuju.web.certificates import OwnCertificate
from pushjuju.web.connection import Connection
from pushjuju.web.endpoints.backup_files import BackupFiles
from pushjuju.web.endpoints.commands import Commands, RunCommand
from pushjuju.web.endpoints.discharges import Discharges
from pushjuju.web.endpoints.log_stream import LogStream
from pushjuju.web.endpoints.metrics import Metrics, Traffic
from pushjuju.web.endpoints.registration import Registration
from pushjuju.web.endpoints.resource_files import ResourceFiles
from pushjuju.web.endpoints.transfers import Handler, Transfers, require_room
from pushjuju.web.endpoints.uploads import Uploads
from pushjuju.web.login_macaroons import LoginMacaroons
from pushjuju.web.pages.addresses import ROOT
from pushjuju.web.pages.site import Site
from pushjuju.web.pool import Pool
from pushjuju.web.transport.listening import HEADERS, Listener, note_peer, small_headers
from pushjuju.web.transport.sockets import Socket

PORT = 17070
_TLS_BUFFER = 16 * 1024
_API: web.AppKey[Api] = web.AppKey("api", Api)


@dataclass(frozen=True, slots=True)
class Address:
    """An address to listen on: a host name or IP address, and a port; port 0 stands for any free port."""

    host: str
    port: int = PORT

    @classmethod
    def parse(cls, text: str) -> Address:
        """Read `HOST`, `HOST:PORT`, `[V6]:PORT` or `:PORT`, which means all addresses.

        Raises:
            NotValid: The text has none of these forms.
        """
        try:
            parts = urlsplit(f"//{text}")
            port = parts.port
        except ValueError:
            raise _no_address(text) from None
        if not parts.netloc or parts.path or parts.username or parts.query:
            raise _no_address(text)
        return cls(parts.hostname or "0.0.0.0", PORT if port is None else port)  # noqa: S104 - asked for

    @property
    def is_every(self) -> bool:
        """True for an address that stands for all addresses of the host."""
        try:
            return ipaddress.ip_address(self.host).is_unspecified
        except ValueError:
            return False


def _no_address(text: str) -> NotValid:
    return NotValid(
        f'"{text}" is not an address to listen at: expected HOST, HOST:PORT, [IPV6]:PORT or :PORT, '
        "with a port from 0 to 65535"
    )


class Server:
    """An API server of one controller."""

    def __init__(
        self,
        ctx: Context,
        listen: Sequence[Address],
        work: Callable[[], None],
        own: OwnCertificate | None = None,
        commands: RunCommand | None = None,
        *,
        dashboard: bool = True,
        names: Collection[str] = (),
    ) -> None:
        """Make a server that does not listen yet.

        Args:
            ctx: The controller; the server opens stores of its own.
            work: Called after each change, to wake the background work.
            commands: Runs command lines of web terminals; without it, the server refuses them.
            dashboard: True to serve pages for browsers.
            names: Further names of the pages, in small letters, such as those of a proxy before the server.
        """
        self._dashboard, self._more_names = dashboard, names
        self._ctx = ctx
        self._listen = listen
        self._own = own
        self._commands = commands
        self._pool = Pool(lambda: reopened(ctx))
        self.api = Api(ctx, self._pool, work)
        self._ports: list[int] = []
        self._listener: Listener | None = None

    async def start(self) -> None:
        """Listen on all addresses, and serve requests.

        Raises:
            OSError: The server cannot listen on an address.
        """
        _use_small_buffers()
        found = certificates.of_hosts(self._ctx.controller, names_of(self._listen))
        self.api.ca = found.ca.read_text()
        self.api.public_name = next(iter(self._own.names()), "") if self._own else ""
        self.fingerprint = certificates.fingerprint(found)
        self.api.logins.macaroons = LoginMacaroons(certificates.derived_key(found), self._ctx.clock.now)
        made = application(self.api, self._commands, self._pages())
        self._listener = Listener(made, HEADERS, end_within_s=limits.END_WITHIN_S)
        await self._listener.start()
        context = certificates.server_context(found, self._own)
        for address in self._listen:
            _, port = await self._listener.listen(address.host, address.port, context)
            self._ports.append(port)
        self.api.addresses = tuple(self._reachable())
        registration_string.note_addresses(self._ctx, self.api.addresses)
        self.api.staging.forget_old()
        self.api.start()

    def _pages(self) -> Site | None:
        """Return the pages for browsers, which shall keep to TLS when the operator's certificate is there."""
        return (
            Site(self.api, self._names, secure=True, lasting=self._own is not None)
            if self._dashboard
            else None
        )

    def _names(self) -> set[str]:
        """Return the names by which browsers may reach the server."""
        names = {*self._more_names, *(self._own.names() if self._own else ())}
        return names | {sockets.gethostname(), sockets.getfqdn(), *(host for host, _ in self.api.addresses)}

    def _reachable(self) -> list[tuple[str, int]]:
        """Return the addresses for clients; a wildcard address becomes loopback and the host's name."""
        found: list[tuple[str, int]] = []
        for address, port in zip(self._listen, self._ports, strict=True):
            hosts = ["127.0.0.1", sockets.gethostname()] if address.is_every else [address.host]
            found += [(host, port) for host in hosts]
        return found

    async def close(self) -> None:
        """Stop listening, and end all connections."""
        if self._listener is not None:
            self._listener.stop()
        await self.api.close()
        if self._listener is not None:
            await self._listener.close()
        await self._pool.close()


def _use_small_buffers() -> None:
    """Let each TLS connection keep 16 KiB for reading where asyncio keeps 256: most connections are idle."""
    if hasattr(sslproto.SSLProtocol, "max_size"):
        sslproto.SSLProtocol.max_size = _TLS_BUFFER


def reopened(ctx: Context) -> Context:
    """Return the same controller, opened anew for another thread."""
    opened = open_context(ctx.datadir, ctx.controller.name, clock=ctx.clock, environ=ctx.environ)
    return replace(opened, random=ctx.random, api=ctx.api)


def names_of(listen: Sequence[Address]) -> list[str]:
    """Return the names and addresses that the server certificate needs."""
    hosts = [address.host for address in listen if not address.is_every]
    return sorted({"127.0.0.1", "::1", sockets.gethostname(), *hosts})


def application(api: Api, commands: RunCommand | None, pages: Site | None) -> web.Application:
    """Return the aiohttp application with the paths of the API, and the pages for browsers."""
    traffic = Traffic()
    made = web.Application(client_max_size=0, middlewares=[traffic.count, note_peer, small_headers, _methods])
    made[_API] = api
    made.router.add_get("/health", _health)
    for path in ("/", "/api", "/model/{model}/api"):
        made.router.add_get(path, _connect)
    transfers = Transfers(api)
    files = (Uploads(transfers), ResourceFiles(transfers), BackupFiles(transfers))
    for part in (
        *files,
        LogStream(transfers),
        Metrics(transfers, traffic),
        Commands(transfers, commands),
        Registration(api),
        Discharges(api),
    ):
        made.add_routes(part.routes())
    if pages is not None:
        made.add_subapp(ROOT.rstrip("/"), pages.application())
    return made


@web.middleware
async def _methods(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer a wrong HTTP method with an error in JSON, which Juju's clients read; pages keep their own."""
    try:
        return await handler(request)
    except web.HTTPMethodNotAllowed as error:
        if request.path.startswith(ROOT):
            raise
        found = {"error": f'unsupported method: "{request.method}"', "error-code": "method not allowed"}
        return web.json_response(
            found, status=405, headers={"Allow": ",".join(sorted(error.allowed_methods))}
        )


async def _health(request: web.Request) -> web.Response:
    if request.app[_API].is_well:
        return web.Response(text="running\n")
    return web.Response(status=503, text="the store does not answer\n")


async def _connect(request: web.Request) -> web.StreamResponse:
    """Serve a websocket; Login refuses a model that does not exist."""
    api, peer = request.app[_API], request.remote or ""
    await require_room(api, request)
    socket = Socket(limits.LARGEST_MESSAGE)
    await socket.open(request)
    model = request.match_info.get("model", "")
    connection = Connection(api, socket, peer=peer, host=request.host, model=model)
    api.connections.add(connection)
    try:
        await connection.serve()
    finally:
        api.connections.discard(connection)
    return socket
