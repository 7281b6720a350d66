"""The login in one flight: round trips are counted, and what asyncssh has inside is still there."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import asyncssh
import pytest

from pushjuju.core.errors import AuthFailed
from pushjuju.runner.ssh import login, oneflight
from pushjuju.runner.ssh.transport import Connector
from pushjuju.runner.target import MachineTarget

from .conftest import Sshd, make_key

MOST_TURNS = 8  # version, key exchange, its end with the login; each there and back, and a rest


@pytest.fixture
def target(sshd: Sshd, tmp_path: Path) -> MachineTarget:
    """The machine, as it is reached with a key."""
    known = tmp_path / "known"
    return MachineTarget(
        host="127.0.0.1", port=sshd.port, user="root", identity_files=(sshd.key,), known_hosts=known
    )


@contextlib.asynccontextmanager
async def counting(port: int) -> AsyncIterator[tuple[int, list[str]]]:
    """Listen in front of a server; yield the port, and a letter for each change of who speaks."""
    said: list[str] = []
    tasks: set[asyncio.Task[None]] = set()

    async def pump(source: asyncio.StreamReader, target: asyncio.StreamWriter, who: str) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(65536):
                if said[-1:] != [who]:
                    said.append(who)
                target.write(data)
            target.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", port)
        for task in (pump(reader, back, ">"), pump(there, writer, "<")):
            tasks.add(asyncio.create_task(task))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], said
    finally:
        server.close()
        await asyncio.gather(*tasks)


async def turns(target: MachineTarget) -> int:
    """Log in, and return how often the word changed until then."""
    assert target.port is not None
    async with counting(target.port) as (port, said), Connector().connect(replace(target, port=port)):
        return len(said)


async def test_a_login_asks_nothing_first(target: MachineTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await turns(target) <= MOST_TURNS
    monkeypatch.setattr(login, "log_in_at_once", lambda _: False)
    assert await turns(target) > MOST_TURNS + 3


async def test_what_it_needs_inside_asyncssh_is_there(target: MachineTarget) -> None:
    async with Connector().connect(target) as connection:
        assert [name for name in oneflight.PARTS if not hasattr(connection.ssh, name)] == []


async def test_without_what_it_needs_the_login_is_as_ever(
    target: MachineTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oneflight, "PARTS", ("gone",))
    assert await turns(target) > MOST_TURNS + 3


@pytest.mark.parametrize("kind", ["ed25519", "rsa", "ecdsa"])
async def test_the_next_key_is_tried(target: MachineTarget, tmp_path: Path, kind: str) -> None:
    other = make_key(tmp_path / "other", kind)
    async with Connector().connect(replace(target, identity_files=(other, *target.identity_files))):
        pass
    with pytest.raises(AuthFailed):
        async with Connector().connect(replace(target, identity_files=(other,))):
            pass


async def test_another_server_is_asked_first(target: MachineTarget, tmp_path: Path) -> None:
    """It may mind what comes before it has accepted the service."""
    options = {
        "server_host_keys": [str(make_key(tmp_path / "host"))],
        "authorized_client_keys": f"{target.identity_files[0]}.pub",
    }
    server = await asyncssh.listen("127.0.0.1", 0, **options)
    async with server, Connector().connect(replace(target, port=server.get_port())) as connection:
        assert "AsyncSSH" in connection.ssh.get_extra_info("server_version")
