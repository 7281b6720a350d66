"""The pages of the dashboard over the real socket: who may see what, and what hostile values do."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from html import unescape
from html.parser import HTMLParser

import aiohttp
import pytest
from aiohttp import web

from pushjuju.core.clock import to_iso
from pushjuju.core.errors import StoreBusy
from pushjuju.core.status import StatusKind
from pushjuju.services.entities.basis import logs, statuses
from pushjuju.services.entities.basis import passwords as tokens
from pushjuju.services.entities.basis import users as access
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.basis.passwords import Purpose
from pushjuju.services.requests.user import passwords, users
from pushjuju.services.views import hook_runs
from pushjuju.store.tx import ModelTx
from pushjuju.web import limits, login
from pushjuju.web.login import LoggedIn
from pushjuju.web.pages import overview, rendering, sessions, site
from pushjuju.web.pages.loopback import Loopback, address_of
from pushjuju.web.pages.routes import PAGES
from tests.world.api import PASSWORD, ApiWorld
from tests.world.charms import Charms
from tests.world.controller import TestController
from tests.world.page_client import browsing

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>\u202e\x1b[31m{{ 7*7 }}"


@pytest.fixture
def busy(house: TestController, packs: Charms) -> TestController:
    """A model with an application whose unit and log say hostile things."""
    house.active("web", packed=packs.make("web", peers=None))

    def say(tx: ModelTx) -> None:
        now = house.clock.now()
        statuses.set_status(tx, StatusKind.WORKLOAD, "web/0", "blocked", HOSTILE, now=now)
        logs.append(tx, "unit-web-0", "ERROR", "unit.web/0", HOSTILE, now=now)

    house.write(say)
    return house


def may_read(house: TestController, user: str) -> None:
    house.write(lambda tx: access.grant(tx, user, "read", access.Kind.MODEL, house.model), whole=True)


def addresses(house: TestController) -> list[str]:
    """Return an address for each page."""
    (run, *_) = hook_runs.history(house.ctx, house.model, hook_runs.Wanted())
    values = {"owner": "admin", "model": "shop", "name": "web", "number": "0", "id": run.operation}
    found = []
    for page in PAGES:
        path = page.path.replace("{name:.+}", "0")
        if page.path.rpartition("/")[0].rpartition("/")[2] not in ("operation", "relation", "task"):
            found.append("/ui" + re.sub(r"{(\w+)}", lambda match: values[match[1]], path))
    return found


class _Elements(HTMLParser):
    """Collects the names of elements and attributes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


async def test_every_page_escapes_what_charms_say(served: ApiWorld, busy: TestController) -> None:
    shown = ""
    async with browsing(served, "admin") as browser:
        for path in addresses(busy):
            status, text = await browser.get(path)
            assert status == 200, path
            parsed = _Elements()
            parsed.feed(text)
            scripts = [attributes for tag, attributes in parsed.found if tag == "script"]
            assert all(str(item["src"]).startswith("/ui/static/") for item in scripts), path
            assert not any(
                name.startswith("on") or name == "style" for _, item in parsed.found for name in item
            )
            assert not {"\u202e", "\x1b"} & set(text), path
            shown += text
    assert "&lt;script&gt;" in shown


async def test_every_page_is_json_that_a_browser_never_reads_as_a_page(
    served: ApiWorld, busy: TestController
) -> None:
    shown = []
    async with browsing(served, "admin") as browser:
        for path in addresses(busy):
            answer = await browser.head(path, Accept="application/json")
            kind = answer.status, answer.content_type, answer.headers["X-Content-Type-Options"]
            assert kind == (200, "application/json", "nosniff"), path
            shown.append(str(await answer.json()))
    assert any("<script>alert(1)" in text for text in shown)


async def test_without_a_login_no_page_is_shown(served: ApiWorld, busy: TestController) -> None:
    async with browsing(served) as browser:
        for path in addresses(busy):
            answer = await browser.head(path)
            assert answer.status == 303
            assert answer.headers["Location"].startswith("/ui/login?to=/ui/")
        status, text = await browser.get("/ui/m/admin/shop/events")
        assert (status, "web" in text) == (401, False)


