"""Runs the server of `dashboard` in this process, and opens its link in a browser."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pushjuju.core import children
from pushjuju.core.errors import NotValid, StoreError
from pushjuju.services.entities.basis.context import Context
from pushjuju.web.pages.loopback import Loopback
from pushjuju.web.server import Address
from pushjuju.workers import background

if TYPE_CHECKING:
    from pushjuju.cli.syntax.command import Cli

_LOOK_S = 5.0
_OPENERS = ("xdg-open", "sensible-browser", "wslview", "open")  # of desktops, Debian, WSL and macOS
_OF_DESKTOPS = (
    "BROWSER", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "XDG_", "WSL_",
)  # fmt: skip
_REDIRECT = (
    '<!doctype html><title>pushjuju</title><meta http-equiv="refresh" content="0; url={link}">'
    '<a href="{link}">Dashboard</a>\n'
)


class DashboardServing:
    """Serves the dashboard until a signal ends the process."""

    def __init__(
        self,
        cli: Cli,
        ctx: Context,
        *,
        user: str,
        places: Sequence[tuple[str, int]],
        read_only: bool,
        drives: bool,
    ) -> None:
        """Prepare the server.

        Args:
            places: Hosts and ports to listen at, until one is free; see `places`.
            read_only: True when no page changes anything.
            drives: True to start a background process when work is due that no process does.
        """
        self._cli = cli
        self._ctx = ctx
        self._user = user
        self._places = places
        self._read_only = read_only
        self._drives = drives
        self._browser: children.Child | None = None

    @staticmethod
    def places(listen: str, port: int, *, any_port: bool) -> list[tuple[str, int]]:
        """Return hosts and ports to try in order.

        Args:
            listen: A loopback address, with a port if it must not be `port`; empty for the controller's own.
            any_port: True to take any free port when another program has the port.

        Raises:
            NotValid: The address can be reached from other computers, and the dashboard has no TLS.
        """
        host, wanted = _loopback(listen)
        if wanted is not None:
            return [(host, wanted)]
        return [(host, port), (host, 0)] if any_port else [(host, port)]

    @staticmethod
    def place(listen: str) -> str:
        """Return `HOST:PORT` of a dashboard that runs.

        Raises:
            NotValid: The address can be reached from other computers, or has no port.
        """
        host, port = _loopback(listen)
        if not port:
            raise NotValid(f'the address of a running dashboard has a port, HOST:PORT: "{listen}" has none')
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    def serve(self, *, browser: bool) -> None:
        """Serve until SIGTERM or SIGINT."""
        asyncio.run(self._until_stopped(browser=browser))

    async def _until_stopped(self, *, browser: bool) -> None:
        stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        async with self._served() as server:
            await self._tell(server)
            if "SSH_CONNECTION" in self._cli.env:
                self._tell_tunnel(*server.address)
            with tempfile.TemporaryDirectory(prefix="pushjuju-") as folder:
                if browser:
                    self._open(Path(folder) / "dashboard.html", await server.link(self._user))
                driving = asyncio.create_task(self._drive(server)) if self._drives else None
                await stop.wait()
                if driving is not None:
                    driving.cancel()

    async def _tell(self, server: Loopback) -> None:
        """Print a link that logs in; where files or programs read the output, the address alone."""
        console, link = self._cli.console, await server.link(self._user)
        if console.stdout.isatty():
            self._cli.output.text(f"{link}\n")
            console.info("The link works once, within two minutes. Ctrl-C ends the dashboard.")
        else:
            self._cli.output.text(f"{server.root}\n")
            console.info(f"Only a terminal shows the link: `{self._way_in(server)}` prints one.")

    def _way_in(self, server: Loopback) -> str:
        """Return the command line that prints a link to this dashboard."""
        words = f"pushjuju dashboard --link {self._user} --listen {urlsplit(server.root).netloc}"
        return f"{words} -c {self._ctx.controller.name}" if "controller" in self._cli.given else words

    async def _drive(self, server: Loopback) -> None:
        """See to it that what becomes due is done, as long as the dashboard is open."""
        while True:
            with suppress(StoreError):  # a store that is busy or away is asked again
                if await server.is_work_left():
                    self._work()
            await asyncio.sleep(_LOOK_S)

    def _tell_tunnel(self, host: str, port: int) -> None:
        """Print how a browser on the user's own computer reaches the dashboard."""
        tunnel = f"ssh -L {port}:{host}:{port}"
        self._cli.console.info(
            f"From your computer: `{tunnel} THIS-HOST`, then the link with localhost:{port}"
        )

    @asynccontextmanager
    async def _served(self) -> AsyncIterator[Loopback]:
        """Serve until the block ends."""
        for host, port in self._places:
            server = Loopback(self._ctx, host, port, work=self._work, read_only=self._read_only)
            try:
                await server.start()
            except OSError as error:
                await server.close()
                failed = error
                continue
            try:
                yield server
            finally:
                await server.close()
            return
        raise NotValid(f"the dashboard cannot listen: {failed.strerror or failed}")

    def _work(self) -> None:
        background.ensure(self._ctx.controller, str(self._ctx.datadir.root), self._cli.env)

    def _open(self, page: Path, link: str) -> None:
        """Open a link in the browser, through a private file: other users see the arguments of programs."""
        descriptor = os.open(page, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(_REDIRECT.format(link=link))
        environ = children.environment(keep=_OF_DESKTOPS)
        program = next((name for name in _OPENERS if shutil.which(name, path=environ["PATH"])), "")
        if program:
            self._browser = children.start([program, page.as_uri()], environ=environ, own_session=True)
        else:
            self._cli.console.info("No browser was found: open the address yourself.")


def _loopback(text: str) -> tuple[str, int | None]:
    """Return host and port of an address to listen at; the port is None when the text has none."""
    if not text:
        return "", None
    host, port = Address.parse(text).host, urlsplit(f"//{text}").port
    if host != "localhost" and not _is_loopback(host):
        raise NotValid(
            f"{host} is not a loopback address, and the dashboard has no TLS",
            hint=f"pushjuju api --listen {text}, which has TLS and asks for passwords",
        )
    return host, port


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
