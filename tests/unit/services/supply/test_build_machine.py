"""A machine that builds a charm runs the work of strangers: what it sends is bounded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import asyncssh
import pytest

from pushjuju.core import limits
from pushjuju.core.base import Base
from pushjuju.core.errors import InvalidCharm
from pushjuju.services.supply import build_machine
from pushjuju.services.supply.build_machine import BuildMachine

KEY = asyncssh.generate_private_key("ssh-ed25519")


class Anybody(asyncssh.SSHServer):
    """Lets everybody in."""

    def __init__(self, known: list[asyncssh.SSHServerConnection]) -> None:
        self._known = known

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._known.append(conn)

    def begin_auth(self, username: str) -> bool:
        return False


async def answer(process: asyncssh.SSHServerProcess[bytes]) -> None:
    """Do what the command says: send without end, fail with much to say, end by a signal, or echo."""
    word = (process.command or "").split()[-1]
    try:
        while word == "flood":
            process.stdout.write(b"x" * 65536)
            await process.stdout.drain()
        if word == "fail":
            process.stderr.write(b"y" * 100_000 + b" the end")
            await process.stderr.drain()
            return process.exit(3)
        if word == "killed":
            return process.exit_with_signal("KILL")
        process.stdout.write(await process.stdin.read() or b"nothing")
        process.exit(0)
    except (BrokenPipeError, asyncssh.Error):
        process.exit(1)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[BuildMachine]:
    """A machine that is there already, behind a real SSH server."""
    made = BuildMachine(Base.parse("ubuntu@24.04"), "amd64", tmp_path, {}, lambda _: None)
    loop, known = made._loop, list[asyncssh.SSHServerConnection]()

    async def begin() -> asyncssh.SSHAcceptor:
        server = await asyncssh.listen(
            "127.0.0.1", 0, server_host_keys=[KEY], server_factory=lambda: Anybody(known),
            process_factory=answer,
            encoding=None,
        )  # fmt: skip
        made._connection = await asyncssh.connect(
            "127.0.0.1", server.get_port(), known_hosts=([KEY.convert_to_public()], [], []), config=None,
            client_keys=None,
        )  # fmt: skip
        return server

    async def end() -> None:
        for connection in (made._connection, *known):
            connection.abort()
            await connection.wait_closed()
        server.close()
        await server.wait_closed()

    server = loop.run_until_complete(begin())
    yield made
    loop.run_until_complete(end())
    loop.close()


def test_a_build_that_sends_without_end_is_given_up(
    machine: BuildMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "BUILT", 4 << 20)
    with pytest.raises(InvalidCharm, match="the build failed: the machine sends more than 4 MiB"):
        machine._run("flood")
    assert machine._run("echo") == b"nothing"


def test_of_much_that_a_build_says_the_end_is_shown(machine: BuildMachine) -> None:
    with pytest.raises(InvalidCharm, match="cannot build x") as caught:
        machine._run("fail", failed="cannot build x")
    assert caught.value.detail.endswith("y the end")
    assert len(caught.value.detail) == build_machine._TAIL


def test_a_build_that_is_killed_has_failed(machine: BuildMachine) -> None:
    with pytest.raises(InvalidCharm, match="the build failed"):
        machine._run("killed")


def test_what_is_sent_comes_back_whole(machine: BuildMachine) -> None:
    data = bytes(range(256)) * 8192
    assert machine._run("echo", stdin=data) == data
