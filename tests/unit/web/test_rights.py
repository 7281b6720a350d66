"""What each level of access permits: generated from the registry and from the routes of the server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import aiohttp
import pytest

from pushjuju.services.entities.basis import users as access
from pushjuju.services.requests.model.add_model import AddModelOptions, add_model
from pushjuju.services.requests.relation import cross_model
from pushjuju.web.registry import Method, Needs, On
from tests.world.api import PASSWORD, ApiClient, ApiWorld, basic
from tests.world.controller import TestController
from tests.world.odd_params import METHODS, NAMES, candidates, good, named, newest
from tests.world.page_client import browsing
from tests.world.restored import Restored

UNKNOWN = "00000000-0000-4000-8000-000000000000"
DENIED = {"error": "permission denied", "error-code": "unauthorized access", "response": {}}
LEVELS = {
    "reader": Needs.READ, "writer": Needs.WRITE, "manager": Needs.ADMIN, "root": Needs.SUPERUSER,
}  # fmt: skip
OTHERS = ("model-{model}", "user-admin", "cloud-local", "cloudcred-local_admin_default", "admin/shop.web")
_THEIRS = {**NAMES, "user_tag": "user-admin", "user": "admin", "username": "admin"}
TWINS = {
    "shop": "nope",
    "user-admin": "user-nobody",
    "local_admin": "local_nobody",
}


@pytest.fixture
def shop(house: TestController) -> TestController:
    """A model with an application that is offered."""
    house.active("web")
    cross_model.offer(house.ctx, house.model, "web", ["juju-info"])
    return house


@pytest.fixture
def mine(house: TestController) -> str:
    """Another model; return its UUID."""
    return add_model(house.ctx, AddModelOptions(name="mine")).uuid


@pytest.fixture
async def world(served: ApiWorld, shop: TestController, mine: str) -> ApiWorld:
    """Users of all levels: `stranger` has no model, `other` administers only `mine`."""
    for name in ("stranger", *LEVELS, "other"):
        served.add_user(name)
    with served.ctx.store.write() as tx:
        for name, level in (("reader", "read"), ("writer", "write"), ("manager", "admin")):
            access.grant(tx, name, level, access.Kind.MODEL, shop.model)
        access.grant(tx, "root", "superuser", access.Kind.CONTROLLER, "")
        access.grant(tx, "other", "admin", access.Kind.MODEL, mine)
    return served


async def answered(client: ApiClient, method: Method, params: Any) -> dict[str, Any]:
    """Return an answer without its number."""
    await client.send(method.facade.name, method.name, params, version=newest(method), name="1")
    answer = await client.read()
    del answer["request-id"]
    return answer


def methods_on(on: On) -> Iterator[tuple[Method, Any]]:
    """Yield methods of a kind of connection, each with params of its own."""
    for method in METHODS:
        if method.facade.on in (on, On.BOTH) and method.name != "ImportKeys":
            yield method, [{}] if method.params is None else candidates(method, UNKNOWN)


def about_others(method: Method, model: str) -> Iterator[Any]:
    """Yield params that name what others own."""
    if method.params is None:
        yield {}
        return
    for full in (False, True):
        for tag in OTHERS:
            yield named(good(method.params, tag, full=full, names=_THEIRS), model)


@pytest.mark.parametrize("user", LEVELS)
async def test_on_a_model_the_level_that_a_method_declares_decides(
    world: ApiWorld, shop: TestController, user: str
) -> None:
    async with world.entered(shop.model, user) as client:
        with Restored(world.ctx.controller.store_path) as store:
            for method, made in methods_on(On.MODEL):
                for params in made[:3]:
                    answer = await answered(client, method, params)
                    changed = store.undo()
                    if method.needs > LEVELS[user]:
                        assert answer == DENIED, method
                        assert not changed, method
                    else:
                        assert answer != DENIED, method


@pytest.mark.parametrize("user", ["stranger", "reader", "writer", "other"])
async def test_who_administers_nothing_changes_nothing_of_others(
    world: ApiWorld, shop: TestController, user: str
) -> None:
    async with world.entered("", user) as client:
        with Restored(world.ctx.controller.store_path) as store:
            for method, _ in methods_on(On.CONTROLLER):
                for params in about_others(method, shop.model):
                    answer = await answered(client, method, params)
                    assert not store.undo(), (method.name, params, answer)
                    if method.needs > Needs.LOGIN:
                        assert answer == DENIED, method


def twin(text: str, model: str) -> str:
    """Return a text about what is not there in the place of what the caller may not see."""
    for here, nowhere in {model: UNKNOWN, **TWINS}.items():
        text = text.replace(here, nowhere)
    return text


@pytest.mark.parametrize("on", [On.CONTROLLER, On.MODEL])
async def test_what_a_user_may_not_see_reads_like_what_is_not_there(
    world: ApiWorld, shop: TestController, mine: str, on: On
) -> None:
    async with world.entered("" if on is On.CONTROLLER else mine, "other") as client:
        with Restored(world.ctx.controller.store_path) as store:
            for method, _ in methods_on(on):
                for params in about_others(method, shop.model):
                    absent = json.loads(twin(json.dumps(params), shop.model))
                    if absent == params:
                        continue
                    answers = []
                    for item in (params, absent):
                        answers.append(json.dumps(await answered(client, method, item)))
                        store.undo()
                    here, nowhere = (twin(text, shop.model) for text in answers)
                    assert here == nowhere, (method.name, params)


# --- HTTP -------------------------------------------------------------------------------------------------


def paths(served: ApiWorld) -> Iterator[tuple[str, str]]:
    """Yield method and path of all routes that name a model, with `{model}`, and `{name}` on pages."""
    parts = {"owner": "admin", "application": "web", "resource": "x", "object": "web-0000000", "id": "1",
             "name": "web", "number": "0"}  # fmt: skip
    for route in served.server._listener._runner.app.router.routes():
        found = route.resource.canonical if route.resource else ""
        if "{model}" in found:
            model = "{name}" if found.startswith("/ui/") else "{model}"
            yield route.method, found.format_map({**parts, "model": model})


KINDS: dict[str, dict[str, str]] = {
    "nobody": {},
    "a wrong password": {"Authorization": basic("other", "wrong")},
    "a login": {"Authorization": basic("stranger")},
    "another model's administrator": {"Authorization": basic("other")},
}


async def fetched(
    session: aiohttp.ClientSession, served: ApiWorld, method: str, path: str, **more: Any
) -> Any:
    """Return all that an answer tells, but the time."""
    async with session.request(
        method, f"https://{served.endpoint}{path}", ssl=served.trust, allow_redirects=False, **more
    ) as answer:
        shown = {key: value for key, value in answer.headers.items() if key != "Date"}
        return answer.status, shown, await answer.text()


@pytest.mark.parametrize("kind", KINDS)
async def test_no_route_tells_whether_a_model_is_there(
    world: ApiWorld, shop: TestController, kind: str
) -> None:
    seen = 0
    async with aiohttp.ClientSession() as session:
        for method, path in paths(world):
            for more in ({}, {"Content-Type": "application/zip"}):
                headers = {
                    "Accept-Encoding": "identity",
                    **KINDS[kind],
                    **more,
                }  # packed, names differ in length
                both = [
                    await fetched(
                        session, world, method, path.format(model=model, name=name), data=b"x",
                        headers=headers,
                    )
                    for model, name in ((shop.model, "shop"), (UNKNOWN, "nope"))
                ]  # fmt: skip
                assert twin(str(both[0]), shop.model) == twin(str(both[1]), shop.model), (method, path)
                world.api.logins.attempts.succeeded("other")
                seen += 1
    assert seen > 20


async def frames(
    world: ApiWorld, path: str, headers: dict[str, str], password: str, within: float
) -> list[Any]:
    """Return what a websocket answers to a message that is a login of each kind, each within some seconds."""
    params = {"auth-tag": "user-other", "credentials": password}
    hello = {"request-id": 1, "type": "Admin", "version": 3, "request": "Login", "params": params}
    hello |= {"user": "user-other", "credentials": password, "commands": ["status"]}
    found: list[Any] = []
    async with aiohttp.ClientSession() as session:
        url = f"wss://{world.endpoint}{path}"
        try:
            socket = await session.ws_connect(url, ssl=world.trust, headers=headers)
        except aiohttp.WSServerHandshakeError as error:
            return [error.status]
        await socket.send_json(hello)
        try:
            while (got := await socket.receive(timeout=within)).type is aiohttp.WSMsgType.TEXT:
                found.append(got.data)
            found.append((got.type, got.data))
        except TimeoutError:
            pass
        await socket.close()
    return found


@pytest.mark.parametrize("password", [PASSWORD, "wrong"])
async def test_no_websocket_tells_whether_a_model_is_there(
    world: ApiWorld, shop: TestController, password: str
) -> None:
    spoken = 0
    for method, path in paths(world):
        if method != "GET" or path.startswith("/ui/"):
            continue
        headers = {"Authorization": basic("other", password)}
        for within in (0.5, 2.0, 10.0):  # an answer of a busy computer comes late
            here, nowhere = [
                await frames(world, path.format(model=model), headers, password, within)
                for model in (shop.model, UNKNOWN)
            ]
            if twin(str(here), shop.model) == str(nowhere):
                break
        else:
            raise AssertionError((path, here, nowhere))
        spoken += isinstance(here[0], str)
    assert spoken >= 3


async def test_no_page_tells_whether_a_model_is_there(world: ApiWorld, shop: TestController) -> None:
    async with browsing(world, "other") as browser:
        for method, path in paths(world):
            if path.startswith("/ui/"):
                headers = {"Origin": browser.origin, "Accept-Encoding": "identity"}
                both = [
                    await fetched(
                        browser.session, world, method, path.format(name=name), headers=headers, data=b""
                    )
                    for name in ("shop", "nope")
                ]
                assert twin(str(both[0]), shop.model) == twin(str(both[1]), shop.model), path
                assert both[0][0] in (400, 403, 404), path
