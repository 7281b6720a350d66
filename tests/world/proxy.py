"""A proxy between browser and server that cuts streams, keeps them, or answers for a lost server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_BAD = "HTTP/1.1 %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_STREAM = b"Content-Type: text/event-stream"


class Proxy:
    """Passes on what it gets.

    Attributes:
        cut: The bytes after which it ends the connection of a stream, once.
        cuts: How often it has done so.
        keeps: True when it sends nothing of streams to the browser, as a proxy that waits for their end.
    """

    def __init__(self, host: str, port: int) -> None:
        self._to = host, port
        self._bad = ""
        self._open: set[asyncio.StreamWriter] = set()
        self.cut = b""
        self.cuts = 0
        self.keeps = False
        self.root = ""

    @classmethod
    @asynccontextmanager
    async def before(cls, host: str, port: int) -> AsyncIterator[Proxy]:
        """Listen at a port of the server's address, until the end of the block."""
        made = cls(host, port)
        server = await asyncio.start_server(made._serve, host, 0)
        made.root = f"http://{host}:{server.sockets[0].getsockname()[1]}"
        try:
            yield made
        finally:
            server.close()
            made.end()

    def lose_server(self, status: str) -> None:
        """Answer with a status and its word from now on."""
        self._bad = status
        self.end()

    def find_server(self) -> None:
        self._bad = ""

    def end(self) -> None:
        """End all connections."""
        for writer in self._open:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if self._bad:
                await reader.read(1 << 16)
                writer.write((_BAD % self._bad).encode())
                return
            server, to_server = await asyncio.open_connection(*self._to)
            self._open |= {writer, to_server}
            try:
                asking = asyncio.create_task(_pass_on(reader, to_server))
                await self._answer(server, writer)
                asking.cancel()
            finally:
                self._open -= {writer, to_server}
                to_server.close()
        except OSError:
            pass  # one side has gone
        finally:
            writer.close()

    async def _answer(self, server: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        is_stream = False
        while data := await server.read(1 << 16):
            is_stream = is_stream or _STREAM in data
            before, found, _ = data.partition(self.cut or b"no bytes of a stream")
            if is_stream and found:
                self.cut, self.cuts = b"", self.cuts + 1
                writer.write(before + found)
                return
            if not (is_stream and self.keeps):
                writer.write(data)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(1 << 16):
            writer.write(data)
    except OSError:
        pass
    writer.close()
