"""The forms of the storage page, which attach and detach storage."""

from __future__ import annotations

import re

import pytest

from pushjuju.services.requests.model import blocks as blocking
from tests.unit.web.test_dashboard_changes import MODEL, mark, sent
from tests.world.api import ApiWorld
from tests.world.controller import TestController
from tests.world.page_client import Browser, browsing
from tests.world.runtime import drive
from tests.world.storage import StorageRuntime, deploy_with_storage, play_mounts, storage_states

PAGE = f"{MODEL}storage"
ALL = ["data/0", "data/2", "logs/1", "logs/3"]


@pytest.fixture
async def work(house: TestController, monkeypatch: pytest.MonkeyPatch) -> StorageRuntime:
    """web/0 has the storage data/0 and logs/1, web/1 has data/2 and logs/3."""
    deploy_with_storage(house, {"data": "loop", "logs": "loop"}, count=2)
    made = StorageRuntime(house, play_mounts(monkeypatch))
    await drive(house, made)
    return made


async def ask(browser: Browser, change: str, **fields: str) -> tuple[int, str]:
    """Send a form of the page, and return status and text of its plan."""
    form = {"csrf": await mark(browser, PAGE), "change": change, "back": PAGE, **fields}
    answer = await browser.post(f"{MODEL}plan", form)
    return answer.status, await answer.text()


def choices(page: str) -> list[str]:
    return re.findall(r"<option>(.*?)</option>", page)


async def test_storage_is_detached_and_attached_again_by_forms(
    served: ApiWorld, house: TestController, work: StorageRuntime
) -> None:
    async with browsing(served, "admin") as browser:
        _, page = await browser.get(PAGE)
        assert (choices(page), 'value="attach-storage"' in page) == (ALL, False)
        assert page.count("<td>loop</td><td>64</td>") == 4
        status, text = await ask(browser, "detach-storage", storage="logs/1")
        assert status == 200, text
        assert "pushjuju detach-storage -m home:admin/shop logs/1" in text
        assert storage_states(house)["logs/1"] == "attached"
        assert (await browser.post(f"{MODEL}apply", sent(text))).status == 303
        await drive(house, work)
        assert storage_states(house)["logs/1"] == "detached"
        _, page = await browser.get(PAGE)
        assert choices(page) == ["logs/1", "data/0", "data/2", "logs/3"]
        assert '<option value="web/1">' in page
        status, text = await ask(browser, "attach-storage", storage="logs/1", unit="web/0")
        assert status == 200, text
        assert (await browser.post(f"{MODEL}apply", sent(text))).status == 303
        await drive(house, work)
    assert storage_states(house)["logs/1"] == "attached"


@pytest.mark.parametrize(
    ("change", "fields", "why"),
    [
        ("attach-storage", {"storage": "logs/1", "unit": "web/1"}, "Failed to attach logs/1 to web/1"),
        ("detach-storage", {"storage": "data/0"}, "Failed to detach data/0"),
    ],
)
async def test_a_plan_that_fails_says_why(
    served: ApiWorld, work: StorageRuntime, change: str, fields: dict[str, str], why: str
) -> None:
    async with browsing(served, "admin") as browser:
        status, text = await ask(browser, change, **fields)
    assert (status, "Apply" in text) == (400, False)
    assert why in text


async def test_a_disabled_removal_keeps_storage_attached(
    served: ApiWorld, house: TestController, work: StorageRuntime
) -> None:
    """As the command `detach-storage`."""
    blocking.disable(house.ctx, house.model, "remove-object", "not today")
    async with browsing(served, "admin") as browser:
        status, text = await ask(browser, "detach-storage", storage="logs/1")
    assert (status, "Not today" in text) == (400, True)
