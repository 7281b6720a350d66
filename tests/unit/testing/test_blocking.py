"""What finds calls that block the event loop."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time

from pushjuju.testing.blocking import calls_that_block


def _wait() -> None:
    time.sleep(0.001)
    subprocess.run([sys.executable, "-c", ""], check=True)
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        pass


async def test_waits_in_the_loop_are_found_with_who_waits() -> None:
    with calls_that_block() as found:
        _wait()
    # Since Python 3.14, subprocess.Popen calls os.posix_spawn.
    found = [text for text in found if not text.startswith("os.posix_spawn ")]
    events = [text.partition(" in ")[0] for text in found]
    assert set(events) == {"time.sleep", "subprocess.Popen", "socket.getaddrinfo", "socket.connect"}
    assert all(text.endswith(" _wait") and __file__ in text for text in found)
    _wait()  # nobody looks any more
    assert len(found) == len(events)


async def test_waits_elsewhere_are_not() -> None:
    with calls_that_block() as found:
        await asyncio.to_thread(_wait)
        await asyncio.sleep(0)
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
        await process.wait()
        server = await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", 0)
        _, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.close()
        server.close()
    assert found == []


def test_waits_without_a_loop_are_not() -> None:
    with calls_that_block() as found:
        _wait()
    assert found == []
