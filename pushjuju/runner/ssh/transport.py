"""Opens SSH connections, through jump hosts where needed; `login` does the login itself."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from dataclasses import field
from typing import TYPE_CHECKING, Any

from pushjuju.core.errors import PushjujuError
from pushjuju.core.values import dataclass
from pushjuju.runner.target import MachineTarget

if TYPE_CHECKING:
    from pushjuju.runner.ssh.login import Connection, Logins

QUICKACK_EVERY = 0.002  # seconds
QUICKACK_EACH = 0.0002  # seconds for each connection, when that is more
QUICKACK_FOR = 5.0


class QuickAcks:
    """Keeps TCP_QUICKACK set on the sockets of new connections, with one timer for all sockets.

    sshd writes two small packets before it sets TCP_NODELAY; without TCP_QUICKACK the second packet waits 40
    ms for the delayed ACK of the first.
    """

    def __init__(self) -> None:
        self._until: dict[Any, float] = {}
        self._timer: tuple[asyncio.AbstractEventLoop, asyncio.TimerHandle] | None = None

    def start(self, sock: Any) -> None:
        """Begin to acknowledge at once on the socket of a new connection."""
        if sock is None or not hasattr(socket, "TCP_QUICKACK") or sock.family == socket.AF_UNIX:
            return
        loop = asyncio.get_running_loop()
        self._until[sock] = loop.time() + QUICKACK_FOR
        self._acknowledge(sock)
        if self._timer is None or self._timer[0] is not loop:
            self._wait(loop)

    def stop(self, sock: Any) -> None:
        """Stop acknowledging at once on the socket of a connection."""
        self._until.pop(sock, None)

    def _wait(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start the timer: longer with more connections, so that the calls never keep a core busy."""
        pause = max(QUICKACK_EVERY, QUICKACK_EACH * len(self._until))
        self._timer = (loop, loop.call_later(pause, self._tick, loop))

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        for sock, end in list(self._until.items()):
            if end < now:
                del self._until[sock]
            else:
                self._acknowledge(sock)
        self._timer = None
        if self._until:
            self._wait(loop)

    def _acknowledge(self, sock: Any) -> None:
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        except OSError:
            self._until.pop(sock, None)


@dataclass(slots=True)
class _Shared:
    """A connection to a jump host, shared by all targets that are reached through the host."""

    # held during the login to the jump host, so that other targets wait for the connection
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0  # the number of sessions that use the connection, or are about to
    open: tuple[Connection, contextlib.AsyncExitStack] | None = None


class Connector:
    """Opens connections to machines, which share keys and the connections to jump hosts.

    A shared connection avoids logins: sshd drops logins when too many come at once.
    """

    def __init__(self) -> None:
        self._quick_acks = QuickAcks()
        self._logins: Logins | None = None
        self._jumps: dict[MachineTarget, _Shared] = {}

    @contextlib.asynccontextmanager
    async def connect(self, target: MachineTarget) -> AsyncIterator[Connection]:
        """Connect and log in; close the connection at the end of the block."""
        async with contextlib.AsyncExitStack() as stack:
            tunnel = None
            if target.jump:
                tunnel = (await stack.enter_async_context(self._through(target.jump, target))).ssh
            connection = await self._opened_logins().log_in(target, tunnel)
            stack.push_async_callback(_close, connection)
            yield connection

    def _opened_logins(self) -> Logins:
        if self._logins is None:
            from pushjuju.runner.ssh.login import Logins  # imports asyncssh, which is slow

            self._logins = Logins(self._quick_acks.start, self._quick_acks.stop)
        return self._logins

    @contextlib.asynccontextmanager
    async def _through(self, jump: MachineTarget, target: MachineTarget) -> AsyncIterator[Connection]:
        """Connect to a jump host on the way to a target, or use the existing connection."""
        shared = self._jumps.setdefault(jump, _Shared())
        shared.users += 1
        try:
            async with shared.lock:
                if shared.open is None or shared.open[0].ssh.is_closed():
                    shared.open = await self._to_jump(jump, target)
                connection, _ = shared.open
            yield connection
        finally:
            shared.users -= 1
            if not shared.users:
                self._jumps.pop(jump, None)
                if shared.open is not None:
                    await shared.open[1].aclose()

    async def _to_jump(
        self, jump: MachineTarget, target: MachineTarget
    ) -> tuple[Connection, contextlib.AsyncExitStack]:
        """Log in to a jump host."""
        stack = contextlib.AsyncExitStack()
        try:
            return await stack.enter_async_context(self.connect(jump)), stack
        except PushjujuError as error:
            await stack.aclose()
            error.message = f"jump host on the way to {target}: {error.message}"
            raise


async def _close(connection: Connection) -> None:
    connection.settled()
    connection.ssh.close()
    with contextlib.suppress(Exception):
        async with asyncio.timeout(2):
            await connection.ssh.wait_closed()
    connection.ssh.abort()
