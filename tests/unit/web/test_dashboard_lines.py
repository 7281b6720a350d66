"""Pages that plan a typed command line, and that attach a file as a resource."""

from __future__ import annotations

import io
import json
import re

import aiohttp
import pytest

from pushjuju.core.errors import NotValid
from pushjuju.core.status import StatusKind
from pushjuju.services.entities.basis import statuses
from pushjuju.services.entities.basis import users as access
from pushjuju.services.requests.model import blocks as blocking
from pushjuju.services.views import resource_documents
from pushjuju.web.pages.changing import changes, typed
from tests.unit.web.test_dashboard_changes import FORMS, MODEL, mark, sent
from tests.world.api import ApiWorld
from tests.world.charms import Charms
from tests.world.controller import TestController
from tests.world.page_client import Browser, browsing

RESOURCES = {"site": {"type": "file", "filename": "site.tgz"}, "image": {"type": "oci-image"}}


@pytest.fixture
def shop(house: TestController, packs: Charms) -> TestController:
    """The application `web` with resources in the model `shop`."""
    house.active("web", packed=packs.make("web", peers=None, resources=RESOURCES))
    return house


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("config web color=blue size='a b' --reset x,y", {
            "change": "config", "application": "web", "option.color": "blue", "option.size": "a b",
            "reset.x": "yes", "reset.y": "yes"}),
        ("pushjuju add-unit web", {"change": "add-unit", "application": "web", "units": "1"}),
        ("juju add-unit -n 3 web", {"change": "add-unit", "application": "web", "units": "3"}),
        ("add-unit web --num-units=2", {"change": "add-unit", "application": "web", "units": "2"}),
        ("remove-unit web/0", {"change": "remove-unit", "unit": "web/0", "typed": "web/0"}),
        ("integrate web:db mysql", {"change": "integrate", "endpoint": "web:db", "other": "mysql"}),
        ("attach-storage web/0 data/1", {"change": "attach-storage", "unit": "web/0", "storage": "data/1"}),
        ("detach-storage data/1", {"change": "detach-storage", "storage": "data/1"}),
        ("trust web --remove", {"change": "trust", "application": "web", "remove": "yes"}),
        ("run web/leader backup to=/x", {
            "change": "run", "unit": "web/leader", "action": "backup", "param.to": "/x"}),
    ],
)  # fmt: skip
def test_a_line_is_read_as_the_form_that_does_the_same(line: str, fields: dict[str, str]) -> None:
    assert typed.read(line) == fields


@pytest.mark.parametrize(
    "line",
    [
        "", "pushjuju", "exec --all -- reboot", "deploy ./here", "ssh web/0", "destroy-model shop",
        "config web --file /etc/shadow", "config web title=@/etc/shadow",
        "config web -m other x=1", "config 'web", "refresh web --path ./x",
        "add-unit", "add-unit web db", "add-unit web -n", "expose web --to 0.0.0.0", "trust web --remove=no",
        "detach-storage data/0 --force", "detach-storage data/0 data/1",
        "run web/0 backup --params /etc/passwd", "x" * 3000,
    ],
)  # fmt: skip
def test_a_line_that_could_reach_more_is_refused(line: str) -> None:
    with pytest.raises(NotValid):
        typed.read(line)


def test_every_command_of_the_page_is_a_change() -> None:
    assert set(typed.COMMANDS) <= set(changes.CHANGES)
    assert set(changes.CHANGES) - set(typed.COMMANDS) == {"grant", "revoke", "cancel-task", "destroy-model"}
    assert set(typed.COMMANDS) <= set(FORMS)


async def test_a_typed_line_shows_its_plan_and_is_applied(served: ApiWorld, shop: TestController) -> None:
    async with browsing(served, "admin") as browser:
        assert (await browser.get(MODEL + "plan"))[0] == 200
        proof = await mark(browser)
        form = {"csrf": proof, "change": "line", "line": "add-unit web -n 2", "back": MODEL}
        answer = await browser.post(MODEL + "plan", form)
        text = await answer.text()
        assert answer.status == 200, text
        assert "pushjuju add-unit -m home:admin/shop web -n 2" in text
        assert shop.units() == ["web/0"]
        assert (await browser.post(MODEL + "apply", sent(text))).status == 303
        refused = await browser.post(MODEL + "plan", {**form, "line": "config web --file /etc/shadow"})
        assert (refused.status, "--file is no flag" in await refused.text()) == (400, True)
    assert shop.units() == ["web/0", "web/1", "web/2"]


