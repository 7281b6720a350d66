"""The pages of the dashboard that are tables, and pages as JSON."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from pushjuju.core.model.offerurl import parse
from pushjuju.services.entities.basis import logs, wake
from pushjuju.services.entities.basis import users as access
from pushjuju.services.entities.basis.audit import Caller
from pushjuju.services.entities.relation import relations
from pushjuju.services.entities.secret.secrets import Content
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests.action import operations
from pushjuju.services.requests.model.add_model import AddModelOptions, add_model
from pushjuju.services.requests.relation import cross_model
from pushjuju.services.requests.secret import user_secrets
from pushjuju.services.views import hook_runs, tasks
from pushjuju.services.views.listings import audit_lines
from pushjuju.store import processes
from pushjuju.store.processes import CAUSE
from pushjuju.store.queue import WorkQueue
from pushjuju.web.pages import listings
from pushjuju.web.pages import operations as operation_pages
from pushjuju.web.pages.routes import PAGES
from tests.world.api import ApiWorld
from tests.world.charms import Charms
from tests.world.commandline import call
from tests.world.page_client import Browser, browsing
from tests.world.two_models import TwoModels

BASE = "/ui/m/admin/shop/"
JSON = {"Accept": "application/json"}
VALUE = "tops3cret"
HOSTILE = "<script>alert(1)</script>\"'"
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
        shown = (await browser.get("/ui/controller"))[1]
        assert controller["store"]["kind"] in ("file", "PostgreSQL")
        assert controller["store"]["bytes"] > 0
        assert all(
            f"<h2>{name}</h2>" in shown for name in ("Clouds", "Work", "Store and versions", "Plugins")
        )
        offered = await document(browser, "/ui/m/admin/prod/offers")
        assert offered["offers"]["db"]["application"] == "db"
        assert "<td>admin/shop</td>" in (await browser.get("/ui/m/admin/prod/offers"))[1]


async def test_tables_show_times_and_escape_what_units_say(world: ApiWorld, two: TwoModels) -> None:
    hostile = "<script>alert(1)</script>\u202e"
    two.shop.write(lambda tx: relations.put_bag(tx, 0, "web/0", {"say": hostile}))
    async with browsing(world, "admin") as browser:
        for name in ("secrets", "access", "history"):
            assert "<time datetime=" in (await browser.get(BASE + name))[1], name
        shown = (await browser.get(f"{BASE}relation/0"))[1]
        assert "&lt;script&gt;alert(1)" in shown
        assert "<script>alert" not in shown
        assert "\u202e" not in shown


async def test_the_settings_that_somebody_chose_come_first_as_commands_take_them(
    world: ApiWorld, two: TwoModels
) -> None:
    changed = {"model": two.shop.model, "key": "test-mode", "value": "true"}
    two.shop.write(lambda tx: tx.run("model_config_set", **changed))
    async with browsing(world, "admin") as browser:
        shown = (await browser.get(f"{BASE}settings"))[1]
    rows = re.findall(r"<tr>\s*<th scope=\"row\">(.*?)</th>\s*<td>(.*?)</td>", shown)
    assert rows[0] == ("test-mode", "true")
    assert ("automatically-retry-hooks", "true") in rows


async def test_empty_models_have_every_table(world: ApiWorld, two: TwoModels) -> None:
    add_model(two.ctx, AddModelOptions(name="bare"))
    async with browsing(world, "admin") as browser:
        for name in ("", "units", "machines", "log", *TABLES, *OF_ADMINS):
            await document(browser, f"/ui/m/admin/bare/{name}")
            assert (await browser.get(f"/ui/m/admin/bare/{name}"))[0] == 200, name


async def test_an_empty_model_is_available_and_not_active(world: ApiWorld, two: TwoModels) -> None:
    add_model(two.ctx, AddModelOptions(name="bare"))
    async with browsing(world, "admin") as browser:
        shown = (await browser.get("/ui/"))[1]
    bare = shown[shown.index("/m/admin/bare/") :].partition("</li>")[0]
    assert "available" in bare
    assert "active" not in bare


async def test_no_page_has_the_content_of_a_secret(world: ApiWorld, two: TwoModels) -> None:
    async with browsing(world, "admin") as browser:
        for page in PAGES:
            path = "/ui" + re.sub(r"{(\w+)[^}]*}", lambda match: NAMES.get(match[1], "0"), page.path)
            for headers in ({}, JSON):
                assert VALUE not in (await browser.get(path, **headers))[1], path


async def test_the_command_of_each_page_works(world: ApiWorld, two: TwoModels, tmp_path: Path) -> None:
    (run, *_) = hook_runs.history(two.ctx, two.shop.model, hook_runs.Wanted())
    names = {**NAMES, "id": run.operation}
    env = {"PUSHJUJU_DATA": str(two.ctx.datadir.root)}
    async with browsing(world, "admin") as browser:
        for page in PAGES:
            if page.read in (operation_pages.operation, operation_pages.task):
                continue  # no action has run
            known = NAMES if page.read is listings.relation else names
            path = page.path.replace("{name:.+}", "0")  # of a machine
            path = "/ui" + re.sub(r"{(\w+)}", lambda match, known=known: known.get(match[1], "0"), path)
            status, text = await browser.get(path)
            assert status == 200, (path, text)
            found = re.findall(r"The same in a terminal: <code>pushjuju ([^<]+)</code>", text)
            for line in map(unescape, found):
                ended = await asyncio.to_thread(call, tmp_path, *shlex.split(line), env=env)
                assert ended.status == 0, (path, line, ended.err)


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
    two.shop.write(
        lambda tx: logs.append(tx, "unit-web-0", "INFO", "unit.web/0", "said", now=two.shop.clock.now())
    )
    async with browsing(world, "admin") as browser:
        status, text = await browser.get(f"{BASE}relation/99", **JSON)
        assert (status, list(json.loads(text))) == (404, ["error"])
        assert [line["message"] for line in await document(browser, f"{BASE}log")] == ["said"]
        assert (await document(browser, f"{BASE}units"))["applications"]["web"]["units"]["web/0"]
        assert (await document(browser, f"{BASE}a/web"))["web"]["charm"] == "web"


async def test_the_overview_tells_what_to_do_when_a_consumed_offer_was_removed(
    world: ApiWorld, two: TwoModels
) -> None:
    async with browsing(world, "admin") as browser:
        assert "remove-saas" not in (await browser.get(BASE))[1]
        cross_model.remove_offers(two.ctx, [parse("admin/prod.db")], removal.Force())
        text = (await browser.get(BASE))[1]
    assert "The offer home:admin/prod.db, which is db here, was removed." in text
    assert "<code>pushjuju remove-saas -m home:admin/shop db</code>" in text


async def test_pages_of_activity_and_forms_say_in_json_what_their_commands_say(
    world: ApiWorld, two: TwoModels, tmp_path: Path
) -> None:
    asked = operations.CommandRequest(command="true", timeout_s=9, units=["web/0"])
    operations.enqueue_commands(two.ctx, two.shop.model, asked)
    (run, *_) = hook_runs.history(two.ctx, two.shop.model, hook_runs.Wanted())
    env = {"PUSHJUJU_DATA": str(two.ctx.datadir.root)}

    async def said(line: str) -> Any:
        words = *line.split(), "-m", "home:admin/shop", "--format", "json"
        ended = await asyncio.to_thread(call, tmp_path, *words, env=env)
        return json.loads(ended.out)

    async with browsing(world, "admin") as browser:
        assert await document(browser, f"{BASE}timeline?units=web/0") == await said("timeline web/0")
        assert await document(browser, f"{BASE}a/web/config") == await said("config web")
        assert await document(browser, f"{BASE}a/web/actions") == await said("actions web --schema")
        listed, told = await document(browser, f"{BASE}operations"), await said("operations")
        assert listed["1"]["tasks"]["2"]["host"] == told["1"]["tasks"]["2"]["host"] == "web/0"
        task, told = await document(browser, f"{BASE}task/2"), await said("show-task 2")
        assert task.pop("timing").keys() == told.pop("timing").keys()
        assert task == told
        shown = await document(browser, f"{BASE}op/{run.operation}")
        assert (shown.pop("run")["operation"], shown.pop("log")) == (run.operation, [])
        assert shown == await said(f"replay {run.operation}")


async def test_the_page_of_operations_reads_only_what_it_shows_and_goes_back_by_pages(
    world: ApiWorld, two: TwoModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operation_pages, "_OPERATIONS", 2)
    asked = operations.CommandRequest(command="true", timeout_s=9, units=["web/0"])
    numbers = [operations.enqueue_commands(two.ctx, two.shop.model, asked).operation for _ in range(5)]
    read: list[int] = []
    taken = tasks.Filter.takes

    def takes(self: tasks.Filter, found: Sequence[tasks.Task], status: str) -> bool:
        read.extend(item.operation for item in found)
        return taken(self, found, status)

    monkeypatch.setattr(tasks.Filter, "takes", takes)
    async with browsing(world, "admin") as browser:
        shown, links = [], []
        address = f"{BASE}operations"
        while address:
            text = (await browser.get(address))[1]
            shown.append([number for number in numbers if f'operation/{number}"' in text])
            assert ("--limit 2 --offset 3", "--limit 2 --offset 1", "--limit 1 --offset 0")[
                len(links)
            ] in text
            older = re.search(r'href="([^"]+)">Older operations', text)
            address = older[1] if older else ""
            links.append("The newest operations" in text)
        assert shown == [numbers[3:], numbers[1:3], numbers[:1]]
        assert links == [False, True, True]
        assert len(read) <= 3 * (2 + 1)
        assert list(await document(browser, f"{BASE}operations?before=1")) == [str(numbers[0])]


async def test_history_leads_to_the_hooks_that_followed_and_a_hook_to_its_command(
    world: ApiWorld, two: TwoModels
) -> None:
    two.shop.ctx = replace(two.ctx, caller=Caller(door="command", command="deploy", arguments=("./<proxy>",)))
    two.deploy(two.shop, "proxy")
    (line,) = audit_lines.lines(two.ctx, audit_lines.Wanted(model=two.shop.model, entity="proxy"))
    CAUSE.set(line["cause"])  # as the driver does from the work queue
    two.shop.settle()
    (run, *more) = hook_runs.of_request(two.ctx, two.shop.model, line["cause"])
    followed = f"{BASE}timeline?cause={line['cause']}"
    asked = "<code>deploy ./&lt;proxy&gt;</code> by admin (command)"
    async with browsing(world, "admin") as browser:
        assert f'<a href="{followed}">{len(more) + 1} runs</a>' in (await browser.get(f"{BASE}history"))[1]
        shown = (await browser.get(followed))[1]
        assert asked in shown
        assert "proxy/0" in shown
        assert ">web/0<" not in shown
        assert [item["unit"] for item in await document(browser, followed)] == ["proxy/0"] * (len(more) + 1)
        page = (await browser.get(f"{BASE}op/{run.operation}"))[1]
        assert asked in page
        assert f'href="{followed}"' in page
        foreign = (await browser.get(f"/ui/m/admin/prod/timeline?cause={line['cause']}"))[1]
        assert "deploy ./" not in foreign
        for odd in ("zz", "%00", "f" * 20, "'; true", HOSTILE):
            assert (await browser.get(f"{BASE}timeline?cause={quote(odd)}"))[0] == 200, odd
    async with browsing(world, "kim") as reader:  # who may read the model, but not what others asked for
        assert "deploy ./" not in (await reader.get(f"{BASE}op/{run.operation}"))[1]
        assert "deploy ./" not in (await reader.get(followed))[1]
        assert followed not in (await reader.get(f"{BASE}history"))[1]


async def test_models_show_their_last_change_and_who_works_on_them(world: ApiWorld, two: TwoModels) -> None:
    async with browsing(world, "admin") as browser:
        shop = {item["uuid"]: item for item in (await document(browser, "/ui/"))["models"]}[two.shop.model]
        assert (shop["last-change"]["user"], shop["last-change"]["door"]) == ("admin", "")
        assert shop["processes"] == {"working": [], "waiting": []}
        assert "No process works on it now" in (await browser.get("/ui/"))[1]
        with two.ctx.store.write() as whole:
            processes.enlist(whole, two.shop.clock.now(), "0.1.0", two.ctx.store.lives, two.ctx.pools)
        host, pid = processes.place_of(processes.process_owner())
        assert f"{host}:{pid} does what becomes due" in (await browser.get("/ui/"))[1]
        queue = WorkQueue(two.ctx.store, processes.process_owner())
        two.shop.write(lambda tx: wake.machine(tx, "0", "a test"))
        queue.claim_some(f"{two.shop.model}/", two.shop.clock.now(), 1)
        assert f"Worked on by {host}:{pid}" in (await browser.get("/ui/"))[1]
    async with browsing(world, "kim") as reader:  # who does not see what others asked for
        (model,) = (await document(reader, "/ui/"))["models"]
        assert list(model["last-change"]) == ["time"]


async def test_pages_of_entities_show_relations_statuses_and_what_a_hook_logged(
    world: ApiWorld, two: TwoModels
) -> None:
    (run, *_) = hook_runs.history(two.ctx, two.shop.model, hook_runs.Wanted(units=["web/0"]))
    assert run.committed is not None

    def say(text: str, now: datetime) -> None:
        two.shop.write(lambda tx: logs.append(tx, "unit-web-0", "INFO", "unit.web/0", text, now=now))

    say("said later", run.committed + timedelta(seconds=9))
    say("said then", run.started)
    async with browsing(world, "admin") as browser:
        for path in ("a/web", "u/web/0"):
            _, text = await browser.get(BASE + path)
            assert 'href="/ui/m/admin/shop/relation/0">0</a>' in text, path
            assert "<h2>Statuses</h2>" in text, path
        _, text = await browser.get(f"{BASE}op/{run.operation}")
    assert ("said then" in text, "said later" in text) == (True, False)


async def test_work_that_nobody_does_is_told_on_every_page(world: ApiWorld, two: TwoModels) -> None:
    async with browsing(world, "admin") as browser:
        assert "no process does it" not in (await browser.get(f"{BASE}log"))[1]
        two.shop.write(lambda tx: wake.machine(tx, "0", "a test"))
        two.shop.clock.advance(10)
        for page in ("", "units", "log", "storage", "u/web/0"):
            assert "no process does it" in (await browser.get(BASE + page))[1], page


async def test_the_timeline_leads_to_earlier_hours(world: ApiWorld, two: TwoModels) -> None:
    async with browsing(world, "admin") as browser:
        _, newest = await browser.get(f"{BASE}timeline")
        two.shop.clock.advance(3 * 3600)
        _, later = await browser.get(f"{BASE}timeline?since=1h")
        (address,) = re.findall(r'<a href="([^"]*from=[^"]*)">', later)
        status, earlier = await browser.get(unescape(address))
        _, odd = await browser.get(f"{BASE}timeline?from=never&to=%00")
        first, last = "0001-01-01T00:00:00%2B14:00", "9999-12-31T23:59:59-14:00"
        status, _ = await browser.get(f"{BASE}timeline?from={first}&to={last}")
        assert status == 200
    assert "from=" not in newest
    assert (status, "install" in earlier, "from=" in earlier) == (200, True, False)
    begin, end = re.findall(r"20\d\d-\d\d-\d\dT\d\d:00:00Z", earlier.partition("<footer>")[2])
    assert f"timeline -m home:admin/shop --since {begin} --until {end}" in earlier
    assert "install" in odd


async def test_the_timeline_shows_some_units_since_some_time(world: ApiWorld, two: TwoModels) -> None:
    async with browsing(world, "admin") as browser:
        _, every = await browser.get(f"{BASE}timeline")
        _, known = await browser.get(f"{BASE}timeline?units=web/0&since=1h&all=yes")
        status, unknown = await browser.get(f"{BASE}timeline?units=none/0")
        _, typed = await browser.get(f"{BASE}timeline?from=2025-03-01+08:00&to=")
        two.shop.clock.advance(3 * 3600)
        _, later = await browser.get(f"{BASE}timeline?since=1h")
    assert ("install" in every, "install" in known, "install" in later) == (True, True, False)
    assert "pushjuju timeline -m home:admin/shop web/0 --all --since 1h" in known
    assert (status, "none/0" in unknown) == (404, True)
    assert ("install" in typed, 'name="from" value="2025-03-01 08:00:00"' in typed) == (True, True)
