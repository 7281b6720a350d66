"""The API's server is killed in the middle of requests: no change is half done."""

from __future__ import annotations

import asyncio
import re
import signal
import ssl
from base64 import b64encode
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
import yaml

from tests.charms.client import HELLO, Client
from tests.charms.test_libjuju import PASSWORD, WAIT, WARNINGS, connected, serving
from tests.waiting import paths_below, until

pytestmark = [pytest.mark.machine, WARNINGS]
_HEADERS = {"Authorization": f"Basic {b64encode(f'user-admin:{PASSWORD}'.encode()).decode()}"}


def killed(client: Client) -> None:
    process = client.started[-1]
    process.send_signal(signal.SIGKILL)
    process.wait()


def again(client: Client, endpoint: str) -> None:
    """Serve at the same address."""
    process = client.start("controller", "run", "--api", endpoint)
    assert process.stderr is not None
    assert any(re.search(r"The API listens at", line) for line in process.stderr)


async def slowly(sent: asyncio.Event) -> AsyncIterator[bytes]:
    """Yield a part of an archive, then nothing more."""
    yield b"PK" + bytes(1_000_000)
    sent.set()
    await asyncio.Event().wait()


async def cut_upload(client: Client, url: str, trust: ssl.SSLContext) -> None:
    """Kill the server while it receives a charm."""
    sent = asyncio.Event()
    async with aiohttp.ClientSession() as session:
        headers = {**_HEADERS, "Content-Type": "application/zip"}
        request = asyncio.create_task(session.post(url, data=slowly(sent), headers=headers, ssl=trust))
        await asyncio.wait_for(sent.wait(), 10)
        await until(lambda: any(p.name == "upload" and p.stat().st_size for p in paths_below(client.data)))
        killed(client)
        with pytest.raises(aiohttp.ClientError):
            await request


async def deploys_until_killed(client: Client, model: Any, most: int) -> None:
    """Deploy applications, each with an option; kill the server in the request after so many."""
    done: list[str] = []

    async def deploy() -> None:
        while True:
            name = f"app{most}x{len(done)}"
            await model.deploy(str(HELLO), application_name=name, num_units=0, config={"port": "8081"})
            done.append(name)

    task = asyncio.create_task(deploy())
    await until(lambda: len(done) >= most)
    killed(client)
    await asyncio.wait([task], timeout=1)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert set(done) <= set(recorded(client))


def recorded(client: Client) -> list[str]:
    """Return the applications, each of which has its charm and its option."""
    found: dict[str, Any] = {}
    if client.status()["applications"]:
        found = yaml.safe_load(client.run("export-bundle"))["applications"]
    assert all(item["options"] == {"port": 8081} and item["charm"] for item in found.values()), found
    return sorted(found)


async def test_a_killed_server_leaves_nothing_half_done(client: Client) -> None:
    endpoint = serving(client)
    (ca,) = client.data.glob("controllers/*/api/ca.pem")
    trust = ssl.create_default_context(cafile=str(ca))
    trust.check_hostname = False
    uuid = client.json("show-model")["town"]["model-uuid"]
    await cut_upload(client, f"https://{endpoint}/model/{uuid}/charms?series=noble", trust)
    assert recorded(client) == []
    for most in (0, 1, 2, 5):
        again(client, endpoint)
        async with connected(client, endpoint) as model:
            await deploys_until_killed(client, model, most)
    again(client, endpoint)
    async with connected(client, endpoint) as model:
        front = await model.deploy(str(HELLO), application_name="front", config={"port": "8081"})
        await model.wait_for_idle(["front"], status="active", **WAIT)
        assert front.units[0].workload_status == "active"
        assert sorted(model.applications) == recorded(client)