async def test_a_typed_resolved_changes_nothing_before_its_plan_is_applied(
    served: ApiWorld, shop: TestController
) -> None:
    shop.write(lambda tx: statuses.set_status(tx, StatusKind.AGENT, "web/0", "error", "hook failed"))

    def asked() -> str:
        return shop.unit("web/0").resolved

    async with browsing(served, "admin") as browser:
        form = {"csrf": await mark(browser), "change": "line", "line": "resolved web/0", "back": MODEL}
        answer = await browser.post(MODEL + "plan", form)
        text = await answer.text()
        assert (answer.status, asked()) == (200, "none")
        assert "pushjuju resolved -m home:admin/shop web/0" in text
        assert (await browser.post(MODEL + "apply", sent(text))).status == 303
    assert asked() == "retry-hooks"


async def attach(
    browser: Browser, resource: str, content: bytes, name: str = "a.tgz", proof: str = ""
) -> int:
    """Send the form with a file, and return the status of the answer."""
    form = aiohttp.FormData()
    form.add_field("csrf", proof or await mark(browser))
    form.add_field("resource", resource)
    form.add_field("file", io.BytesIO(content), filename=name, content_type="application/octet-stream")
    answer = await browser.session.post(
        f"{browser.origin}{MODEL}upload", data=form, ssl=browser.world.trust,
        headers={"Origin": browser.origin}, allow_redirects=False,
    )  # fmt: skip
    return answer.status


async def test_a_file_of_the_browser_becomes_a_resource(served: ApiWorld, shop: TestController) -> None:
    content = b"x" * 3_000_000
    async with browsing(served, "admin") as browser:
        status, page = await browser.get(MODEL + "resources")
        assert (status, re.findall(r"<option>(.*?)</option>", page)) == (200, ["web/site"])
        assert await attach(browser, "web/site", content) == 303
        assert await attach(browser, "web/site", b"y", name="a.zip") == 400
        assert await attach(browser, "web/none", b"y") == 404
        assert await attach(browser, "web/site", b"y", proof="another page's") == 403
        path, shown = resource_documents.content(shop.ctx, shop.model, "web", "site")
        assert (path.read_bytes() == content, shown.origin) == (True, "upload")
        _, document = await browser.get(MODEL + "resources", Accept="application/json")
        (site,) = [item for item in json.loads(document)["web"] if item["name"] == "site"]
        assert site["size"] == 3_000_000
    assert served.worked
    assert [
        path for path in (shop.ctx.controller.root / "api" / "uploads").rglob("*") if path.is_file()
    ] == []


@pytest.mark.parametrize(
    "kind", ["multipart/form-data", "multipart/mixed; boundary=" + "x" * 99, "text/plain"]
)
async def test_a_form_that_cannot_have_a_file_is_refused(
    served: ApiWorld, shop: TestController, kind: str
) -> None:
    async with browsing(served, "admin") as browser:
        answer = await browser.session.post(
            f"{browser.origin}{MODEL}upload", data=b"--x--", ssl=served.trust,
            headers={"Origin": browser.origin, "Content-Type": kind}, allow_redirects=False,
        )  # fmt: skip
        assert (answer.status, "The form has no file." in await answer.text()) == (400, True)


async def test_who_may_only_read_attaches_nothing(served: ApiWorld, shop: TestController) -> None:
    served.add_user("kim")
    with shop.ctx.store.write() as tx:
        access.grant(tx, "kim", "write", access.Kind.MODEL, shop.model)
    async with browsing(served, "kim") as browser:
        proof = await mark(browser)
        with shop.ctx.store.write() as tx:
            access.revoke(tx, "kim", "write", access.Kind.MODEL, shop.model)
        assert 'name="file"' not in (await browser.get(MODEL + "resources"))[1]
        assert await attach(browser, "web/site", b"y", proof=proof) == 401
    blocking.disable(shop.ctx, shop.model, "all", "not now")
    async with browsing(served, "admin") as browser:
        assert await attach(browser, "web/site", b"y") == 400
    async with browsing(served) as browser:
        assert await attach(browser, "web/site", b"y", proof="x") == 303  # to the login
    assert shop.tables()["resource"] == []
