"""Serves an ASGI app over HTTP/1.1 on a free port, in a thread: what a test's fake of a cloud needs.

An app may raise `Cut` to have the connection closed where it is: before an answer, or in the middle of one.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import threading
from collections.abc import Awaitable, Callable, Iterator
from http.client import responses
from typing import Any
from urllib.parse import unquote

App = Callable[
    [dict[str, Any], Callable[[], Awaitable[Any]], Callable[[Any], Awaitable[None]]], Awaitable[None]
]


class Cut(Exception):
    """The connection breaks here."""


@contextlib.contextmanager
def serve(app: App, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """Serve an app; gives its address."""
    ready: threading.Event = threading.Event()
    found: dict[str, Any] = {}

    async def main() -> None:
        found["loop"], found["stop"] = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(
            lambda r, w: _answer(app, r, w), "127.0.0.1", 0, backlog=128, ssl=tls
        )
        found["port"] = server.sockets[0].getsockname()[1]
        ready.set()
        await found["stop"].wait()
        server.close()

    thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield f"http{'s' if tls else ''}://127.0.0.1:{found['port']}"
    finally:
        found["loop"].call_soon_threadsafe(found["stop"].set)
        thread.join(10)


async def _answer(app: App, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = head[0].split(" ")
        pairs = [line.partition(":")[::2] for line in head[1:] if line]
        headers = [(name.lower().encode(), value.strip().encode()) for name, value in pairs]
        body = await reader.readexactly(int(dict(headers).get(b"content-length", b"0")))
        path, _, query = target.partition("?")
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method,
            "scheme": "http", "path": unquote(path), "raw_path": path.encode(),
            "query_string": query.encode(), "headers": headers,
        }  # fmt: skip

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(event: dict[str, Any]) -> None:
            if event["type"] == "http.response.start":
                lines = [f"HTTP/1.1 {event['status']} {responses.get(event['status'], '-')}".encode()]
                lines += [name + b": " + value for name, value in event["headers"]]
                writer.write(b"\r\n".join([*lines, b"connection: close", b"", b""]))
            else:
                writer.write(event.get("body", b""))
            await writer.drain()

        await app(scope, receive, send)
    except (Cut, asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()
