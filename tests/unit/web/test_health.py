"""What a server says to the checks of load balancers and containers."""

from __future__ import annotations

import asyncio
import sqlite3
import threading

import pytest

from pushjuju.store.db import Store
from pushjuju.web import api
from tests.unit.web.test_files_api import transfer
from tests.waiting import LIMIT_S, until
from tests.world.api import ApiWorld
from tests.world.controller import TestController


async def comes(served: ApiWorld, status: int) -> bytes:
    """Wait until the check has a status; return the body."""
    async with asyncio.timeout(LIMIT_S):
        while (answer := await transfer(served, "GET", "/health", Authorization=""))[0] != status:
            pass
    return answer[1]


async def test_health_is_503_while_the_store_is_away(served: ApiWorld, house: TestController) -> None:
    assert await comes(served, 200) == b"running\n"
    path = house.ctx.store.path
    aside = path.rename(path.with_suffix(".away"))
    assert str(path).encode() not in await comes(served, 503)
    aside.rename(path)
    assert await comes(served, 200) == b"running\n"


async def test_health_is_503_while_the_store_hangs(served: ApiWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()
    monkeypatch.setattr(api, "_WELL_S", 1.5)
    monkeypatch.setattr(Store, "version", lambda _self: (go_on.wait(LIMIT_S), 0))
    assert await comes(served, 503) == b"the store does not answer\n"
    go_on.set()
    assert await comes(served, 200) == b"running\n"


async def test_health_is_200_while_others_write(served: ApiWorld, house: TestController) -> None:
    other = sqlite3.connect(house.ctx.store.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    seen = served.api._looked
    await until(lambda: served.api._looked > seen + 1)
    assert (await transfer(served, "GET", "/health", Authorization=""))[0] == 200
    other.close()