async def test_a_user_sees_only_models_with_read_access(served: ApiWorld, busy: TestController) -> None:
    served.add_user("bob")
    async with browsing(served, "bob") as browser:
        status, text = await browser.get("/ui/")
        assert (status, "shop" in text) == (200, False)
        for path in addresses(busy)[1:]:
            assert (await browser.get(path))[0] == 404
            status, text = await browser.get(path, Accept="application/json")
            assert (status, list(json.loads(text))) == (404, ["error"]), path
        may_read(busy, "bob")
        assert (await browser.get("/ui/m/admin/shop/"))[0] == 200


async def test_answers_forbid_scripts_frames_and_caches(served: ApiWorld, busy: TestController) -> None:
    async with browsing(served, "admin") as browser:
        for path in ("/ui/", "/ui/login", "/ui/m/admin/shop/", "/ui/nothing"):
            headers = (await browser.head(path)).headers
            policy = headers["Content-Security-Policy"]
            assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
            assert "frame-ancestors 'none'" in policy
            assert "unsafe" not in policy
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["Cache-Control"] == "no-store"


async def test_a_session_cookie_is_kept_from_scripts_and_other_sites(served: ApiWorld) -> None:
    async with browsing(served) as browser:
        cookie = (await browser.log_in()).headers["Set-Cookie"]
        assert cookie.startswith("__Host-pushjuju=")
        assert {"HttpOnly", "SameSite=Strict", "Secure", "Path=/"} <= set(cookie.split("; "))


async def test_a_proxy_serves_the_pages_under_a_name_that_the_server_knows(busy: TestController) -> None:
    async with ApiWorld.serve(busy.ctx, names=["shop.example"]) as world, browsing(world) as browser:
        for host in ("shop.example", "Shop.Example:8443"):
            form = {"name": "admin", "password": PASSWORD}
            headers = {"Host": host, "Origin": f"https://{host}"}
            assert (await browser.post("/ui/login", form, **headers)).status == 303
            assert (await browser.get("/ui/", Host=host))[0] == 200
        for host in ("evil.example", "www.shop.example", "shop.example.evil.example", "shop.example."):
            assert (await browser.get("/ui/", Host=host))[0] == 421


async def test_another_name_of_this_address_is_refused(served: ApiWorld, busy: TestController) -> None:
    async with browsing(served, "admin") as browser:
        assert (await browser.get("/ui/", Host="evil.example:17070"))[0] == 421
        assert (await browser.get("/ui/", Host="[bad"))[0] in (400, 421)
        assert (await browser.get("/ui/", Host="localhost:9"))[0] == 200


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}],
)
async def test_forms_of_other_sites_are_refused(served: ApiWorld, headers: dict[str, str]) -> None:
    async with browsing(served) as browser:
        answer = await browser.post("/ui/login", {"name": "admin", "password": PASSWORD}, **headers)
        assert (answer.status, "Set-Cookie" in answer.headers) == (403, False)


async def test_a_wrong_password_names_neither_part_and_is_counted(served: ApiWorld) -> None:
    async with browsing(served) as browser:
        told = [await browser.log_in(name, "wrong") for name in ("admin", "nobody")]
        assert [answer.status for answer in told] == [401, 401]
        for _ in range(10):
            answer = await browser.log_in("admin", "wrong")
        assert answer.status == 429


async def test_a_login_goes_on_only_to_pages_of_the_dashboard(served: ApiWorld) -> None:
    async with browsing(served) as browser:
        for to, wanted in (
            ("/ui/m/admin/shop/log?text=a", "/ui/m/admin/shop/log?text=a"),
            ("//evil.example/", "/ui/"), ("https://evil.example/", "/ui/"), ("/ui/\\evil", "/ui/"),
            ("/ui/\r\nSet-Cookie: a=b", "/ui/"),
        ):  # fmt: skip
            form = {"name": "admin", "password": PASSWORD, "to": to}
            assert (await browser.post("/ui/login", form)).headers["Location"] == wanted


