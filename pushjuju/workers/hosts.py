"""Machines that host containers: scripts on them, and local sockets that lead to them.

A controller process has one SSH connection to each host, opened when needed, reopened after a
loss, and closed when the process ends; nothing stays on the host.
"""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from pushjuju.core.errors import ConnectionLost, SudoRefused, Unreachable
from pushjuju.plugins.api.targets import ScriptResult
from pushjuju.runner.ssh.transport import Connector
from pushjuju.runner.target import MachineTarget
from pushjuju.workers.reach import AS_ROOT, NO_SUDO, run_command

if TYPE_CHECKING:
    from pushjuju.runner.ssh.login import Connection

_PIECE = 65536


class HostLink:
    """A connection to a machine of the model on which containers are made.

    Args:
        target: Returns how to reach the machine; called for each connection, since the address may change.
    """

    def __init__(self, machine_id: str, connector: Connector, target: Callable[[], MachineTarget]) -> None:
        self.machine_id = machine_id
        self._connector, self._target = connector, target
        self._open: tuple[Connection, AsyncExitStack] | None = None
        self._opening = asyncio.Lock()
        self._relays: dict[str, tuple[Path, asyncio.AbstractServer]] = {}

    async def _connection(self) -> Connection:
        """Return the connection to the host; open it when it is not open yet."""
        async with self._opening:
            if self._open is not None and self._open[0].ssh.is_closed():
                await self._hang_up()
            if self._open is None:
                stack = AsyncExitStack()
                found = await stack.enter_async_context(self._connector.connect(self._target()))
                found.settled()
                self._open = found, stack
            return self._open[0]

    async def _hang_up(self) -> None:
        if self._open is not None:
            stack, self._open = self._open[1], None
            await stack.aclose()

    async def run(self, script: str, *, timeout_s: float = 60.0) -> ScriptResult:
        """Run a POSIX shell script on the host as root."""
        connection, place = await self._connection(), f"machine {self.machine_id}"
        try:
            async with asyncio.timeout(timeout_s):
                done = await run_command(connection.ssh, AS_ROOT, script)
        except TimeoutError as error:
            raise Unreachable(f"a script on {place} did not end in {timeout_s:.0f} s") from error
        except connection.failures as error:
            raise ConnectionLost(f"the connection to {place} was lost", detail=str(error)) from error
        if done.status is None:
            raise ConnectionLost(f"the connection to {place} was lost while a script ran there")
        if done.status == NO_SUDO:
            raise SudoRefused(f"sudo was refused on {place}", detail=done.stderr.strip())
        return ScriptResult(rc=done.status, stdout=done.stdout, stderr=done.stderr)

    async def relay(self, program: str) -> Path:
        """Return a local socket; each connection to it runs a Python program on the host as root."""
        await self._connection()
        if program not in self._relays:
            folder = Path(tempfile.mkdtemp(prefix="pushjuju-"))  # private, short for sockets
            word = shlex.quote(program)
            command = (
                f'if [ "$(id -u)" = 0 ]; then exec python3 -c {word}; fi; exec sudo -n python3 -c {word}'
            )
            server = await asyncio.start_unix_server(
                lambda reader, writer: self._serve(command, reader, writer), folder / "socket"
            )
            self._relays[program] = folder, server
        return self._relays[program][0] / "socket"

    async def _serve(self, command: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Connect a client of the socket with a program on the host; after a fault, hang up."""
        with contextlib.suppress(OSError, ConnectionLost, Unreachable):
            connection = await self._connection()
            with contextlib.suppress(*connection.failures):
                await _join(connection, command, reader, writer)
        writer.close()

    async def close(self) -> None:
        """Close the connection and the sockets."""
        for folder, server in self._relays.values():
            server.close()
            shutil.rmtree(folder, ignore_errors=True)
        self._relays.clear()
        await self._hang_up()


async def _join(
    connection: Connection, command: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    async with connection.ssh.create_process(command, encoding=None) as process:
        sending = asyncio.ensure_future(_send(reader, process))
        try:
            async for piece in _pieces(process):
                writer.write(piece)
                await writer.drain()
        finally:
            sending.cancel()


async def _send(reader: asyncio.StreamReader, process: object) -> None:
    stdin = process.stdin  # type: ignore[attr-defined] # asyncssh is imported when it is used
    with contextlib.suppress(OSError):
        while piece := await reader.read(_PIECE):
            stdin.write(piece)
            await stdin.drain()
        stdin.write_eof()


async def _pieces(process: object) -> AsyncIterator[bytes]:
    while piece := await process.stdout.read(_PIECE):  # type: ignore[attr-defined]
        yield piece
