"""The page of the picture of a model: applications, machines, groups, parts and files."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from html import unescape

import pytest

from pushjuju.core.status import StatusKind
from pushjuju.services.entities.basis import statuses
from pushjuju.services.entities.basis import users as access
from pushjuju.services.pictures import folding, formats, graph
from pushjuju.services.requests.model.add_model import AddModelOptions, add_model
from pushjuju.services.views import relation_rows
from pushjuju.services.views.status import document as status
from tests.world.api import ApiWorld
from tests.world.charms import Charms
from tests.world.controller import TestController
from tests.world.known_models import Found, openstack, random_model
from tests.world.page_client import Browser, browsing

PAGE = "/ui/m/admin/shop/topology"
Show = Callable[[Found], None]


@pytest.fixture
def show(monkeypatch: pytest.MonkeyPatch) -> Show:
    """A function that lets the model look like a known one."""

    def look_like(found: Found) -> None:
        document = {**found[0], "model": {"name": "shop", "model-status": {"current": "available"}}}
        monkeypatch.setattr(status, "document", lambda *_: document)
        monkeypatch.setattr(relation_rows, "relation_rows", lambda *_: found[1])

    return look_like


def links(page: str) -> list[str]:
    """Return the addresses of the cards."""
    return [unescape(found) for found in re.findall(r'<a href="([^"]*)" class="\w+ \w+" id="c\d+" ', page)]


async def page_of(browser: Browser, query: str = "") -> str:
    status, text = await browser.get(PAGE + query)
    assert status == 200
    return text


async def test_the_page_shows_applications_or_machines(
    served: ApiWorld, house: TestController, packs: Charms
) -> None:
    house.active("web", packed=packs.make("web", peers=None))
    async with browsing(served, "admin") as browser:
        page = await page_of(browser)
        assert links(page) == ["/ui/m/admin/shop/a/web"]
        assert 'href="/ui/m/admin/shop/machine/0"' in await page_of(browser, "?view=machines")
        assert f'href="{PAGE}"' in (await browser.get("/ui/m/admin/shop/"))[1]


@pytest.mark.parametrize("form", ["svg", "dot", "mermaid"])
@pytest.mark.parametrize("view", ["applications", "machines"])
async def test_a_file_has_the_text_of_the_command(
    form: str, view: str, served: ApiWorld, house: TestController, packs: Charms
) -> None:
    house.active("web", packed=packs.make("web", peers=None))
    async with browsing(served, "admin") as browser:
        live = {"X-Live": "1"} if form == "dot" else {}
        answer = await browser.head(f"{PAGE}?view={view}&format={form}", **live)
        name = "shop-machines" if view == "machines" else "shop"
        ending = {"mermaid": "mmd"}.get(form, form)
        assert answer.headers["Content-Disposition"] == f'attachment; filename="{name}.{ending}"'
        assert answer.content_type == "application/octet-stream"
        draw = formats.formatters([], {}, of_machines=view == "machines")[form]
        document = status.document(house.ctx, house.resolve_model())
        assert (await answer.read()).decode() == draw(document)


async def test_another_format_is_not_found(served: ApiWorld) -> None:
    async with browsing(served, "admin") as browser:
        status, text = await browser.get(f"{PAGE}?format=png")
        assert (status, "the formats: svg, dot, mermaid" in text) == (404, True)


async def test_a_model_without_applications_says_so(served: ApiWorld) -> None:
    async with browsing(served, "admin") as browser:
        assert "this model has no applications" in await page_of(browser)
        assert "this model has no machines" in await page_of(browser, "?view=machines")


async def test_a_group_opens_and_closes_by_a_link(served: ApiWorld, show: Show) -> None:
    show(random_model(500, hubs=20))
    async with browsing(served, "admin") as browser:
        page = await page_of(browser)
        groups = [link for link in links(page) if link.startswith(f"{PAGE}?open=")]
        assert len(groups) > 5
        assert "All groups" in page
        one = await page_of(browser, groups[0].removeprefix(PAGE))
        assert len(links(one)) > len(links(page))
        both = next(link for link in links(one) if link.startswith(groups[0] + "&open="))
        two = await page_of(browser, both.removeprefix(PAGE))
        assert [f'href="{address}">close' in two for address in (groups[0], PAGE)] == [True, False]
        assert f'href="{PAGE}">close' in one


async def test_the_groups_of_the_overview_lead_to_the_page(served: ApiWorld, show: Show) -> None:
    show(random_model(200, hubs=6))
    async with browsing(served, "admin") as browser:
        _, text = await browser.get("/ui/m/admin/shop/")
        assert any(link.startswith(f"{PAGE}?open=") for link in links(text))


async def test_parts_of_a_large_model_are_shown_alone(served: ApiWorld, show: Show) -> None:
    found = random_model(500, hubs=20)
    show(found)
    async with browsing(served, "admin") as browser:
        assert "There is no application unheard-of" in await page_of(browser, "?near=unheard-of")
        name = list(found[0]["applications"])[100]
        near = await page_of(browser, f"?near={name}")
        assert f"/ui/m/admin/shop/a/{name}" in links(near)
        assert 5 < len(links(near)) < 100
        bad = await page_of(browser, "?show=not-well")
        assert "what is not well, and what is related to it" in bad
        assert "hook failed" in bad


async def test_when_all_is_well_the_page_says_so(
    served: ApiWorld, house: TestController, packs: Charms
) -> None:
    house.active("web", packed=packs.make("web", peers=None))
    async with browsing(served, "admin") as browser:
        assert "All is well." in await page_of(browser, "?show=not-well")


async def test_what_an_address_says_is_escaped(
    served: ApiWorld, house: TestController, packs: Charms
) -> None:
    house.active("web", packed=packs.make("web", peers=None))
    hostile = "%22%3E%3Cscript%3Ealert(1)%3C/script%3E%E2%80%AE"
    async with browsing(served, "admin") as browser:
        for query in (f"?near={hostile}", f"?open={hostile}&open=a", f"?view={hostile}", f"?show={hostile}"):
            page = await page_of(browser, query)
            assert not [word for word in ("<script>alert", "\u202e") if word in page]


async def test_pages_of_a_model_name_the_units_in_error(
    served: ApiWorld, house: TestController, packs: Charms
) -> None:
    house.active("web", packed=packs.make("web", peers=None))
    told = 'hook "a" failed\n<b>'
    house.write(lambda tx: statuses.set_status(tx, StatusKind.AGENT, "web/0", "error", told))
    async with browsing(served, "admin") as browser:
        noted = 'data-notes="web/0 is in error: hook &#34;a&#34; failed &lt;b&gt;"'
        assert noted in (await browser.get("/ui/m/admin/shop/log"))[1]
        assert 'data-notes=""' in (await browser.get("/ui/"))[1]


async def test_a_consumed_card_leads_to_a_model_that_the_user_may_read(
    served: ApiWorld, house: TestController, show: Show
) -> None:
    show(openstack())
    served.add_user("bob")
    house.write(lambda tx: access.grant(tx, "bob", "read", access.Kind.MODEL, house.model), whole=True)
    add_model(house.ctx, AddModelOptions(name="logs"))
    for user, reads in (("admin", True), ("bob", False)):
        async with browsing(served, user) as browser:
            assert ("/ui/m/admin/logs/" in links(await page_of(browser))) is reads


async def test_many_applications_without_groups_are_sent_as_a_small_page(
    served: ApiWorld, show: Show
) -> None:
    show(found := random_model(500, hubs=4))
    groups = folding.fold(graph.of_status(*found)).cards
    query = "&".join(f"open={name.partition(' ')[0]}" for name in groups)
    async with browsing(served, "admin") as browser:
        page = await page_of(browser, f"?{query}")
        assert len([link for link in links(page) if "/a/" in link]) >= 500
        assert len(gzip.compress(page.encode())) < 40_000