async def test_a_form_that_is_too_large_is_refused(served: ApiWorld) -> None:
    async with browsing(served) as browser:
        assert (await browser.post("/ui/login", {"name": "a" * 10_000})).status == 413


async def test_logout_a_new_password_and_disabling_end_it(served: ApiWorld, busy: TestController) -> None:
    for end in ("logout", "password", "disable"):
        served.add_user(f"bob-{end}")
        may_read(busy, f"bob-{end}")
        async with browsing(served, f"bob-{end}") as browser:
            cookies = {cookie.key: cookie.value for cookie in browser.session.cookie_jar}
            assert (await browser.get("/ui/m/admin/shop/"))[0] == 200
            if end == "logout":
                await browser.post("/ui/logout", {})
            elif end == "password":
                passwords.set_password(served.ctx, "bob-password", "another-password")
            else:
                users.set_enabled(served.ctx, "bob-disable", enabled=False)
            browser.session.cookie_jar.update_cookies(cookies)
            assert (await browser.get("/ui/m/admin/shop/"))[0] == 303


async def test_a_session_does_not_return_with_its_user_or_with_the_name(
    served: ApiWorld, busy: TestController
) -> None:
    for end in ("disable", "remove"):
        served.add_user("bob")
        may_read(busy, "bob")
        async with browsing(served, "bob") as browser:
            if end == "disable":  # and no request tells the server of it meanwhile
                users.set_enabled(served.ctx, "bob", enabled=False)
                users.set_enabled(served.ctx, "bob", enabled=True)
            else:
                users.remove(served.ctx, "bob")
                busy.clock.advance(1)
                served.add_user("bob")
                may_read(busy, "bob")
            assert (await browser.get("/ui/m/admin/shop/"))[0] == 303
        if end == "disable":
            users.remove(served.ctx, "bob")


def new_password(served: ApiWorld, _house: TestController) -> None:
    passwords.set_password(served.ctx, "bob", "another-password")


def no_rights(_served: ApiWorld, house: TestController) -> None:
    house.write(lambda tx: access.revoke(tx, "bob", "read", access.Kind.MODEL, house.model), whole=True)


_ALIVE = b"event: alive\ndata:"


@pytest.mark.parametrize("end_access", [new_password, no_rights])
async def test_the_stream_ends_with_the_access(
    served: ApiWorld, busy: TestController, end_access: Callable[[ApiWorld, TestController], None]
) -> None:
    served.add_user("bob")
    may_read(busy, "bob")
    async with browsing(served, "bob") as browser:
        stream = await browser.head("/ui/m/admin/shop/events")
        assert stream.content_type == "text/event-stream"
        assert await asyncio.wait_for(stream.content.readuntil(b"\n\n"), 10) == b"event: change\ndata:\n\n"
        busy.write(lambda tx: statuses.set_status(tx, StatusKind.WORKLOAD, "web/0", "active"))
        told = _ALIVE
        while told.startswith(_ALIVE):
            told = await asyncio.wait_for(stream.content.readuntil(b"\n\n"), 10)
        assert told == b"event: change\ndata:\n\n"
        end_access(served, busy)
        await asyncio.wait_for(stream.content.read(), 20)


async def test_a_page_that_is_up_to_date_is_not_loaded_again(served: ApiWorld, busy: TestController) -> None:
    async with browsing(served, "admin") as browser:
        _, text = await browser.get("/ui/m/admin/shop/")
        (events,) = re.findall(r'data-events="([^"]+)"', text)
        stream = await browser.head(events)
        first = await asyncio.wait_for(stream.content.readuntil(b"\n\n"), 10)
        assert first == b"%s%d\n\n" % (
            _ALIVE,
            busy.clock.now().timestamp(),
        )  # times of the page count from it
        busy.write(lambda tx: statuses.set_status(tx, StatusKind.WORKLOAD, "web/0", "active"))
        late = await browser.head(events)
        for each in (stream, late):
            told = first
            while told.startswith(_ALIVE):
                told = await asyncio.wait_for(each.content.readuntil(b"\n\n"), 10)
            assert told == b"event: change\ndata:\n\n"
            each.close()


