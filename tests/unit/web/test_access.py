"""What each user may call: generated from the registry, so that no new method is forgotten."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass, replace
from typing import Any, get_args, get_origin, get_type_hints

import pytest

from pushjuju.core.model.secrets import Content
from pushjuju.services.entities.basis import users as access
from pushjuju.services.entities.basis.annotations import Kind
from pushjuju.services.requests.model.add_model import AddModelOptions, add_model
from pushjuju.services.requests.model.annotate import annotate
from pushjuju.services.requests.relation import cross_model
from pushjuju.services.requests.secret import user_secrets
from pushjuju.web import facades
from pushjuju.web.access import permit
from pushjuju.web.decoding import wire_name
from pushjuju.web.errors import ApiError
from pushjuju.web.registry import FACADES, KNOWN, Method, Needs, On, load_all
from tests.world.api import ApiFailed, ApiWorld
from tests.world.commandline import rows_kept
from tests.world.controller import TestController

load_all()
METHODS = [
    pytest.param(method, id=f"{kind.name}.{method.name}")
    for kind in FACADES.values()
    for method in kind.methods.values()
]
OF_MODELS = [item for item in METHODS if item.values[0].facade.on is not On.CONTROLLER]
MARK = "d0not5how"
TAGS = (
    "model-{model}",
    "application-web",
    "unit-web-0",
    "machine-0",
    "user-admin",
    "cloud-local",
    "action-1",
    "admin/shop.web",
)


def _tag(field: str, tag: str, model: str) -> str:
    return f"model-{model}" if field == "model_tag" else tag


def filled(kind: Any, tag: str, model: str) -> Any:
    """Return params of a method that name what is in a model."""
    origin = get_origin(kind)
    if origin is list:
        return [filled(get_args(kind)[0], tag, model)]
    if origin is dict:
        return {}
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return {
            wire_name(item): filled(
                hints[item.name], f"model-{model}" if item.name == "model_tag" else tag, model
            )
            for item in fields(kind)
            if item.default is MISSING or isinstance(item.default, str)
        }
    return tag if kind is str else None


def newest(method: Method) -> int:
    """Return the newest version of a facade that has a method."""
    return max(number for number in method.facade.versions if method.since <= number <= method.until)


@pytest.fixture
def hidden(house: TestController) -> TestController:
    """A model whose notes, settings and secrets have a mark."""
    house.active("web")
    annotate(house.ctx, house.model, Kind.APPLICATION, "web", {"note": MARK})
    user_secrets.add(house.ctx, house.model, "token", Content({"key": "ZDBub3Q1aG93"}), MARK)
    cross_model.offer(house.ctx, house.model, "web", ["juju-info"])
    return house


@pytest.fixture
def kim(served: ApiWorld, hidden: TestController) -> str:
    """A user who may log in, and read the model `mine`; return its UUID."""
    served.add_user("kim")
    made = add_model(served.ctx, AddModelOptions(name="mine"))
    with served.ctx.store.write() as tx:
        access.grant(tx, "kim", "read", access.Kind.MODEL, made.uuid)
    return made.uuid


@pytest.mark.parametrize("method", METHODS)
def test_without_access_to_a_model_nothing_of_it_can_be_called(method: Method, house: TestController) -> None:
    stranger = replace(house.ctx, user="kim")
    with pytest.raises(ApiError, match="permission denied"):
        permit(stranger, method, house.model)


def test_the_registry_knows_every_facade_and_its_module() -> None:
    for found in pkgutil.walk_packages(facades.__path__, f"{facades.__name__}."):
        importlib.import_module(found.name)
    made = {name: kind.__module__ for name, kind in FACADES.items()}
    assert made == {name: f"{facades.__name__}.{known.module}" for name, known in KNOWN.items()}


@pytest.mark.parametrize("method", METHODS)
def test_every_method_says_what_it_needs(method: Method) -> None:
    assert isinstance(method.needs, Needs)
    assert method.facade.versions
    if method.changes and method.facade.on is On.MODEL:
        assert method.needs >= Needs.WRITE


async def test_who_may_read_a_model_changes_nothing(served: ApiWorld, kim: str) -> None:
    store = served.ctx.controller.root / "state.db"
    async with served.entered(kim, "kim") as client:
        before = rows_kept(store)
        for item in OF_MODELS:
            method: Method = item.values[0]
            if method.needs > Needs.READ:
                with pytest.raises(ApiFailed, match="permission denied") as refused:
                    await client.ask(method.facade.name, newest(method), method.name)
                assert refused.value.code == "unauthorized access", item.id
        assert rows_kept(store) == before


def _calls(on: On, model: str) -> Iterator[tuple[Method, Any]]:
    for item in METHODS:
        method: Method = item.values[0]
        if method.facade.on not in (on, On.BOTH) or method.waits:
            continue
        for tag in TAGS if method.params else TAGS[:1]:
            yield method, filled(method.params, tag.format(model=model), model) if method.params else {}


@pytest.mark.parametrize("on", [On.CONTROLLER, On.MODEL])
async def test_nothing_of_another_model_is_readable(
    served: ApiWorld, hidden: TestController, kim: str, on: On
) -> None:
    model = "" if on is On.CONTROLLER else kim
    async with served.entered(model, "kim") as client:
        for method, params in _calls(on, hidden.model):
            number = await client.send(method.facade.name, method.name, params, version=newest(method))
            answer = await client.read()
            assert answer["request-id"] == number
            text = json.dumps(answer["response"])
            assert MARK not in text, method.name
            assert "ZDBub3Q1aG93" not in text, method.name
            assert '"shop"' not in text, method.name
            assert "internal error" not in json.dumps(answer), (method.name, answer)


async def test_a_superuser_may_do_everything_in_every_model(served: ApiWorld, hidden: TestController) -> None:
    served.add_user("kim")
    with served.ctx.store.write() as tx:
        access.grant(tx, "kim", "superuser", access.Kind.CONTROLLER, "")
    async with served.entered(hidden.model, "kim") as client:
        found = await client.ask("Client", 8, "FullStatus")
        assert list(found["applications"]) == ["web"]
        shown = await client.ask("Secrets", 2, "ListSecrets", {"show-secrets": True})
        assert shown["results"][0]["value"] == {"data": {"key": "ZDBub3Q1aG93"}}


async def test_the_content_of_secrets_is_for_administrators(served: ApiWorld, hidden: TestController) -> None:
    served.add_user("kim")
    with served.ctx.store.write() as tx:
        access.grant(tx, "kim", "write", access.Kind.MODEL, hidden.model)
    async with served.entered(hidden.model, "kim") as client:
        with pytest.raises(ApiFailed, match="permission denied"):
            await client.ask("Secrets", 2, "ListSecrets", {"show-secrets": True})
        listed = await client.ask("Secrets", 2, "ListSecrets", {})
        assert "value" not in listed["results"][0]


async def test_a_user_sees_and_changes_only_itself(served: ApiWorld, kim: str) -> None:
    async with served.entered("", "kim") as client:
        found = await client.ask("UserManager", 3, "UserInfo", {"entities": [{"tag": "user-admin"}]})
        assert found["results"][0]["error"]["message"] == "permission denied"
        every = await client.ask("UserManager", 3, "UserInfo", {"entities": None})
        assert [item["result"]["username"] for item in every["results"]] == ["kim"]
        changes = {"changes": [{"tag": "user-admin", "password": "mine"}]}
        found = await client.ask("UserManager", 3, "SetPassword", changes)
        assert found["results"][0]["error"]["message"] == "permission denied"
