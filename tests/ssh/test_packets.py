"""An SSH server that is not OpenSSH: below the frames it cannot keep a controller busy either."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncssh
import pytest
from asyncssh.constants import (
    MSG_CHANNEL_DATA,
    MSG_CHANNEL_EXTENDED_DATA,
    MSG_CHANNEL_REQUEST,
    MSG_CHANNEL_WINDOW_ADJUST,
    MSG_DEBUG,
    MSG_GLOBAL_REQUEST,
    MSG_IGNORE,
)
from asyncssh.packet import Boolean, String, UInt32

from pushjuju.core import limits
from pushjuju.core.errors import Unreachable
from pushjuju.runner.ssh.transport import Connector
from pushjuju.runner.target import MachineTarget
from tests.fuzz.attacked import memory
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
    monkeypatch.setattr(limits, "PACKETS", 500)
    parts = [Boolean(False), String(b"x"), String(b"")] if kind == MSG_DEBUG else [String(b"x")]
    async with server() as (target, connections), Connector().connect(target) as connection:
        for _ in range(50):
            connections[-1].send_packet(kind, *parts)
        assert not connection.ssh.is_closed()
        for _ in range(500):
            connections[-1].send_packet(kind, *parts)
        await until(connection.ssh.is_closed)


def _adjust(channel: Any) -> None:
    channel.send_packet(MSG_CHANNEL_WINDOW_ADJUST, UInt32(1))


def _open_wide(channel: Any) -> None:
    channel.send_packet(MSG_CHANNEL_WINDOW_ADJUST, UInt32(4096))


def _ask(channel: Any) -> None:
    channel.send_packet(MSG_CHANNEL_REQUEST, String(b"x"), Boolean(False))


def _say_nothing(channel: Any) -> None:
    channel.send_packet(MSG_CHANNEL_DATA, String(b""))


def _say_nothing_on_stderr(channel: Any) -> None:
    channel.send_packet(MSG_CHANNEL_EXTENDED_DATA, UInt32(1), String(b""))


def _ask_of_all(channel: Any) -> None:
    channel.get_connection().send_packet(MSG_GLOBAL_REQUEST, String(b"x"), Boolean(False))


@pytest.mark.parametrize(
    "attack", [_adjust, _open_wide, _ask, _say_nothing, _say_nothing_on_stderr, _ask_of_all]
)
async def test_flood_of_packets_without_content_cuts_the_connection_early(attack: Any) -> None:
    """Each kind at full speed: what a connection may take is a moment of processor time, and no memory."""
    sent = 0

    async def flood(process: asyncssh.SSHServerProcess[bytes]) -> None:
        nonlocal sent
        while sent < 4 * limits.PACKETS and not process.channel.get_connection().is_closed():
            attack(process.channel)
            sent += 1
            await asyncio.sleep(0 if sent % 100 else 0.001)

    async with (
        server(process_factory=flood, encoding=None) as (target, _),
        Connector().connect(target) as connection,
    ):
        before, held = time.process_time(), memory("VmRSS")
        process = await connection.ssh.create_process("x", encoding=None)
        await until(connection.ssh.is_closed)
        spent, kept = time.process_time() - before, memory("VmRSS") - held
        process.close()
    print(f"{attack.__name__}: {sent} packets, {spent:.2f} s of both sides, {kept / limits.MIB:.1f} MiB")
    assert sent < 2 * limits.PACKETS
    assert (spent < 10, kept < 32 * limits.MIB) == (True, True)


async def test_server_that_asks_for_new_keys_without_end_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each time they are calculated, which is dear: so few of them are as many as many others."""
    monkeypatch.setattr(limits, "PACKETS", 20 * limits.PACKET_OF_KEYS)
    said = 0

    async def say(process: asyncssh.SSHServerProcess[bytes]) -> None:
        nonlocal said
        while said < 1000:
            process.stdout.write(b"x")
            said += 1
            await asyncio.sleep(0.005)

    async with (
        server(process_factory=say, encoding=None, rekey_bytes=1) as (target, _),
        Connector().connect(target) as connection,
    ):
        process = await connection.ssh.create_process("x", encoding=None)
        await until(connection.ssh.is_closed)
        process.close()
    assert 5 < said < 1000


async def test_server_that_takes_much_is_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """It opens its window some 2,000 times, each time behind a packet to be ignored, as asyncssh does."""
    monkeypatch.setattr(limits, "PACKETS", 3000)
    monkeypatch.setattr(limits, "PACKETS_EACH_S", 0.001)
    taken = 0

    async def take(process: asyncssh.SSHServerProcess[bytes]) -> None:
        nonlocal taken
        while piece := await process.stdin.read(limits.MIB):
            taken += len(piece)
        process.exit(0)

    async with (
        server(process_factory=take, encoding=None, window=64 * limits.KIB) as (target, _),
        Connector().connect(target) as connection,
    ):
        process = await connection.ssh.create_process("x", encoding=None)
        process.stdin.write(bytes(64 * limits.MIB))
        process.stdin.write_eof()
        assert (await process.wait()).exit_status == 0
    assert taken == 64 * limits.MIB


async def test_nothing_is_inflated_below_the_frames() -> None:
    async with server(compression_algs=["zlib@openssh.com", "zlib"]) as (target, _):
        with pytest.raises(Unreachable, match=r"compression"):
            async with Connector().connect(target):
                pass
