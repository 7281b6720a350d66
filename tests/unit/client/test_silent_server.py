"""A server that falls silent between the connection and the answer to the request for the log."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pushjuju.client import websocket
from pushjuju.client.accounts import Account
from pushjuju.web import certificates


async def test_the_wait_for_a_log_that_does_not_begin_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(websocket, "CONNECT_S", 1.0)
    made = certificates.ready(tmp_path, (), datetime.now(UTC))
    asked = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Hang up; but to a request for the log, say nothing."""
        request = await reader.readuntil(b"\r\n\r\n")
        if b" /log?" in request:
            asked.set()
            await reader.read()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=certificates.server_context(made))
    async with server:
        port = server.sockets[0].getsockname()[1]
        account = Account(
            name="there", uuid="", addresses=(f"127.0.0.1:{port}",), ca=made.ca.read_text(), user="kim",
            password="secret",
        )  # fmt: skip
        socket = websocket.Socket(account)
        with pytest.raises(websocket.FAULTS):
            await socket.open("/api")
        async with asyncio.timeout(30):
            with pytest.raises(TimeoutError):
                async with aclosing(socket.messages("/log", [("level", "INFO")])) as frames:
                    await anext(frames)
            assert asked.is_set()
            await socket.close()
