"""The API: how soon a change reaches its watchers, and what they cost. The server is a process of its own."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from pushjuju.core.clock import SystemClock
from pushjuju.services.entities.basis.context import open_context
from pushjuju.store.datadir import DataDir
from tests.bench.figures import ROOT, Report
from tests.bench.watched import change
from tests.waiting import until
from tests.world.api import ApiClient

WATCHERS, IDLE, UNITS = 300, 1000, 2000
CHANGES, QUIET_S = 20, 10.0


@dataclass
class Served:
    """The server's process."""

    process: subprocess.Popen[str]
    where: dict[str, str]

    def tell(self, line: str) -> Any:
        """Give an order, and return the answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


@contextmanager
def serving(units: int) -> Iterator[Served]:
    """Serve a model of some units."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.watched", "--units", str(units)], cwd=ROOT, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        yield Served(process, json.loads(process.stdout.readline()))
    finally:
        process.communicate(timeout=60)


@asynccontextmanager
async def sessions() -> AsyncIterator[aiohttp.ClientSession]:
    """Return a session that ends with its last network socket; aiohttp does not wait for the end of TLS."""
    opened: list[socket.socket] = []

    def opens(address: tuple[Any, ...]) -> socket.socket:
        opened.append(socket.socket(*address[:3]))
        return opened[-1]

    connector = aiohttp.TCPConnector(limit=0, socket_factory=opens)
    async with aiohttp.ClientSession(connector=connector) as session:
        yield session
    await until(lambda: all(item.fileno() == -1 for item in opened))


@asynccontextmanager
async def connected(served: Served, count: int) -> AsyncIterator[list[ApiClient]]:
    """Return connections to the model, logged in."""
    trust = ssl.create_default_context(cadata=served.where["ca"])
    url = f"wss://{served.where['endpoint']}/model/{served.where['model']}/api"
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(sessions())
        found = []
        for _ in range(count):
            made = await stack.enter_async_context(session.ws_connect(url, ssl=trust, max_msg_size=0))
            found.append(ApiClient(made))
            await found[-1].login()
        yield found


async def watching(client: ApiClient) -> str:
    """Begin to watch, and read the first answer; return the watcher."""
    made = await client.ask("Client", 8, "WatchAll")
    await client.ask("AllWatcher", 3, "Next", name=made["watcher-id"])
    return str(made["watcher-id"])


async def told(client: ApiClient, watcher: str, message: str) -> float:
    """Return the moment at which a watcher was told a message."""
    while True:
        answer = await client.socket.receive_str(timeout=30)
        moment = time.monotonic()
        if message in answer:
            return moment
        await client.send("AllWatcher", "Next", version=3, name=watcher)


async def latencies(
    served: Served, clients: list[ApiClient], watchers: list[str], *, other: bool
) -> list[float]:
    """Return the milliseconds until the last watcher knew of each of some changes."""
    root, found = Path(served.where["data"]), []
    for number in range(CHANGES):
        message = f"message-{other}-{number}"
        for client, watcher in zip(clients, watchers, strict=True):
            await client.send("AllWatcher", "Next", version=3, name=watcher)
        await asyncio.sleep(0.3)  # all wait, nothing is under way
        reached = [
            asyncio.create_task(told(client, watcher, message))
            for client, watcher in zip(clients, watchers, strict=True)
        ]
        if other:
            committed = await asyncio.to_thread(_elsewhere, root, served.where["model"], message)
        else:
            committed = await asyncio.to_thread(served.tell, f"write app1/7 {message}")
        found.append((max(await asyncio.gather(*reached)) - committed) * 1000)
    return found


def _elsewhere(root: Path, model: str, message: str) -> float:
    """Change a status by this process, which is not the server's."""
    ctx = open_context(DataDir(root), "home", clock=SystemClock())
    try:
        return change(ctx, model, "app1/7", message)
    finally:
        ctx.close()


@pytest.mark.bench
@pytest.mark.timeout(600)
async def test_a_change_reaches_watchers(report: Report) -> None:
    with serving(UNITS) as served:
        async with connected(served, WATCHERS) as clients:
            watchers = [await watching(client) for client in clients]
            before = served.tell("usage")["cpu"]
            same = await latencies(served, clients, watchers, other=False)
            spent = (served.tell("usage")["cpu"] - before) * 1000 / CHANGES
            others = await latencies(served, clients, watchers, other=True)
    around = f"{UNITS} units, until the last of {WATCHERS} clients of one other process has it"
    report.add("a change reaches watchers", same, target="<= 50 ms", note=around)
    report.add("... made by another process", others, target="<= 250 ms", note=around)
    report.add("... processor time of the server", [spent], note="for one change and all its watchers")


@pytest.mark.bench
@pytest.mark.timeout(600)
async def test_idle_watchers_cost_little(report: Report) -> None:
    with serving(20) as served:
        async with connected(served, 1) as clients:
            await watching(clients[0])
            base = served.tell("usage")["rss"]
        async with connected(served, IDLE) as clients:
            for client in clients:
                await client.send("AllWatcher", "Next", version=3, name=await watching(client))
            before = served.tell("usage")
            await asyncio.sleep(QUIET_S)
            after = served.tell("usage")
    share = (after["cpu"] - before["cpu"]) / QUIET_S * 100
    report.add(f"{IDLE} idle watchers", [share], "% of a core", target="< 1 %", note=f"over {QUIET_S:.0f} s")
    each = (after["rss"] - base) / IDLE
    report.add("... memory of each", [each], "KiB", target="<= 100 KiB", note="connection and watcher")
