"""An SSH server that is not OpenSSH: below the frames it cannot keep a controller busy either."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncssh
import pytest
from asyncssh.constants import MSG_DEBUG, MSG_IGNORE
from asyncssh.packet import Boolean, String

from pushjuju.core import limits
from pushjuju.core.errors import Unreachable
from pushjuju.runner.target import MachineTarget
from pushjuju.runner.transport import Connector
from tests.waiting import until


class _Open(asyncssh.SSHServer):
    """A server that lets everybody in."""

    connections: list[asyncssh.SSHServerConnection]

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        """Remember the connection."""
        self.connections.append(conn)

    def begin_auth(self, username: str) -> bool:
        """Ask for nothing."""
        return bool(username) and False


@asynccontextmanager
async def server(**options: Any) -> AsyncIterator[tuple[MachineTarget, list[asyncssh.SSHServerConnection]]]:
    """Serve on a port of this host."""
    connections: list[asyncssh.SSHServerConnection] = []
    key = asyncssh.generate_private_key("ssh-ed25519")
    kind = type("Open", (_Open,), {"connections": connections})
    serving = await asyncssh.create_server(kind, "127.0.0.1", 0, server_host_keys=[key], **options)
    port = serving.sockets[0].getsockname()[1]
    try:
        yield MachineTarget(host="127.0.0.1", port=port, user="root", use_ssh_config=False), connections
    finally:
        serving.close()
        for connection in connections:
            connection.abort()


@pytest.mark.parametrize("kind", [MSG_IGNORE, MSG_DEBUG])
async def test_packets_without_end_that_are_for_nothing_cut_the_connection(
    monkeypatch: pytest.MonkeyPatch, kind: int
) -> None:
    monkeypatch.setattr(limits, "PACKETS", 100)
    parts = [Boolean(False), String(b"x"), String(b"")] if kind == MSG_DEBUG else [String(b"x")]
    async with server() as (target, connections), Connector().connect(target) as connection:
        for _ in range(50):
            connections[-1].send_packet(kind, *parts)
        assert not connection.ssh.is_closed()
        for _ in range(100):
            connections[-1].send_packet(kind, *parts)
        await until(connection.ssh.is_closed)


async def test_nothing_is_inflated_below_the_frames() -> None:
    async with server(compression_algs=["zlib@openssh.com", "zlib"]) as (target, _):
        with pytest.raises(Unreachable, match=r"compression"):
            async with Connector().connect(target):
                pass