async def test_a_page_that_stays_open_does_not_lengthen_its_session(
    served: ApiWorld, busy: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[bool] = []
    find = sessions.find

    def watched(ctx: Context, token: str, *, use: bool = True) -> LoggedIn | None:
        used.append(use)
        return find(ctx, token, use=use)

    async with browsing(served, "admin") as browser:
        monkeypatch.setattr(sessions, "find", watched)
        await browser.get("/ui/m/admin/shop/", **{"X-Live": "1"})
        await browser.get("/ui/m/admin/shop/")
    assert used == [False, True]


async def test_a_lost_unit_is_not_well(served: ApiWorld, busy: TestController) -> None:
    busy.write(lambda tx: statuses.set_status(tx, StatusKind.WORKLOAD, "web/0", "active"))
    async with browsing(served, "admin") as browser:
        assert "What is not well" not in (await browser.get("/ui/m/admin/shop/"))[1]
        long_ago = to_iso(busy.clock.now() - timedelta(hours=1))
        busy.write(lambda tx: tx.run("machine_set_unreachable", id="0", now=long_ago))
        busy.deploy("late")
        base = "/ui/m/admin/shop/"
        front, units, models, machines = [
            (await browser.get(path))[1] for path in (base, f"{base}units", "/ui/", f"{base}machines")
        ]
    assert "What is not well" in front
    assert re.search(r"lost</span></td>", units), units
    assert "1 machine cannot be reached" in models
    assert '<li>2 machines, <a href="/ui/m/admin/shop/machines">1 down</a></li>' in front
    assert machines.count('<td class="wide">new unit</td>') == 1
    assert re.search(r"the oldest work was due <time datetime=", front)


async def test_a_browser_that_leaves_while_its_stream_begins_is_no_error(
    served: ApiWorld,
    busy: TestController,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def gone(self: web.StreamResponse, request: web.BaseRequest) -> None:
        raise ConnectionResetError("Cannot write to closing transport")

    async with browsing(served, "admin") as browser:
        monkeypatch.setattr(web.StreamResponse, "prepare", gone)
        with pytest.raises(aiohttp.ClientError):
            await browser.head("/ui/m/admin/shop/events")
    assert "internal error" not in capsys.readouterr().err


async def test_the_page_of_a_unit_in_error_has_the_last_lines_of_its_log_at_the_top(
    served: ApiWorld, busy: TestController
) -> None:
    for text in ("old", "1", "2", "No space left on <device>"):
        line = partial(logs.append, entity="unit-web-0", level="WARNING", module="hook", message=text)
        busy.write(lambda tx, line=line: line(tx, now=busy.clock.now()))
    busy.write(lambda tx: statuses.set_status(tx, StatusKind.AGENT, "web/0", "error", "hook failed"))
    async with browsing(served, "admin") as browser:
        shown = (await browser.get("/ui/m/admin/shop/u/web/0"))[1]
    (end,) = re.findall(r"The log ends with:</p>\n<pre>(.*?)</pre>", shown, re.DOTALL)
    assert end.split("\n")[:3] == ["WARNING 1", "WARNING 2", "WARNING No space left on &lt;device&gt;"]


async def test_units_in_error_come_before_other_units_that_are_not_well(
    served: ApiWorld, busy: TestController
) -> None:
    busy.deploy("cache")
    busy.write(lambda tx: statuses.set_status(tx, StatusKind.WORKLOAD, "cache/0", "blocked"))
    busy.write(lambda tx: statuses.set_status(tx, StatusKind.AGENT, "web/0", "error", "hook failed"))
    async with browsing(served, "admin") as browser:
        text = (await browser.get("/ui/m/admin/shop/units"))[1]
    assert 0 < text.index("/u/web/0") < text.index("/u/cache/0")


async def test_the_log_of_a_unit_stands_before_what_seldom_tells_why(
    served: ApiWorld, busy: TestController
) -> None:
    async with browsing(served, "admin") as browser:
        text = (await browser.get("/ui/m/admin/shop/u/web/0"))[1]
        application = (await browser.get("/ui/m/admin/shop/a/web"))[1]
    assert "The log ends with" not in text
    heads = re.findall("<h2>(.*?)</h2>", text)
    assert heads.index("Log") < heads.index("Hooks") < heads.index("Relations")
    assert application.index("<h2>Units</h2>") < application.index("<h2>Change</h2>")


async def test_long_tables_are_sorted_and_paged_in_their_addresses(
    served: ApiWorld, busy: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overview, "MOST_ROWS", 2)
    busy.deploy("db", count=11)
    base = "/ui/m/admin/shop/units?sort=name"
    async with browsing(served, "admin") as browser:
        first, last = (await browser.get(base))[1], (await browser.get(f"{base}&page=6"))[1]
        beyond = (await browser.get(f"{base}&page=99999"))[1]
        found = (await browser.get("/ui/m/admin/shop/units?find=web&sort=nothing&page=-1"))[1]
    shown = [re.findall(r">(\w+/\d+)</a>", text.partition('id="units"')[2]) for text in (first, last, found)]
    assert shown == [["db/0", "db/1"], ["db/10", "web/0"], ["web/0"]]
    assert beyond.partition("<main")[2] == last.partition("<main")[2]
    assert "12 rows, page 1 of 6" in first


async def test_a_long_message_is_whole_on_the_page_of_its_unit_alone(
    served: ApiWorld, busy: TestController
) -> None:
    message = "Traceback " + "word " * 200 + "the end"
    busy.write(lambda tx: statuses.set_status(tx, StatusKind.WORKLOAD, "web/0", "blocked", message))
    async with browsing(served, "admin") as browser:
        for page in ("", "units"):
            text = (await browser.get(f"/ui/m/admin/shop/{page}"))[1]
            assert re.search(r'<td class="wide">Traceback (word )+word\.\.\.</td>', text), page
        assert f"{message} <span" in (await browser.get("/ui/m/admin/shop/u/web/0"))[1]


async def test_commands_on_pages_of_a_model_name_the_model(served: ApiWorld, house: TestController) -> None:
    async with browsing(served, "admin") as browser:
        for page, command in (
            ("", "deploy -m home:admin/shop CHARM"),
            ("operations", "run -m home:admin/shop UNIT"),
        ):
            assert f"<code>pushjuju {command}" in (await browser.get(f"/ui/m/admin/shop/{page}"))[1]


async def test_unknown_names_and_broken_addresses_are_pages(served: ApiWorld, busy: TestController) -> None:
    base = "/ui/m/admin/shop/"
    async with browsing(served, "admin") as browser:
        for name in (
            "a/none", "u/web/9", "u/web/x", "machine/9", "op/0000", "op/%00", "operation/x",
            "operation/" + "9" * 99, "none",
        ):  # fmt: skip
            status, text = await browser.get(base + name)
            assert (status, "<h1>" in text) == (404, True), name
        assert f'<a href="{base}">Back to the model</a>' in (await browser.get(f"{base}a/none"))[1]
        assert "Back to the model" not in (await browser.get("/ui/m/admin/none/u/web/0"))[1]
        assert "There is no such page." in text


async def test_error_pages_are_sentences(served: ApiWorld) -> None:
    async with browsing(served) as browser:
        await browser.log_in()
        shown = (await browser.get("/ui/m/admin/shop/a/none"))[1]
        assert "<p>Application &#34;none&#34; not found.</p>" in shown
        shown = (await browser.get("/ui/enter?token=x"))[1]
        assert "<p>This link has been used, or is too old. <code>pushjuju dashboard</code> makes" in shown
    said = [str(rendering._sentence(text)) for text in ("web/1 is `<b>`", "no `a\u202eb`: why?", "port: low")]
    assert said == ["web/1 is <code>&lt;b&gt;</code>.", "No <code>a&lt;202E&gt;b</code>: why?", "port: low."]


async def test_a_page_of_a_busy_store_comes_by_itself_later(
    served: ApiWorld, busy: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise StoreBusy("the store is busy")

    async with browsing(served, "admin") as browser:
        with monkeypatch.context() as patch:
            patch.setattr(site, "visit_of", refuse)
            status, text = await browser.get("/ui/m/admin/shop/units?name=%22%3Eweb")
        again = '<meta http-equiv="refresh" content="5; url=/ui/m/admin/shop/units?name=%22%3Eweb">'
        assert (status, again in text) == (503, True)
        assert (await browser.get("/ui/m/admin/shop/units"))[0] == 200


async def test_the_log_is_found_by_entity_level_and_text(served: ApiWorld, busy: TestController) -> None:
    async with browsing(served, "admin") as browser:
        for query, found in (
            ("entity=web/0&level=ERROR&text=ALERT", True), ("text=nowhere", False), ("entity=9", False),
            ("level=none&entity=web", True), ("level=ERROR&entity=*", True),
        ):  # fmt: skip
            _, text = await browser.get(f"/ui/m/admin/shop/log?{query}")
            assert ("alert(1)" in text.partition('id="lines"')[2]) is found, query


async def test_a_long_log_is_read_in_pages_of_500_lines(served: ApiWorld, busy: TestController) -> None:
    def say(tx: ModelTx) -> None:
        for number in range(1100):
            logs.append(tx, "unit-web-0", "INFO", "unit.web/0", f"line {number}.", now=busy.clock.now())

    busy.write(say)
    async with browsing(served, "admin") as browser:
        address, found = "/ui/m/admin/shop/log?text=line", list[str]()
        while address:
            _, page = await browser.get(address)
            shown = re.findall(r"line (\d+)\.", page)
            assert (len(shown) <= 500, "data-follow" in page) == (True, not found)
            found = shown + found
            older = re.search(r'href="([^"]+)">Older lines', page)
            address = unescape(older[1]) if older else ""
    assert found == [str(number) for number in range(1100)]


async def test_files_are_small_and_may_be_kept(served: ApiWorld) -> None:
    async with browsing(served) as browser:
        for name in rendering.files():
            answer = await browser.head(f"/ui/static/{rendering.version()}/{name}")
            assert "immutable" in answer.headers["Cache-Control"]
            assert len(await answer.read()) < 40_000
        assert (await browser.get("/ui/static/old/pages.css"))[0] == 404


# --- on this computer -------------------------------------------------------------------------------------


async def test_a_link_works_once_on_the_controllers_own_address(busy: TestController) -> None:
    server = Loopback(busy.ctx)
    await server.start()
    try:
        link = await server.link("admin")
        assert link.startswith(f"http://{address_of(str(busy.ctx.controller.settings()['uuid']))}:")
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
            first, again = await session.get(link), await session.get(link)
            assert (first.status, again.status) == (200, 403)
            page = await session.get(link.partition("enter?")[0] + "m/admin/shop/")
            assert (page.status, "web" in await page.text()) == (200, True)
    finally:
        await server.close()


async def test_who_only_looks_at_a_link_does_not_use_it_up(house: TestController) -> None:
    server = Loopback(house.ctx)
    await server.start()
    try:
        link = await server.link("admin")
        async with aiohttp.ClientSession() as session:
            looked, followed = await session.head(link), await session.get(link)
            assert (looked.status, followed.status) == (405, 200)
            assert "Set-Cookie" not in looked.headers
    finally:
        await server.close()


async def test_a_request_on_this_computer_whose_head_does_not_end_is_cut(
    house: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "REQUEST_WITHIN_S", 0.2)
    server = Loopback(house.ctx)
    await server.start()
    try:
        reader, writer = await asyncio.open_connection(*server.address)
        writer.write(b"GET /ui/ HTTP/1.1\r\nHost: localhost\r\nSlow: ")
        assert await asyncio.wait_for(reader.read(), 30) == b""
        writer.close()
    finally:
        await server.close()


def test_links_end_with_time(house: TestController) -> None:
    now = 0.0
    links, entered = sessions.Links(lambda: now), login.enter(house.ctx, "admin")
    first, second = links.make(entered), links.make(entered)
    now += 119
    assert links.follow(first) is entered
    assert links.follow(first) is None
    now += 2
    assert links.follow(second) is None


def test_sessions_end_with_time(house: TestController) -> None:
    entered = login.enter(house.ctx, "admin")
    idle, used = sessions.begin(house.ctx, entered), sessions.begin(house.ctx, entered)
    for _ in range(13):
        house.clock.advance(3600)
        sessions.find(house.ctx, idle, use=False)
        sessions.find(house.ctx, used)
    assert sessions.find(house.ctx, idle) is None
    assert sessions.find(house.ctx, used) == LoggedIn(
        user="admin", display_name="", generation=entered.generation, controller_access="", proved=True
    )
    for _ in range(7 * 24 - 14):
        house.clock.advance(3600)
        assert sessions.find(house.ctx, used)
    house.clock.advance(2 * 3600)
    assert sessions.find(house.ctx, used) is None


def test_a_use_of_a_session_is_written_at_most_once_an_hour(house: TestController) -> None:
    token = sessions.begin(house.ctx, login.enter(house.ctx, "admin"))
    untils = set()
    for _ in range(60):
        house.clock.advance(300)
        sessions.find(house.ctx, token)
        with house.ctx.store.read() as tx:
            known = tokens.find_token(tx, Purpose.SESSION, token, now=house.clock.now())
        assert known
        untils.add(known.until)
    assert len(untils) == 5


def test_a_user_has_a_hundred_sessions_at_most(house: TestController) -> None:
    entered = login.enter(house.ctx, "admin")
    begun = []
    for _ in range(102):
        house.clock.advance(1)
        begun.append(sessions.begin(house.ctx, entered))
    found = [sessions.find(house.ctx, token, use=False) is not None for token in begun]
    assert found == [False, False, *[True] * 100]


def test_the_store_keeps_no_token_of_a_session(house: TestController) -> None:
    token = sessions.begin(house.ctx, login.enter(house.ctx, "admin"))
    assert token.rpartition(".")[2] not in str(house.dump())
    for purpose in (Purpose.LINK, Purpose.METRICS):
        with house.ctx.store.read() as tx:
            assert not tokens.token_holder(tx, purpose, token, now=house.clock.now())
    with house.ctx.store.write() as tx:
        link = tokens.make_token(tx, Purpose.LINK, "admin", now=house.clock.now())
    assert sessions.find(house.ctx, link) is None
    begun, generation, proved, secret = token.split(".")
    assert sessions.find(house.ctx, f"{begun}.{generation}.{1 - int(proved)}.{secret}") is None


async def test_a_session_goes_on_after_the_server_was_started_again(busy: TestController) -> None:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        first = Loopback(busy.ctx)
        await first.start()
        assert (await session.get(await first.link("admin"))).status == 200
        form = await (await session.get(f"{first.root}m/admin/shop/a/web")).text()
        await first.close()
        second = Loopback(busy.ctx, *first.address)
        await second.start()
        try:
            assert (await session.get(second.root, allow_redirects=False)).status == 200
            (cookie,) = session.cookie_jar
            (proof,) = set(re.findall(r'name="csrf" value="(\w+)"', form))
            assert sessions.is_mark(cookie.value, proof)
        finally:
            await second.close()


async def test_who_has_logged_out_stays_out_on_every_server(busy: TestController) -> None:
    one, other = Loopback(busy.ctx), Loopback(busy.ctx)
    await one.start()
    await other.start()
    try:
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
            await session.get(await one.link("admin"))
            (cookie,) = session.cookie_jar
            assert (await session.get(other.root, allow_redirects=False)).status == 200
            await session.post(f"{one.root}logout", headers={"Origin": one.root.removesuffix("/ui/")})
        async with aiohttp.ClientSession(cookies={cookie.key: cookie.value}) as session:
            for server in (one, other):
                assert (await session.get(server.root, allow_redirects=False)).status == 303
    finally:
        await one.close()
        await other.close()
