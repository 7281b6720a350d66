"""The API: what requests cost the server, in processor time of its own process."""

from __future__ import annotations

import asyncio
import os
import signal
import ssl
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from pushjuju.services.requests.user import passwords
from tests.bench.figures import Report
from tests.bench.processes import environment, pushjuju
from tests.bench.test_api import Served, connected, serving, sessions
from tests.world.api import PASSWORD, ApiClient, basic
from tests.world.controller import TestController

UNITS, SMALL_MODEL = 2000, 20
SMALL, AT_ONCE, ROUNDS = 500, 25, 5
POLLERS, SECONDS = 10, 10
UPLOAD_MIB, SMALL_UPLOAD_MIB, CHUNK = 500, 20, 1024 * 1024
_TICK = os.sysconf("SC_CLK_TCK")
Asking = Callable[[ApiClient], Awaitable[object]]


def cpu(served: Served) -> float:
    """Return the seconds of processor time that the server has used."""
    return float(served.tell("usage")["cpu"])


async def spent(served: Served, act: Callable[[], Awaitable[object]], rounds: int = ROUNDS) -> list[float]:
    """Return the milliseconds of the server's processor time for each of some repetitions."""
    found = []
    for _ in range(rounds):
        before = cpu(served)
        await act()
        found.append((cpu(served) - before) * 1000)
    return found


async def full_status(client: ApiClient) -> object:
    return await client.ask("Client", 8, "FullStatus", {"include-storage": True})


async def ping(client: ApiClient) -> object:
    return await client.ask("Pinger", 1, "Ping")


async def constraints(client: ApiClient) -> object:
    return await client.ask("ModelConfig", 3, "GetModelConstraints")


async def info(client: ApiClient) -> object:
    return await client.ask(
        "Application", 19, "ApplicationsInfo", {"entities": [{"tag": "application-app1"}]}
    )


@pytest.mark.bench
@pytest.mark.timeout(600)
async def test_full_status_costs_little(report: Report) -> None:
    with serving(UNITS) as served:
        async with connected(served, POLLERS) as clients:
            found = []
            for number in range(ROUNDS):
                await asyncio.to_thread(served.tell, f"write app1/7 word-{number}")
                found += await spent(served, lambda: full_status(clients[0]), 1)
            note = f"after a change; processor time of the server, the least of {ROUNDS}"
            report.add(f"FullStatus of {UNITS} units", [min(found)], target="<= 250 ms", note=note)
            before, began = cpu(served), time.monotonic()
            for number in range(SECONDS):
                await asyncio.gather(*(full_status(client) for client in clients))
                await asyncio.sleep(max(0.0, began + number + 1 - time.monotonic()))
            share = (cpu(served) - before) / SECONDS * 100
    note = f"one FullStatus of {UNITS} units each second and client, nothing changes"
    report.add(f"... {POLLERS} clients that poll", [share], "% of a core", target="< 100 %", note=note)


@pytest.mark.bench
@pytest.mark.timeout(600)
async def test_small_requests_cost_little(report: Report) -> None:
    with serving(SMALL_MODEL) as served:
        async with connected(served, AT_ONCE) as clients:
            for name, ask in (
                ("Ping", ping),
                ("GetModelConstraints", constraints),
                ("ApplicationsInfo", info),
            ):

                async def many(ask: Asking = ask) -> None:
                    async def several(client: ApiClient) -> None:
                        for _ in range(SMALL // AT_ONCE):
                            await ask(client)

                    await asyncio.gather(*(several(client) for client in clients))

                each = min(await spent(served, many)) / SMALL
                note = f"{each:.2f} ms of the server each, {AT_ONCE} clients, the least of {ROUNDS}"
                report.add(f"{name} over the API", [1000 / each], "/s and core", target=">= 300", note=note)


@pytest.mark.bench
@pytest.mark.timeout(600)
async def test_a_login_costs_little(report: Report) -> None:
    async def login() -> None:
        async with connected(served, 1):
            pass

    with serving(SMALL_MODEL) as served:
        first = await spent(served, login, 1)
        later = min(await spent(served, login))
    report.add(
        "the first login of a user", first, target="<= 100 ms", note="connection, TLS, hash; processor time"
    )
    report.add("... again within five minutes", [later], note=f"the least of {ROUNDS}")


async def upload(served: Served, mebibytes: int) -> None:
    """Send a body that is no charm."""

    async def body() -> AsyncIterator[bytes]:
        for _ in range(mebibytes):
            yield os.urandom(CHUNK)

    trust = ssl.create_default_context(cadata=served.where["ca"])
    url = f"https://{served.where['endpoint']}/model/{served.where['model']}/charms"
    headers = {"Authorization": basic(), "Content-Type": "application/zip"}
    async with (
        sessions() as session,
        session.post(url, data=body(), ssl=trust, headers=headers) as answer,
    ):
        assert answer.status == 400, await answer.text()


@pytest.mark.bench
@pytest.mark.timeout(600)
async def test_uploads_need_constant_memory(report: Report) -> None:
    with serving(SMALL_MODEL) as served:
        await upload(served, SMALL_UPLOAD_MIB)
        before = served.tell("usage")
        await upload(served, UPLOAD_MIB)
        after = served.tell("usage")
    note = f"the highest memory of the server, for {UPLOAD_MIB} MiB more than for {SMALL_UPLOAD_MIB} MiB"
    report.add("an upload", [(after["peak"] - before["peak"]) / 1024], "MiB", target="constant", note=note)
    each = (after["cpu"] - before["cpu"]) * 1000 / UPLOAD_MIB
    report.add("... processor time", [each], "ms/MiB", note="TLS, SHA-256, SHA-384 and writing")


@pytest.mark.bench
def test_the_server_starts_fast(report: Report, world: TestController) -> None:
    world.focus()  # a command serves the current controller
    passwords.set_password(world.ctx, "admin", PASSWORD)
    start(world)  # compiles the modules
    found = [start(world) for _ in range(ROUNDS)]
    note = "`pushjuju api` until the answer to the first login"
    report.add(
        "start of the API server",
        [min(cpu for cpu, _ in found)],
        target="<= 600 ms",
        note=f"processor time of {note}, the least of {ROUNDS}",
    )
    report.add("... by the clock", [seconds for _, seconds in found], note=note)


def start(world: TestController) -> tuple[float, float]:
    """Start the server as a command; return the milliseconds until it answers: processor and clock."""
    environ = {**environment(), "PUSHJUJU_DATA": str(world.ctx.datadir.root)}
    began = time.monotonic()
    process = subprocess.Popen(
        pushjuju("api", "--listen", "127.0.0.1:0"), env=environ, text=True, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        endpoint = line.partition("listens at ")[2].partition(";")[0]
        assert endpoint, line
        asyncio.run(log_in(endpoint))
        seconds = time.monotonic() - began
        used = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return sum(map(int, used)) / _TICK * 1000, seconds * 1000
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


async def log_in(endpoint: str) -> None:
    trust = ssl.create_default_context()
    trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
    async with (
        sessions() as session,
        session.ws_connect(f"wss://{endpoint}/api", ssl=trust) as socket,
    ):
        await ApiClient(socket).login()
