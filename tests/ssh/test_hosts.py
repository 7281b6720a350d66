"""A machine as the host of containers: scripts as root, and sockets here that lead to programs there."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from pushjuju.core.errors import Unreachable
from pushjuju.runner.ssh.transport import Connector
from pushjuju.workers.hosts import HostLink
from tests.ssh.conftest import Machine, until

UPPER = """
import os
while data := os.read(0, 4096):
    os.write(1, data.upper())
"""


def _programs() -> list[str]:
    """Processes that run the program."""
    found = (path / "cmdline" for path in Path("/proc").iterdir() if path.name.isdigit())
    return [text for path in found if (text := _text(path)) and "data.upper()" in text]


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


async def _ask(place: Path, text: bytes) -> bytes:
    reader, writer = await asyncio.open_unix_connection(place)
    writer.write(text)
    writer.write_eof()
    try:
        return await reader.read()
    finally:
        writer.close()


async def test_a_socket_here_leads_to_programs_there(machine: Machine) -> None:
    """One for each connection; more than one at once; nothing is left when it is closed."""
    link = HostLink("0", Connector(), lambda: machine.target)
    done = await link.run("id -u; echo told >&2; exit 3\n")
    assert (done.rc, done.stdout, done.stderr) == (3, "0\n", "told\n")
    place = await link.relay(UPPER)
    assert await link.relay(UPPER) == place
    assert oct(place.parent.stat().st_mode)[-3:] == "700"
    big = b"it's $(me)\n" * 50_000
    assert await asyncio.gather(_ask(place, b"a"), _ask(place, big)) == [b"A", big.upper()]
    reader, writer = await asyncio.open_unix_connection(place)
    writer.write(b"half")
    assert await reader.read(4) == b"HALF"
    await link.close()
    assert await reader.read() == b""
    writer.close()
    assert not place.parent.exists()
    assert await until(lambda: _programs() == [])


async def test_a_connection_that_broke_is_made_anew(machine: Machine) -> None:
    link = HostLink("0", Connector(), lambda: machine.target)
    place = await link.relay(UPPER)
    connection = await link._connection()
    connection.ssh.abort()
    await connection.ssh.wait_closed()
    assert await _ask(place, b"again") == b"AGAIN"
    await link.close()


async def test_a_script_without_end_is_given_up(machine: Machine) -> None:
    link = HostLink("7", Connector(), lambda: machine.target)
    with pytest.raises(Unreachable, match="a script on machine 7 did not end in 0 s"):
        await link.run("sleep 30\n", timeout_s=0.3)
    await link.close()
