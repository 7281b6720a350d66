"""Params of wrong types and odd values for every method: generated from the registry."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pushjuju.web.registry import FACADES, Method, On
from tests.world import odd_params
from tests.world.api import ApiClient, ApiWorld
from tests.world.controller import TestController
from tests.world.odd_params import candidates, newest, places, put, without, wrong
from tests.world.restored import Restored

_ABROAD = ("ImportKeys",)  # asks GitHub and Launchpad


class Caller:
    """Calls methods as a superuser, and checks every answer."""

    def __init__(self, client: ApiClient, store: Restored) -> None:
        self.client = client
        self.store = store

    async def call(self, method: Method, params: Any) -> dict[str, Any]:
        """Return the answer to a call, which is ordinary: without a bug, and without changes if refused."""
        number = await self.client.send(
            method.facade.name, method.name, params, version=newest(method), name="1"
        )
        answer = await self.client.read()
        text = json.dumps(answer)
        told = f"{method.facade.name}.{method.name} {json.dumps(params)[:500]} -> {text[:500]}"
        assert answer["request-id"] == number, told
        assert "internal error" not in text, told
        assert "Traceback" not in text, told
        assert not (self.store.undo() and refused(answer)), f"refused, but written: {told}"
        return answer

    async def usable(self, method: Method, model: str) -> list[Any]:
        """Return params to spoil: good ones if there are any, and ones with all fields."""
        made = candidates(method, model)
        for item in made:
            if not refused(await self.call(method, item)):
                return [item] if item is made[-1] else [item, made[-1]]
        return [made[0], made[-1]]


def refused(answer: Mapping[str, Any]) -> bool:
    """Return True when a request failed, or each item of its list. An operation of failed tasks is kept."""
    if "error" in answer:
        return True
    found = answer["response"]
    lists = [value for value in found.values() if isinstance(value, list)] if isinstance(found, dict) else []
    items = lists[0] if lists else []
    return bool(items) and "operation" not in found and all("error" in str(item).lower() for item in items)


def methods_of(facade: str) -> Iterator[Method]:
    for method in FACADES[facade].methods.values():
        if method.params is not None and method.name not in _ABROAD:
            yield method


@pytest.fixture
def shop(house: TestController) -> TestController:
    """A model whose store of charms does not answer, and whose application is offered."""
    house.active("web")
    closed = '"http://127.0.0.1:9"'
    house.write(lambda tx: tx.run("model_config_set", model=house.model, key="charmhub-url", value=closed))
    return house


@asynccontextmanager
async def calling(served: ApiWorld, house: TestController, facade: str) -> AsyncIterator[Caller]:
    served.add_user("kim")
    model = "" if FACADES[facade].on is On.CONTROLLER else house.model
    async with served.entered(model) as client:
        with Restored(served.ctx.controller.store_path) as store:
            yield Caller(client, store)
        assert await client.ask("Pinger", 1, "Ping") == {}


@pytest.mark.parametrize("facade", sorted(FACADES))
async def test_a_value_of_a_wrong_type_is_refused_everywhere(
    served: ApiWorld, shop: TestController, facade: str
) -> None:
    async with calling(served, shop, facade) as caller:
        for method in methods_of(facade):
            params = candidates(method, shop.model)[-1]
            for place in places(method.params, params):
                for value in wrong(place.kind):
                    answer = await caller.call(method, put(params, place.path, value))
                    assert answer["error"].startswith("json: cannot unmarshal"), (method.name, place, value)
                    assert "error-code" not in answer


@pytest.mark.parametrize("facade", sorted(FACADES))
async def test_odd_values_get_ordinary_answers(served: ApiWorld, shop: TestController, facade: str) -> None:
    async with calling(served, shop, facade) as caller:
        for method in methods_of(facade):
            for params in await caller.usable(method, shop.model):
                for place in places(method.params, params):
                    for value in odd_params.odd(place.kind, odd_params.at(params, place.path)):
                        await caller.call(method, put(params, place.path, value))
                    if place.path and isinstance(place.path[-1], str):
                        await caller.call(method, without(params, place.path))


# --- what these tests have found --------------------------------------------------------------------------


@pytest.mark.parametrize("date", ["yesterday", "2020-13-01T00:00:00Z", "2020-01-01T00:00:00", "2020-01-01"])
async def test_a_history_since_what_is_no_time_is_refused(
    served: ApiWorld, shop: TestController, date: str
) -> None:
    asked = {"historyKind": "unit", "filter": {"date": date}, "tag": "unit-web-0"}
    async with served.entered(shop.model) as client:
        (found,) = (await client.ask("Client", 8, "StatusHistory", {"requests": [asked]}))["results"]
    assert found["error"]["message"] == f'"{date}" is not a valid time in RFC3339 format'
    assert found["error"]["code"] == "not valid"


async def test_the_content_of_a_secret_that_is_not_base64_is_refused_without_a_quote(
    served: ApiWorld, shop: TestController
) -> None:
    secret = {"content": {"data": {"key": "geheimnis-ü"}}, "label": "token"}
    async with served.entered(shop.model) as client:
        (found,) = (await client.ask("Secrets", 2, "CreateSecrets", {"args": [secret]}))["results"]
    assert found["error"]["message"] == "the content of a secret is not valid base64"


async def test_a_user_whose_password_is_refused_is_not_added(served: ApiWorld) -> None:
    async with served.entered() as client:
        zoe = {"username": "zoe", "password": "x" * 2000}
        (found,) = (await client.ask("UserManager", 3, "AddUser", {"users": [zoe]}))["results"]
        assert found["error"]["message"] == "the password is longer than 1024 characters"
        zoe["password"] = "a-shorter-one"
        assert await client.ask("UserManager", 3, "AddUser", {"users": [zoe]}) == {
            "results": [{"tag": "user-zoe"}]
        }


async def test_a_request_sets_the_password_of_a_user_once(served: ApiWorld) -> None:
    served.add_user("kim")
    changes = [{"tag": "user-kim", "password": f"new-{number}"} for number in range(3)]
    async with served.entered("", "kim") as client:
        found = (await client.ask("UserManager", 3, "SetPassword", {"changes": changes}))["results"]
    twice = {"message": "the request sets the password of user kim twice", "code": "not valid"}
    assert found == [{}, {"error": twice}, {"error": twice}]
    async with served.connect() as client:
        await client.login("kim", "new-0")
