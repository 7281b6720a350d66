"""Pages that are made once for all browsers of a user, when these ask anew after a change."""

from __future__ import annotations

import asyncio
import re
from functools import partial
from html.parser import HTMLParser
from typing import Any

import pytest

from pushjuju.core.errors import StoreError
from pushjuju.core.status import StatusKind
from pushjuju.services.entities.basis import statuses
from pushjuju.services.entities.basis import users as access
from pushjuju.services.views.status import document as status
from pushjuju.web.pages import rendering
from pushjuju.web.pages.site import Site
from pushjuju.web.pool import Pool
from tests.unit.web.test_dashboard import addresses
from tests.world.api import ApiWorld
from tests.world.charms import Charms
from tests.world.controller import TestController
from tests.world.page_client import Browser, browsing

PAGE = "/ui/m/admin/shop/"
LIVE = {"X-Live": "1"}
CHANGE = b"event: change\ndata:\n\n"


@pytest.fixture
def shop(house: TestController, packs: Charms) -> TestController:
    house.active("web", packed=packs.make("web", peers=None))
    return house


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The templates of the pages that the server has made."""
    found: list[str] = []
    render = rendering.render

    def noted(template: str, *rest: Any) -> str:
        found.append(template)
        return render(template, *rest)

    monkeypatch.setattr(rendering, "render", noted)
    return found


def grant(shop: TestController, level: str) -> None:
    give = partial(access.grant, person="kim", level=level, kind=access.Kind.MODEL, target=shop.model)
    shop.write(give, whole=True)


async def text_of(browser: Browser, path: str = PAGE) -> str:
    status, text = await browser.get(path, **LIVE)
    assert status == 200
    return text


def pieces(text: str) -> list[str]:
    return re.findall(r"data-piece>.*", text)


async def test_browsers_that_ask_anew_at_the_same_time_get_one_page(
    served: ApiWorld, shop: TestController, made: list[str]
) -> None:
    async with browsing(served, "admin") as one, browsing(served, "admin") as other:
        _, first = await one.get(PAGE)
        made.clear()
        texts = await asyncio.gather(*[text_of(browser) for browser in (one, other) * 5])
    assert (len(set(texts)), made) == (1, ["model.html"])
    assert pieces(texts[0]) == pieces(first)
    proofs = [re.findall(r'name="csrf" value="(\w*)"', text) for text in (first, texts[0])]
    assert ([len(proof) for proof in proofs[0]], proofs[1]) == ([128], [""])


async def test_a_browser_that_follows_asks_the_store_once_for_the_news_and_once_for_the_page(
    served: ApiWorld, shop: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    run = Pool.run

    async def counted(self: Pool, function: Any) -> Any:
        asked.append(function)
        return await run(self, function)

    async with browsing(served, "admin") as browser:
        await text_of(browser)
        monkeypatch.setattr(Pool, "run", counted)
        await text_of(browser)
        assert len(asked) == 1  # the page is there: only rights and the state of the model are read
    judged: list[bool] = []
    follow = Site._may_follow

    async def judging(self: Site, request: Any) -> bool:
        judged.append(True)
        return await follow(self, request)

    monkeypatch.setattr(Site, "_may_follow", judging)
    async with browsing(served, "admin") as browser:
        stream = await browser.head(f"{PAGE}events")
        assert await asyncio.wait_for(stream.content.readuntil(b"\n\n"), 10) == CHANGE
        assert len(judged) == 1
        shop.write(lambda tx: statuses.set_status(tx, StatusKind.WORKLOAD, "web/0", "active"))
        assert await asyncio.wait_for(stream.content.readuntil(b"\n\n"), 10) == CHANGE
        assert len(judged) == 2
        stream.close()


async def test_a_page_after_a_change_has_the_change(served: ApiWorld, shop: TestController) -> None:
    async with browsing(served, "admin") as browser:
        for message in ("the first", "the second"):
            shop.write(
                lambda tx, told=message: statuses.set_status(
                    tx, StatusKind.WORKLOAD, "web/0", "blocked", told, now=shop.clock.now()
                )
            )
            assert message in await text_of(browser)


async def test_a_page_of_a_moment_ago_is_not_shown_to_who_may_not_see_it(
    served: ApiWorld, shop: TestController, made: list[str]
) -> None:
    served.add_user("kim")
    grant(shop, "admin")
    path = f"{PAGE}access"
    async with browsing(served, "kim") as kim, browsing(served, "admin") as admin:
        assert 'value="grant"' in await text_of(kim, path)
        await text_of(admin, path)
        assert made.count("access.html") == 2
        shop.write(partial(access.revoke, person="kim", level="admin", kind=access.Kind.MODEL,
                           target=shop.model), whole=True)  # fmt: skip
        assert (await kim.get(path, **LIVE))[0] == 404
        assert (await kim.get(PAGE, **LIVE))[0] == 200
        shop.write(partial(access.revoke, person="kim", level="read", kind=access.Kind.MODEL,
                           target=shop.model), whole=True)  # fmt: skip
        assert (await kim.get(PAGE, **LIVE))[0] == 404
        assert (await admin.get(path, **LIVE))[0] == 200


async def test_a_page_that_failed_is_made_again(
    served: ApiWorld, shop: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> str:
        raise StoreError("the store is busy")

    async with browsing(served, "admin") as browser:
        with monkeypatch.context() as patched:
            patched.setattr(status, "document", fail)
            assert (await browser.get(PAGE, **LIVE))[0] == 500
        assert (await browser.get(PAGE, **LIVE))[0] == 200


class _Forms(HTMLParser):
    """Counts the forms inside and outside of pieces."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[bool] = []
        self.inside = self.outside = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("div", "section"):
            self.open.append("data-piece" in dict(attrs))
        elif tag == "form" and dict(attrs).get("method") == "post":
            self.inside += any(self.open)
            self.outside += not any(self.open)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("div", "section"):
            self.open.pop()


async def test_forms_are_not_in_what_a_page_replaces(served: ApiWorld, shop: TestController) -> None:
    """As a page that is made for many has no proof of a session."""
    counted = 0
    async with browsing(served, "admin") as browser:
        for path in addresses(shop):
            parsed = _Forms()
            parsed.feed((await browser.get(path))[1])
            assert (parsed.inside, parsed.open) == (0, []), path
            counted += parsed.outside
    assert counted > 20
