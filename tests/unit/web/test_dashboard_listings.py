"""The pages of the dashboard that are tables, and pages as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from pushjuju.services.entities.basis import users as access
from pushjuju.services.entities.secret.secrets import Content
from pushjuju.services.requests.secret import user_secrets
from pushjuju.web.pages.site import PAGES
from tests.world.api import ApiWorld
from tests.world.charms import Charms
from tests.world.page_client import Browser, browsing
from tests.world.two_models import TwoModels

BASE = "/ui/m/admin/shop/"
JSON = {"Accept": "application/json"}
VALUE = "tops3cret"
TABLES = ("relations", "storage", "resources", "offers", "settings", "history")
OF_ADMINS = ("secrets", "access")
NAMES = {"owner": "admin", "model": "shop", "name": "web"}


@pytest.fixture
def two(tmp_path: Path, packs: Charms) -> Iterator[TwoModels]:
    """`shop` with web, which consumes db of `prod`, and with a secret."""
    made = TwoModels(tmp_path, packs)
    made.ready()
    user_secrets.add(made.ctx, made.shop.model, "token", Content({"key": VALUE}))
    yield made
    made.ctx.close()


@pytest.fixture
async def world(two: TwoModels) -> AsyncIterator[ApiWorld]:
    """The server of both models, with a user who reads `shop`."""
    async with ApiWorld.serve(two.ctx) as made:
        made.add_user("kim")
        with made.ctx.store.write() as tx:
            access.grant(tx, "kim", "read", access.Kind.MODEL, two.shop.model)
        yield made


async def document(browser: Browser, path: str) -> Any:
    status, text = await browser.get(path, **JSON)
    assert status == 200, (path, text)
    return json.loads(text)


async def test_each_table_says_what_its_command_says(world: ApiWorld, two: TwoModels) -> None:
    async with browsing(world, "admin") as browser:
        (row,) = await document(browser, f"{BASE}relations")
        assert (row["provider"], row["requirer"]) == ("db:server", "web:db")
        found = await document(browser, f"{BASE}relation/{row['id']}")
        assert [side["application"] for side in found["sides"]] == ["db", "web"]
        assert "db/0" in (await browser.get(f"{BASE}relation/{row['id']}"))[1]
        assert list((await document(browser, f"{BASE}offers"))["consumed"]) == ["db"]
        (secret,) = (await document(browser, f"{BASE}secrets")).values()
        assert (secret["name"], secret["revision"]) == ("token", 1)
        assert (await document(browser, f"{BASE}access"))["admin"]["access"] == "admin"
        assert (await document(browser, f"{BASE}settings"))["config"]["firewall-mode"]["source"]
        controller = await document(browser, "/ui/controller")
        assert [user["user-name"] for user in controller["users"]] == ["admin", "kim"]
        offered = await document(browser, "/ui/m/admin/prod/offers")
        assert offered["offers"]["db"]["application"] == "db"


async def test_no_page_has_the_content_of_a_secret(world: ApiWorld, two: TwoModels) -> None:
    async with browsing(world, "admin") as browser:
        for page in PAGES:
            path = "/ui" + re.sub(r"{(\w+)[^}]*}", lambda match: NAMES.get(match[1], "0"), page.path)
            for headers in ({}, JSON):
                assert VALUE not in (await browser.get(path, **headers))[1], path


async def test_readers_see_tables_but_those_of_administrators(world: ApiWorld, two: TwoModels) -> None:
    async with browsing(world, "kim") as browser:
        for name in TABLES:
            assert (await browser.get(BASE + name))[0] == 200, name
        for path in (*(BASE + name for name in OF_ADMINS), "/ui/controller"):
            status, text = await browser.get(path)
            assert (status, VALUE in text) == (404, False), path
        first = (await browser.get(BASE))[1]
        assert not any(f"{BASE}{name}" in first for name in OF_ADMINS)
        assert "/ui/controller" not in first


async def test_json_is_refused_in_json(world: ApiWorld, two: TwoModels) -> None:
    async with browsing(world) as stranger:
        status, text = await stranger.get(BASE, **JSON)
        assert (status, list(json.loads(text))) == (401, ["error"])
    async with browsing(world, "admin") as browser:
        status, text = await browser.get(f"{BASE}relation/99", **JSON)
        assert (status, list(json.loads(text))) == (404, ["error"])
        status, text = await browser.get(f"{BASE}log", **JSON)
        assert "debug-log" in json.loads(text)["error"]
        assert (await document(browser, f"{BASE}units"))["applications"]["web"]["units"]["web/0"]
        assert (await document(browser, f"{BASE}a/web"))["web"]["charm"] == "web"
