"""TCP_QUICKACK while connections are set up: one timer for all, and none when all have answered."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from pushjuju.runner.ssh import transport
from pushjuju.runner.ssh.transport import QuickAcks
from tests.waiting import until


class Sock:
    """A socket that counts how often it was told to acknowledge at once."""

    family = socket.AF_INET

    def __init__(self) -> None:
        self.told = 0
        self.closed = False

    def setsockopt(self, *_: Any) -> None:
        if self.closed:
            raise OSError("closed")
        self.told += 1


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> QuickAcks:
    monkeypatch.setattr(transport, "QUICKACK_EVERY", 0.001)
    return QuickAcks()


async def test_a_socket_is_told_again_and_again_until_it_has_answered(quick: QuickAcks) -> None:
    first, second = Sock(), Sock()
    quick.start(first)
    quick.start(second)
    await until(lambda: min(first.told, second.told) >= 3)
    quick.stop(first)
    told = first.told
    await until(lambda: second.told >= 6)
    assert first.told == told
    quick.stop(second)
    await until(lambda: quick._timer is None)


async def test_a_closed_socket_is_let_go(quick: QuickAcks) -> None:
    sock = Sock()
    quick.start(sock)
    sock.closed = True
    await until(lambda: not quick._until)


async def test_many_sockets_are_told_less_often(quick: QuickAcks) -> None:
    loop = asyncio.get_running_loop()
    for _ in range(100):
        quick.start(Sock())
    await until(lambda: quick._timer is not None and quick._timer[1].when() - loop.time() > 0.005)
