"""The log of a model over the API: the backlog, new lines, filters, and who may read."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import aiohttp
import pytest

from pushjuju.core.errors import StoreAway
from pushjuju.services.entities.basis import logs
from pushjuju.services.entities.basis import users as access
from pushjuju.services.requests.user import users
from pushjuju.store.db import Store
from pushjuju.web import pool
from pushjuju.web.endpoints import log_stream
from tests.world.api import PASSWORD, ApiWorld, basic
from tests.world.controller import TestController

ALL = "?replay=true&noTail=true"


def write(house: TestController, entity: str, message: str, level: str = "INFO", labels: str = "") -> None:
    now, more = house.clock.now(), {"location": "a.py:7", "labels": labels}
    house.write(lambda tx: logs.append(tx, entity, level, "juju.worker", message, now=now, **more))


@asynccontextmanager
async def reading(
    served: ApiWorld, model: str, query: str = "", user: str = "admin", password: str = PASSWORD
) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    path = f"/model/{model}/log" if model else "/log"
    url, headers = f"wss://{served.endpoint}{path}{query}", {"Authorization": basic(user, password)}
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(url, ssl=served.trust, headers=headers) as socket,
    ):
        yield socket


async def rest(socket: aiohttp.ClientWebSocketResponse) -> list[dict[str, Any]]:
    """Return all frames until the server ends the stream."""
    found = []
    while (message := await socket.receive(timeout=10)).type is aiohttp.WSMsgType.TEXT:
        found.append(json.loads(message.data))
    return found


@pytest.fixture
def logged(house: TestController) -> TestController:
    """A model with three lines."""
    write(house, "unit-web-0", "begun")
    write(house, "machine-0", "hot", "WARNING", labels="http,x")
    write(house, "unit-web-0", "failed", "ERROR")
    return house


async def test_the_whole_log_in_the_form_of_juju(served: ApiWorld, logged: TestController) -> None:
    async with reading(served, logged.model, ALL) as socket:
        assert await socket.receive_str(timeout=10) == "{}\n"
        _, second, third = await rest(socket)
    assert second == {
        "tag": "machine-0", "ts": second["ts"], "sev": "WARNING", "mod": "juju.worker", "loc": "a.py:7",
        "msg": "hot", "lab": ["http", "x"],
    }  # fmt: skip
    assert second["ts"].endswith("Z")
    assert (third["msg"], third["lab"]) == ("failed", None)


@pytest.mark.parametrize(
    ("query", "messages"),
    [
        ("?backlog=2&noTail=true", ["hot", "failed"]),
        ("?noTail=true", []),
        (f"{ALL}&level=warning", ["hot", "failed"]),
        (f"{ALL}&includeEntity=unit-web-*", ["begun", "failed"]),
        (f"{ALL}&excludeEntity=machine-0&maxLines=1", ["begun"]),
        (f"{ALL}&includeLabel=x", ["hot"]),
        (f"{ALL}&excludeModule=juju", []),
        ("?startTime=2999-01-01T00:00:00Z&noTail=true", []),
        ("?startTime=1999-01-01T00:00:00%2B02:00&noTail=true&limit=2", ["begun", "hot"]),
        ("?replay=true&limit=1", ["begun"]),
    ],
)
async def test_what_a_query_shows(
    served: ApiWorld, logged: TestController, query: str, messages: list[str]
) -> None:
    async with reading(served, logged.model, query) as socket:
        assert [item["msg"] for item in (await rest(socket))[1:]] == messages


async def test_a_line_that_another_process_writes_reaches_who_follows(
    served: ApiWorld, logged: TestController
) -> None:
    async with reading(served, logged.model, "?backlog=1") as socket:
        assert await socket.receive_str(timeout=10) == "{}\n"
        assert (await socket.receive_json(timeout=10))["msg"] == "failed"
        other = replace(logged.ctx, store=Store.open(logged.ctx.store.place))
        with other.write(logged.model) as tx:
            logs.append(tx, "unit-web-0", "INFO", "m", "new", now=logged.clock.now())
        other.store.close()
        assert (await socket.receive_json(timeout=10))["msg"] == "new"


async def test_a_stream_ends_with_the_access(served: ApiWorld, logged: TestController) -> None:
    served.add_user("kim")
    with logged.ctx.store.write() as tx:
        access.grant(tx, "kim", "read", access.Kind.MODEL, logged.model)
    async with reading(served, logged.model, user="kim") as socket:
        assert await socket.receive_str(timeout=10) == "{}\n"
        users.set_enabled(logged.ctx, "kim", enabled=False)
        assert await rest(socket) == []
        assert socket.closed


@pytest.mark.parametrize(
    ("query", "fault"),
    [
        ("?level=loud", 'level value "LOUD" is not one of '),
        ("?backlog=-1", 'backlog value "-1" is not a valid unsigned number'),
        ("?replay=maybe", 'replay value "maybe" is not a valid boolean'),
        ("?startTime=yesterday", 'start time "yesterday" is not a valid time'),
    ],
)
async def test_a_query_that_is_not_valid(
    served: ApiWorld, logged: TestController, query: str, fault: str
) -> None:
    async with reading(served, logged.model, query) as socket:
        (answer,) = await rest(socket)
    assert answer["error"]["message"].startswith(fault)
    assert answer["error"]["code"] == "bad request"


async def test_the_log_of_the_controller_is_that_of_its_own_model(
    served: ApiWorld, logged: TestController, own: str
) -> None:
    served.add_user("kim")
    with logged.ctx.write(own) as tx:
        logs.append(tx, "controller-0", "INFO", "m", "of the controller", now=logged.clock.now())
    async with reading(served, "", ALL) as socket:
        assert [item.get("msg") for item in await rest(socket)] == [None, "of the controller"]
    async with reading(served, "", ALL, user="kim") as socket:
        assert (await rest(socket))[0]["error"]["message"] == "permission denied"


@pytest.mark.parametrize("password", ["wrong", PASSWORD])
async def test_who_may_not_read_gets_an_error_and_no_line(
    served: ApiWorld, logged: TestController, password: str
) -> None:
    served.add_user("kim")
    async with reading(served, logged.model, ALL, user="kim", password=password) as socket:
        (answer,) = await rest(socket)
    assert answer["error"]["code"] == "unauthorized access"


async def test_who_follows_sees_all_lines_although_the_store_could_not_be_used_for_a_while(
    served: ApiWorld, logged: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "_AGAIN_S", 0.01)
    reached, left = log_stream.reach, 0

    def reach(*asked: Any) -> Any:
        nonlocal left
        if left:
            left -= 1
            raise StoreAway
        return reached(*asked)

    monkeypatch.setattr(log_stream, "reach", reach)
    async with reading(served, logged.model, "?backlog=1") as socket:
        assert await socket.receive_str(timeout=10) == "{}\n"
        assert (await socket.receive_json(timeout=10))["msg"] == "failed"
        left = 3
        write(logged, "unit-web-0", "new")
        assert (await socket.receive_json(timeout=10))["msg"] == "new"
        assert not left
