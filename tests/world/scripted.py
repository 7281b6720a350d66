"""Connections to simulated hostile machines: a script sets the bytes and frames that they send."""

from __future__ import annotations

import asyncio
import contextlib
import json
import zlib
from collections.abc import Callable
from typing import Any

import pytest

from pushjuju.runner.push import bootstrap
from pushjuju.runner.push.packer import pack
from pushjuju.runner.remote.base import wire
from pushjuju.runner.session import MachineSession
from pushjuju.runner.target import MachineTarget
from tests.world.machine import PlayedMachine

HELLO: dict[str, Any] = {
    **PlayedMachine("0").hello(),
    "protocol": 1, "program": "x", "pid": 7, "perl": True, "gateway": "10.0.0.1",
    "journal": [{"id": "a", "done": True}], "blobs": ["00"], "parts": {"11": 5}, "running": ["a"],
    "units": ["web/0"], "crash": "Traceback", "ssh": "192.0.2.1 50022 10.0.0.2 22",
    "requests": [{"id": "r1-1", "unit": "web/0", "script": "date", "relation": 0, "force": False}],
}  # fmt: skip


def packed(message: Any) -> bytes:
    """Return a frame packed by other code than pushjuju's."""
    data = json.dumps(message).encode()
    return wire.frame(wire.ZLIB, zlib.compress(data, 1)) if len(data) > 5000 else wire.frame(wire.RAW, data)


class Channel:
    """An SSH channel without a machine behind it."""

    def __init__(self) -> None:
        self.written = bytearray()
        self.closed = False

    def write(self, data: bytes) -> None:
        self.written += data

    def write_eof(self) -> None:
        """Accept the end of the data."""

    def close(self) -> None:
        """Note that the channel is closed."""
        self.closed = True


def new_link(channel: Channel | None = None) -> bootstrap.Link:
    """Return a link to a machine whose messages the test sets."""
    link = bootstrap.Link()
    link.channel = channel or Channel()  # type: ignore[assignment]
    return link


class ScriptedSession:
    """A session with scripted contacts: what the machine sends after each message to it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, contacts: Callable[[int], list[bytes]]) -> None:
        self.contacts = 0
        self.links: list[bootstrap.Link] = []

        class Connector:
            @contextlib.asynccontextmanager
            async def connect(self, _: Any) -> Any:
                yield None

        async def attach(*_: Any, **more: Any) -> bootstrap.Link:
            pieces = contacts(self.contacts)
            self.contacts += 1
            link = new_link(ScriptedChannel(pieces))
            link.waste = more["waste"]
            self.links.append(link)
            link.channel.link = link  # type: ignore[union-attr]
            link.data_received(b"PJ1R" + pieces.pop(0), None)
            await bootstrap._converse(link, pack(), "machine 0")
            return link

        monkeypatch.setattr(bootstrap, "attach", attach)
        target = MachineTarget(host="10.0.0.2")
        self.session = MachineSession(
            target, program=pack(), connector=Connector(), root="", options={}, reattach=0.0,  # type: ignore[arg-type]
        )  # fmt: skip


class ScriptedChannel(Channel):
    """A channel that sends its pieces when it gets a message, then closes."""

    link: bootstrap.Link
    stays = 0.01  # seconds

    def __init__(self, pieces: list[bytes]) -> None:
        super().__init__()
        self.pieces = pieces

    def write(self, data: bytes) -> None:
        """Send the answer to an operation."""
        super().write(data)
        if b'"op"' in data and b'"live-result"' not in data:
            asyncio.get_running_loop().call_soon(self._say)

    def _say(self) -> None:
        for piece in self.pieces:
            self.link.data_received(piece, None)
        asyncio.get_running_loop().call_later(self.stays, self.link.connection_lost, None)

    def write_eof(self) -> None:
        """Close the connection."""
        self.link.connection_lost(None)
