"""FullStatus is read once for all clients that ask at the same time."""

from __future__ import annotations

import asyncio

import pytest

from pushjuju.services.entities.basis.context import Context
from pushjuju.web import api
from tests.world.api import ApiWorld
from tests.world.controller import TestController


async def test_a_status_is_read_again_after_a_change_and_after_a_while(
    served: ApiWorld, house: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    async def ask(key: str) -> str:
        def look(_: Context) -> object:
            read.append(key)
            return {"key": key}

        return str(await served.api.statuses.answer(key, look))

    told = await asyncio.gather(ask("a"), ask("b"), ask("a"))
    assert list(told) == ['{"key":"a"}', '{"key":"b"}', '{"key":"a"}']
    assert read == ["a", "b"]
    house.deploy("web")
    await ask("a")
    assert read == ["a", "b", "a"]
    monkeypatch.setattr(api, "_VALID_S", -1.0)
    house.deploy("db")
    await ask("a")
    await ask("a")
    assert read == ["a", "b", "a", "a", "a"]


async def test_a_client_sees_its_own_change_in_the_next_status(
    served: ApiWorld, house: TestController
) -> None:
    house.deploy("web")
    async with served.entered(house.model) as client:
        for exposed in (True, False, True):
            method = "Expose" if exposed else "Unexpose"
            await client.ask("Application", 19, method, {"application": "web"})
            status = await client.ask("Client", 8, "FullStatus", {})
            assert status["applications"]["web"]["exposed"] is exposed
