"""Runs the API server in this process, alone or beside the workers of the controller."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pushjuju.core.errors import NotValid
from pushjuju.services.entities.basis.context import Context
from pushjuju.web import certificates, client_files
from pushjuju.web.certificates import OwnCertificate
from pushjuju.web.server import Address, Server
from pushjuju.workers import background

if TYPE_CHECKING:
    from pushjuju.cli.syntax.command import Cli
    from pushjuju.cli.work.serving_flags import ServingFlags
    from pushjuju.web.endpoints.commands import RunCommand


class ApiServing:
    """Serves the API until a signal ends the process."""

    def __init__(
        self, cli: Cli, ctx: Context, listen: str, asked: ServingFlags, commands: RunCommand
    ) -> None:
        """Prepare the server.

        Args:
            listen: Addresses, separated by commas.
            commands: Runs command lines of web terminals, if the user asks for it with --web-cli.
        """
        self._cli = cli
        self._ctx = ctx
        self._listen = [Address.parse(text) for text in listen.split(",")]
        cert, key = Path(asked.cert), Path(asked.key or asked.cert)
        self._own = OwnCertificate(certificate=cert, key=key) if asked.cert else None
        self._commands = commands if asked.web_cli else None
        self._dashboard, self._names = not asked.no_dashboard, asked.hosts

    @asynccontextmanager
    async def beside(self, work: Callable[[], None] = lambda: None) -> AsyncIterator[Server]:
        """Serve until the block ends; `work` is called after each change, and starts the work."""
        server = Server(
            self._ctx, self._listen, work, self._own, self._commands, dashboard=self._dashboard,
            names=self._names,
        )  # fmt: skip
        try:
            await server.start()
        except NotValid:
            await server.close()
            raise
        except OSError as error:
            await server.close()
            raise NotValid(f"the API cannot listen: {error.strerror or error}") from error
        hosts = ", ".join(f"{host}:{port}" for host, port in server.api.addresses)
        self._cli.console.info(f"The API listens at {hosts}; its CA has the fingerprint {server.fingerprint}")
        try:
            yield server
        finally:
            await server.close()

    def alone(self) -> None:
        """Serve until SIGTERM or SIGINT; background processes work on the models."""
        asyncio.run(self._until_stopped())

    async def _until_stopped(self) -> None:
        stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        async with self.beside(self._work):
            await stop.wait()

    def _work(self) -> None:
        background.ensure(self._ctx.controller, str(self._ctx.datadir.root), self._cli.env)

    def write_client_files(self, folder: Path, user: str) -> None:
        """Write the files that Juju's clients need to find the controller; the user gets a new password."""
        client_files.write(self._ctx, folder, self._listen, user)

    def renew_ca(self) -> None:
        """Make a new CA, and say what gets the CA's certificate by hand."""
        made = certificates.of_hosts(self._ctx.controller, renew=True)
        say = self._cli.console.info
        say(f"The new CA of {self._ctx.controller.name} has the fingerprint {certificates.fingerprint(made)}")
        say("Restart the server, then hand out the certificate: clients refuse the server until then.")
        say(f"  python-libjuju and Terraform with a copy of the CA: {made.ca}")
        say("  other clients of Juju: new files of `pushjuju api client-config <folder>`")
        say("  pushjuju on other computers: `pushjuju login <host>`, and compare the fingerprint")
