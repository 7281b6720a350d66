"""Clients that do not read, do not finish, or are too many, over the real socket."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections import namedtuple
from contextlib import suppress
from pathlib import Path

import aiohttp
import pytest

from pushjuju.services.entities.basis import users as access
from pushjuju.web import limits
from pushjuju.web.endpoints import uploads
from tests.waiting import until
from tests.world.api import ApiFailed, ApiWorld, basic
from tests.world.charms import Charms
from tests.world.controller import TestController

Usage = namedtuple("Usage", "total used free")


def waiting(house: TestController) -> list[Path]:
    """Return the files of uploads."""
    folder = house.ctx.controller.root / "api" / "uploads"
    return [path for path in folder.rglob("*") if path.is_file()]


async def begun(served: ApiWorld, head: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect, and send the begin of an HTTP request."""
    host, _, port = served.endpoint.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port), ssl=served.trust)
    writer.write(head.encode())
    await writer.drain()
    return reader, writer


async def ends(reader: asyncio.StreamReader) -> bool:
    """Wait until the server ends a connection."""
    async with asyncio.timeout(30):
        try:
            return await reader.read() == b""
        except ConnectionError:
            return True


async def post(served: ApiWorld, path: str, body: bytes) -> tuple[int, str]:
    headers = {"Content-Type": "application/zip", "Authorization": basic()}
    url = f"https://{served.endpoint}{path}"
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, data=body, ssl=served.trust, headers=headers) as answer,
    ):
        return answer.status, await answer.text()


# --- uploads ----------------------------------------------------------------------------------------------


async def test_an_upload_that_is_cut_leaves_no_file(served: ApiWorld, house: TestController) -> None:
    _, writer = await begun(
        served,
        f"POST /model/{house.model}/charms HTTP/1.1\r\nHost: x\r\nAuthorization: {basic()}\r\n"
        f"Content-Type: application/zip\r\nContent-Length: 9000000\r\n\r\n",
    )
    writer.write(b"x" * 3_000_000)
    await writer.drain()
    await until(lambda: any(path.stat().st_size for path in waiting(house)))
    writer.transport.abort()
    await until(lambda: not waiting(house))
    assert list((house.ctx.controller.root / "api" / "uploads").iterdir()) == []


async def test_an_upload_that_would_fill_the_disk_is_refused(
    served: ApiWorld, house: TestController, packs: Charms, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = packs.make().path.read_bytes()
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**9, 10**9 - 1000, 1000))
    status, text = await post(served, f"/model/{house.model}/charms", body)
    assert (status, "quota limit exceeded" in text) == (500, True)
    assert waiting(house) == []


async def test_an_upload_that_says_that_it_is_too_large_is_not_read(
    served: ApiWorld, house: TestController
) -> None:
    reader, writer = await begun(
        served,
        f"POST /model/{house.model}/charms HTTP/1.1\r\nHost: x\r\nAuthorization: {basic()}\r\n"
        f"Content-Type: application/zip\r\nContent-Length: {uploads.LARGEST_CHARM + 1}\r\n\r\n",
    )
    assert b" 413 " in await reader.readline()
    writer.close()
    assert waiting(house) == []


async def test_a_server_deletes_only_old_uploads_of_servers_that_were_killed(house: TestController) -> None:
    folder = house.ctx.controller.root / "api" / "uploads"
    for name, age in (("old", 25), ("of-another-server", 1)):
        (folder / name).mkdir(parents=True)
        (folder / name / "upload").write_bytes(b"x")
        then = (folder / name).stat().st_mtime - age * 3600
        os.utime(folder / name, (then, then))
    async with ApiWorld.serve(house.ctx):
        assert [path.name for path in folder.iterdir()] == ["of-another-server"]


# --- connections ------------------------------------------------------------------------------------------


async def test_a_client_that_does_not_read_is_cut(
    served: ApiWorld, house: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST_UNSENT", 4_000_000)
    monkeypatch.setattr(limits, "END_WITHIN_S", 0.2)
    async with served.entered() as client, served.entered() as other:
        with suppress(ConnectionError):
            for _ in range(40):  # the answers repeat the name
                await client.send("Pinger", "x" * 1_000_000, version=1)
        await until(lambda: len(served.api.connections) == 1)
        assert await other.ask("Pinger", 1, "Ping") == {}


async def test_a_request_whose_head_does_not_end_is_cut(
    house: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "REQUEST_WITHIN_S", 0.2)
    async with ApiWorld.serve(house.ctx) as served:
        reader, writer = await begun(served, "GET /health HTTP/1.1\r\nHost: x\r\nSlow: ")
        assert await ends(reader)
        writer.close()


async def test_one_of_too_many_connections_ends_at_once(
    house: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST_OPEN", 1)
    health = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
    async with ApiWorld.serve(house.ctx) as served:
        reader, writer = await begun(served, health)
        assert b" 200 " in await reader.readline()
        second, other = await begun(served, "")
        assert await ends(second)
        writer.transport.abort()
        other.transport.abort()

        async def served_again() -> bool:
            third, last = await begun(served, health)
            found = await third.readline()
            last.transport.abort()
            return b" 200 " in found

        async with asyncio.timeout(30):
            while not await served_again():
                pass


async def test_the_server_has_few_websockets_in_all(
    served: ApiWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST_CONNECTIONS", 1)
    async with served.entered():
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            async with served.connect():
                pass
        assert refused.value.status == 503


# --- watchers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", ["MOST_WATCHERS", "MOST_WATCHERS_IN_ALL"])
async def test_there_are_few_watchers(
    served: ApiWorld, house: TestController, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(limits, limit, 1)
    async with served.entered(house.model) as client:
        name = (await client.ask("Client", 8, "WatchAll"))["watcher-id"]
        with pytest.raises(ApiFailed, match="too many watchers"):
            await client.ask("Client", 8, "WatchAll")
        await client.ask("AllWatcher", 3, "Stop", name=name)
        assert "watcher-id" in await client.ask("Client", 8, "WatchAll")


async def test_watchers_of_ended_connections_are_not_counted(
    served: ApiWorld, house: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST_WATCHERS_IN_ALL", 1)
    async with served.entered(house.model) as first, served.entered(house.model) as second:
        await first.ask("Client", 8, "WatchAll")
        with pytest.raises(ApiFailed, match="too many watchers"):
            await second.ask("Client", 8, "WatchAll")
    await until(lambda: not served.api.connections)
    async with served.entered(house.model) as third:
        assert "watcher-id" in await third.ask("Client", 8, "WatchAll")


async def test_a_superuser_who_is_none_any_more_watches_not_all_models(served: ApiWorld) -> None:
    served.add_user("kim")
    with served.ctx.store.write() as tx:
        access.grant(tx, "kim", "superuser", access.Kind.CONTROLLER, "")
    async with served.entered(user="kim") as client:
        name = (await client.ask("Controller", 11, "WatchAllModels"))["watcher-id"]
        await client.ask("AllModelWatcher", 4, "Next", name=name)
        pending = await client.send("AllModelWatcher", "Next", version=4, name=name)
        with served.ctx.store.write() as tx:
            access.revoke(tx, "kim", "superuser", access.Kind.CONTROLLER, "")
        found = await client.read()
        assert found["request-id"] == pending
        assert found["error-code"] in ("stopped", "unauthorized access")  # the latter when Next comes later
        with pytest.raises(ApiFailed, match="permission denied"):
            await client.ask("Controller", 11, "WatchAllModels")
