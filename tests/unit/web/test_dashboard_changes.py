"""Forms of the dashboard: plan, change, and who may ask for which change."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import subprocess
import sys
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from pushjuju.core import children
from pushjuju.services.entities.action import actions
from pushjuju.services.entities.application import applications
from pushjuju.services.entities.basis import users as access
from pushjuju.services.entities.secret.secrets import Content
from pushjuju.services.requests.action import operations
from pushjuju.services.requests.application import settings
from pushjuju.services.requests.model import blocks as blocking
from pushjuju.services.requests.secret import user_secrets
from pushjuju.services.views import tasks
from pushjuju.services.views.listings import applications as listings
from pushjuju.services.views.listings import audit_lines
from pushjuju.web.pages import sessions
from pushjuju.web.pages.changing import plans
from pushjuju.web.pages.changing.changes import CHANGES, Fields, parameters
from pushjuju.web.pages.changing.forms import parameters as parameters_of
from pushjuju.web.pages.changing.plans import _of_model
from pushjuju.web.pages.loopback import Loopback
from pushjuju.web.registry import Needs
from tests.world.api import ApiWorld
from tests.world.charms import Charms
from tests.world.controller import TestController
from tests.world.page_client import Browser, browsing

MODEL = "/ui/m/admin/shop/"
CONFIG = {
    "color": {"type": "string", "default": "red"},
    "size": {"type": "int", "default": 3},
    "loud": {"type": "boolean"},
    "token": {"type": "secret"},
}
ACTIONS = {
    "backup": {
        "params": {
            "to": {"type": "string"},
            "deep": {"type": "boolean", "default": False},
            "kind": {"type": "string", "enum": ["full", "on"]},
            "more": {"type": "object"},
            "key": {"type": "string", "format": "juju-secret"},
        },
        "required": ["to"],
    }
}
# a valid form for each change
FORMS: dict[str, dict[str, str]] = {
    "config": {"application": "web", "option.color": "blue", "was.color": "red"},
    "add-unit": {"application": "web", "units": "2"},
    "remove-unit": {"unit": "web/0", "typed": "web/0"},
    "remove-application": {"application": "web", "typed": "web"},
    "expose": {"application": "web"},
    "unexpose": {"application": "web"},
    "integrate": {"endpoint": "web", "other": "db"},
    "remove-relation": {"endpoint": "web", "other": "db"},
    "refresh": {"application": "web", "revision": "7"},
    "resolved": {"unit": "web/0"},
    "trust": {"application": "web"},
    "attach-storage": {"unit": "web/0", "storage": "data/0"},
    "detach-storage": {"storage": "data/0"},
    "grant": {"user": "kim", "level": "read"},
    "revoke": {"user": "kim", "level": "read"},
    "run": {"unit": "web/0", "action": "backup", "param.to": "here", "text.to": "yes"},
    "cancel-task": {"task": "1"},
    "destroy-model": {"typed": "shop"},
}


@pytest.fixture
def shop(house: TestController, packs: Charms) -> TestController:
    """A model with a unit whose charm has options and actions."""
    house.active(
        "web",
        packed=packs.make("web", peers=None, config=CONFIG, files={"actions.yaml": json.dumps(ACTIONS)}),
    )
    return house


def color(house: TestController) -> Any:
    return listings.config(house.ctx, house.model, "web")["settings"]["color"]["value"]


async def mark(browser: Browser, path: str = MODEL + "a/web/config") -> str:
    """Return the proof that a page puts into its forms."""
    _, text = await browser.get(path)
    found = re.search(r'name="csrf" value="(\w+)"', text)
    assert found, "the page has a form"
    return found[1]


def sent(text: str) -> dict[str, str]:
    """Return the fields of the button Apply of a plan's page."""
    form = text[text.index('action="/ui/m/admin/shop/apply"') :]
    return {name: unescape(value) for name, value in re.findall(r'name="([^"]+)" value="([^"]*)"', form)}


async def ask(browser: Browser, change: str, to: str = "plan", **fields: str) -> tuple[int, str]:
    """Send a form, and return status and text of the answer."""
    proof = fields.pop("csrf", None) or await mark(browser)
    form = {"csrf": proof, "change": change, "back": MODEL + "a/web", **FORMS[change], **fields}
    answer = await browser.post(MODEL + to, form)
    return answer.status, await answer.text()


async def test_a_form_shows_the_plan_and_changes_nothing_before_apply(
    served: ApiWorld, shop: TestController
) -> None:
    async with browsing(served, "admin") as browser:
        status, text = await ask(browser, "config")
        assert status == 200, text
        assert "pushjuju config -m home:admin/shop web color=blue" in text
        assert "<strong>0 to add, 1 to change, 0 to remove; 1 hook on 1 unit.</strong>" in text
        assert "config-changed" in text
        assert color(shop) == "red"
        answer = await browser.post(MODEL + "apply", sent(text))
        assert (answer.status, answer.headers["Location"]) == (303, MODEL + "a/web")
    assert color(shop) == "blue"
    assert served.worked


async def test_a_change_on_a_page_is_in_the_audit_log_with_the_host(
    served: ApiWorld, shop: TestController
) -> None:
    async with browsing(served, "admin") as browser:
        _, text = await ask(browser, "config")
        await browser.post(MODEL + "apply", sent(text))
        assert (await ask(browser, "resolved", to="apply"))[0] >= 400  # the unit is not in error
    line, refused = audit_lines.lines(shop.ctx, audit_lines.Wanted(most=2))
    assert (line["door"], line["command"], line["host"]) == ("dashboard", "config", "127.0.0.1")
    assert (refused["command"], refused["model"]) == ("resolved", "admin/shop")
    assert refused["error"]


@pytest.mark.parametrize(
    ("change", "field", "value"),
    [
        ("config", "option.color", "@blue"),
        ("config", "option.color", "it's\n@ \u00e9"),
        ("config", "option.color", "@it's\n\\n%s \u00e9"),
        ("run", "param.to", "1"),
        ("run", "param.to", "@on: ["),
    ],
)
async def test_the_command_line_that_is_shown_does_the_same_as_the_form(
    served: ApiWorld, shop: TestController, change: str, field: str, value: str
) -> None:
    async with browsing(served, "admin") as browser:
        status, text = await ask(browser, change, **{field: value})
    assert status == 200, text
    (line,) = re.findall(r"The same in a terminal: <code>(.*?)</code>", text, re.DOTALL)
    if value == "@blue":
        assert """printf %s '{"web": {"color": "@blue"}}' | pushjuju plan -m""" in unescape(line)
    program = f'pushjuju() {{ {shlex.quote(sys.executable)} -m pushjuju.cli "$@"; }}; '
    environ = {**os.environ, "PUSHJUJU_DATA": str(shop.ctx.datadir.root)}
    ran = await asyncio.to_thread(
        subprocess.run, ["sh", "-c", program + unescape(line)], env=environ, capture_output=True, text=True
    )
    assert (ran.returncode, ran.stderr) == (2, "")
    assert (f"-> {json.dumps(value)}" if change == "config" else "backup") in ran.stdout


async def test_what_runs_is_shown_with_its_beginning(served: ApiWorld, shop: TestController) -> None:
    request = operations.ActionRequest(action="backup", receivers=["web/0"], parameters={"to": "here"})
    operations.enqueue(shop.ctx, shop.model, request)
    assert shop.turn("web/0").dispatch is not None
    shop.clock.advance(7200)
    async with browsing(served, "admin") as browser:
        for page in (MODEL, f"{MODEL}u/web/0"):
            text = (await browser.get(page))[1]
            assert re.search(r"now runs backup of web/0, begun <time [^>]+>2 h ago</time>", text), page


async def test_a_plan_that_no_longer_fits_is_shown_anew(served: ApiWorld, shop: TestController) -> None:
    async with browsing(served, "admin") as browser:
        _, text = await ask(browser, "add-unit")
        shop.deploy("other")
        answer = await browser.post(MODEL + "apply", {**sent(text), "units": "1"})
        again = await answer.text()
    assert answer.status == 200
    assert "The model has changed since you saw the plan" in again
    assert shop.units() == ["other/0", "web/0"]


async def test_only_options_that_were_changed_in_the_form_are_set(
    served: ApiWorld, shop: TestController
) -> None:
    async with browsing(served, "admin") as browser:
        fields = {"option.size": "3", "was.size": "3", "option.color": 'a\r\nb @ "$(id)" -x'}
        _, text = await ask(browser, "config", **fields)
        await browser.post(MODEL + "apply", sent(text))
        assert color(shop) == 'a\nb @ "$(id)" -x'
        document = listings.config(shop.ctx, shop.model, "web")["settings"]
        assert document["size"]["source"] == "default"
        _, text = await ask(browser, "config", **{"reset.color": "on"})
        await browser.post(MODEL + "apply", sent(text))
    assert color(shop) == "red"


async def test_an_action_runs_with_the_parameters_of_its_form(served: ApiWorld, shop: TestController) -> None:
    async with browsing(served, "admin") as browser:
        _, page = await browser.get(MODEL + "a/web/actions")
        assert 'name="param.to"' in page
        status, text = await ask(browser, "run", **{"param.to": "123", "param.more": "a: 1"})
        assert status == 200, text
        await browser.post(MODEL + "apply", sent(text))
    ((operation, _),), _ = tasks.records(shop.ctx, shop.model, tasks.Filter(), limit=9, offset=0)
    shown: Any = tasks.show_operation(shop.ctx, shop.model, operation.id)
    assert shown["action"]["parameters"] == {"deep": False, "to": "123", "more": {"a": 1}}


async def test_the_page_of_actions_leads_to_their_forms_and_an_operation_to_its_tasks(
    served: ApiWorld, shop: TestController
) -> None:
    request = operations.ActionRequest(action="backup", receivers=["web/0"], parameters={"to": "here"})
    operations.enqueue(shop.ctx, shop.model, request)
    async with browsing(served, "admin") as browser:
        _, page = await browser.get(MODEL + "actions")
        assert f'href="{MODEL}a/web/actions#action-backup"' in page
        assert 'id="action-backup"' in (await browser.get(MODEL + "a/web/actions"))[1]
        (listed,) = json.loads((await browser.get(MODEL + "actions", Accept="application/json"))[1]).values()
        assert "backup" in listed
        assert f'href="{MODEL}task/2"' in (await browser.get(MODEL + "operation/1"))[1]
        _, page = await browser.get(MODEL + "task/2")
        for part in ("Task 2", f'href="{MODEL}u/web/0"', "pending", 'value="cancel-task"', "here"):
            assert part in page


async def test_a_choice_that_yaml_reads_as_a_boolean_stays_text(
    served: ApiWorld, shop: TestController
) -> None:
    async with browsing(served, "admin") as browser:
        assert 'name="text.kind"' in (await browser.get(MODEL + "a/web/actions"))[1]
        _, text = await ask(browser, "run", **{"param.kind": "on", "text.kind": "yes"})
        await browser.post(MODEL + "apply", sent(text))
    ((operation, _),), _ = tasks.records(shop.ctx, shop.model, tasks.Filter(), limit=9, offset=0)
    shown: Any = tasks.show_operation(shop.ctx, shop.model, operation.id)
    assert shown["action"]["parameters"]["kind"] == "on"


async def test_a_refused_action_has_no_plan(served: ApiWorld, shop: TestController) -> None:
    async with browsing(served, "admin") as browser:
        status, text = await ask(browser, "run", **{"param.kind": "none", "text.kind": "yes"})
    assert (status, "Apply" in text, "<h1>This was not done</h1>" in text) == (400, False, True)
    assert "kind" in text


async def test_an_option_that_nobody_touched_stays_unset(served: ApiWorld, shop: TestController) -> None:
    async with browsing(served, "admin") as browser:
        _, page = await browser.get(MODEL + "a/web/config")
        assert '<select name="option.loud" aria-label="loud"><option value="" selected>not set' in page
        _, text = await ask(browser, "config", **{"option.loud": "", "was.loud": ""})
        await browser.post(MODEL + "apply", sent(text))
    assert listings.config(shop.ctx, shop.model, "web")["settings"]["loud"]["source"] == "unset"


async def test_a_form_keeps_letters_that_pages_show_as_codes(served: ApiWorld, shop: TestController) -> None:
    value = 'a\tb \u200d\u00ad\u202e<&"'
    settings.set_config(
        shop.ctx, shop.model, settings.ConfigOptions(application="web", values={"color": value})
    )
    async with browsing(served, "admin") as browser:
        _, page = await browser.get(MODEL + "a/web/config")
        (was,) = re.findall(r'name="was.color" value="([^"]*)"', page)
        assert unescape(was) == value
        _, text = await ask(browser, "config", **{"option.color": f"{value}!", "was.color": value})
        assert (await browser.post(MODEL + "apply", sent(text))).status == 303
    assert color(shop) == f"{value}!"


async def test_fields_for_secrets_offer_their_names_to_who_may_see_them(
    served: ApiWorld, shop: TestController
) -> None:
    address = user_secrets.add(shop.ctx, shop.model, 'to"<b>ken', Content({"key": "tops3cret"}))
    served.add_user("kim")
    shop.write(
        partial(access.grant, person="kim", level="write", kind=access.Kind.MODEL, target=shop.model),
        whole=True,
    )
    async with browsing(served, "admin") as browser, browsing(served, "kim") as kim:
        for name, field in (("config", "option.token"), ("actions", "param.key")):
            _, page = await browser.get(f"{MODEL}a/web/{name}")
            assert f'<option value="{address}" label="to&#34;&lt;b&gt;ken">' in page
            assert re.search(f'name="{field}"[^>]* list="secrets"', page)
            assert "tops3cret" not in page
            assert address not in (await kim.get(f"{MODEL}a/web/{name}"))[1]
        _, text = await ask(browser, "config", **{"option.token": address})
        assert (await browser.post(f"{MODEL}apply", sent(text))).status == 303
    document = listings.config(shop.ctx, shop.model, "web")["settings"]
    assert document["token"]["value"] == address


async def test_who_may_only_look_sees_options_parameters_and_own_changes(
    served: ApiWorld, shop: TestController
) -> None:
    served.add_user("bob")
    shop.write(lambda tx: access.grant(tx, "bob", "read", access.Kind.MODEL, shop.model), whole=True)
    settings.set_config(
        shop.ctx, shop.model, settings.ConfigOptions(application="web", values={"color": "<teal>"})
    )
    async with browsing(served, "bob") as browser:
        pages = {
            name: (await browser.get(MODEL + name))[1]
            for name in ("a/web/config", "a/web/actions", "history", "plan")
        }
    assert all('<form class="change"' not in text for text in pages.values())
    assert "&lt;teal&gt;" in pages["a/web/config"]
    assert "<dt>to, needed</dt>" in pages["a/web/actions"]
    assert "(full, on)" in pages["a/web/actions"]
    assert "You have not changed this model." in pages["history"]
    assert "Type a command" not in pages["plan"]


async def test_an_administrator_shares_the_model_on_its_page(served: ApiWorld, shop: TestController) -> None:
    served.add_user("kim")
    async with browsing(served, "admin") as browser, browsing(served, "kim") as kim:
        assert (await kim.get(MODEL))[0] == 404
        assert (await ask(browser, "grant", "apply", csrf=await mark(browser, f"{MODEL}access")))[0] == 303
        assert (await kim.get(MODEL))[0] == 200
        assert ">kim</th>" in (await browser.get(f"{MODEL}access"))[1]
        status, text = await ask(browser, "grant", "apply")
        assert (status, "already has" in text) == (400, True)
        assert (await ask(browser, "revoke", "apply"))[0] == 303
        assert (await kim.get(MODEL))[0] == 404


@pytest.mark.parametrize("name", CHANGES)
async def test_a_change_needs_its_access(
    served: ApiWorld, shop: TestController, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Each change of the registry, with each lower level of access; all other checks pass."""
    monkeypatch.setattr(sessions, "is_mark", lambda *_: True)
    for level in ("read",) if CHANGES[name].needs is Needs.WRITE else ("read", "write"):
        served.add_user(level)
        shop.write(
            partial(access.grant, person=level, level=level, kind=access.Kind.MODEL, target=shop.model),
            whole=True,
        )
        async with browsing(served, level) as browser:
            for to in ("plan", "apply"):
                status, text = await ask(browser, name, to, csrf="any")
                assert status == 401, text
    assert shop.units() == ["web/0"]
    assert "Permission denied." in text


async def test_disabled_commands_are_disabled_on_pages(served: ApiWorld, shop: TestController) -> None:
    blocking.disable(shop.ctx, shop.model, "all", "not today")
    async with browsing(served, "admin") as browser:
        status, text = await ask(browser, "expose")
    assert status == 400, text
    assert "Not today" in text


@pytest.mark.parametrize("proof", ["", "00", "ab" * 64, "\u00e9"])
async def test_a_form_without_the_sessions_proof_changes_nothing(
    served: ApiWorld, shop: TestController, proof: str
) -> None:
    async with browsing(served, "admin") as browser:
        status, text = await ask(browser, "resolved", "apply", csrf=proof or "-")
    assert status == 403
    assert "load the page again" in text


async def test_the_proof_of_another_session_does_not_count(served: ApiWorld, shop: TestController) -> None:
    async with browsing(served, "admin") as one, browsing(served, "admin") as other:
        status, _ = await ask(one, "resolved", "apply", csrf=await mark(other))
    assert status == 403


async def test_each_page_has_another_proof(served: ApiWorld, shop: TestController) -> None:
    async with browsing(served, "admin") as browser:
        assert await mark(browser) != await mark(browser)


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        ("remove-application", {"typed": "we"}),
        ("remove-unit", {"typed": ""}),
        ("destroy-model", {"typed": "admin/shop"}),
        ("add-unit", {"units": "0"}),
        ("add-unit", {"units": "1e3"}),
        ("add-unit", {"application": "--help"}),
        ("integrate", {"other": "--via=10.0.0.0/8"}),
        ("integrate", {"other": "admin/secret.offer"}),
        ("refresh", {"channel": "-h"}),
        ("run", {"action": "--params=/etc/shadow"}),
        ("run", {"unit": "web/0 web/1"}),
        ("config", {"option.color": "red"}),
        ("cancel-task", {"task": "-1"}),
        ("attach-storage", {"storage": "--force"}),
        ("attach-storage", {"unit": "web"}),
        ("detach-storage", {"storage": "data/0 data/1"}),
        ("detach-storage", {"storage": "data/9"}),
        ("grant", {"user": "--help"}),
        ("grant", {"level": "superuser"}),
        ("revoke", {"user": ""}),
    ],
)
async def test_what_is_no_word_of_its_kind_is_refused(
    served: ApiWorld, shop: TestController, change: str, fields: dict[str, str]
) -> None:
    async with browsing(served, "admin") as browser:
        for to in ("plan", "apply"):
            status, text = await ask(browser, change, to, **fields)
            assert status == 400, text
    assert shop.units() == ["web/0"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits a program that has started")
@pytest.mark.parametrize(
    ("limit", "value", "told"),
    [
        ("_START_MIB", -472, "more than 512 MiB of memory"),
        ("_LONGEST_S", 0.1, "took more than 0 seconds"),
    ],
)
async def test_a_plan_says_when_it_needs_too_much(
    served: ApiWorld, shop: TestController, monkeypatch: pytest.MonkeyPatch,
    limit: str, value: float, told: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(plans, limit, value)
    async with browsing(served, "admin") as browser:
        status, text = await ask(browser, "expose")
    assert (status, told in text, "terminal" in text) == (400, True, True)


async def test_a_plan_that_is_killed_leaves_no_copy_of_the_store(
    served: ApiWorld, shop: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies: list[Path] = []

    def killed(*_: object, environ: dict[str, str], **__: object) -> None:
        copies.append(Path(environ["TMPDIR"], "state.db"))
        copies[0].write_text("secret")
        raise children.TimedOut("plan", 0.1)

    monkeypatch.setattr(children, "run_within", killed)
    async with browsing(served, "admin") as browser:
        assert (await ask(browser, "expose"))[0] == 400
    assert not copies[0].parent.exists()


def test_a_plan_tells_nothing_of_models_that_the_user_may_not_see() -> None:
    document = {
        "changed": True,
        "changes": [
            {"model": "shop", "kind": "application", "name": "web"},
            {"model": "hidden", "kind": "unit", "name": "vault/0"},
        ],
        "hooks": [{"unit": "web/0"}, {"unit": "vault/0"}],
        "unknown": ["what vault/0 does"],
        "blocked": ["vault/0"],
    }
    assert "vault" not in json.dumps(_of_model(document, "shop", ["db"]))
    assert "web/0" in json.dumps(_of_model(document, "shop", ["db"]))


def test_a_parameter_is_text_where_the_charm_says_so() -> None:
    fields: Fields = {"param.a": "5", "text.a": "yes", "param.b": "5", "param.c": ""}
    assert parameters(fields) == {"a": "5", "b": 5}


def test_fields_follow_the_schema(shop: TestController) -> None:
    with shop.ctx.read(shop.model) as tx:
        spec = actions.specs(tx, applications.get(tx, "web"))["backup"]
    kinds = [(item.name, item.kind, item.required) for item in parameters_of(spec)]
    assert kinds[0] == ("to", "text", True)
    assert ("deep", "choice", False) in kinds
    assert ("more", "yaml", False) in kinds


async def test_a_dashboard_that_only_reads_refuses_every_form(shop: TestController) -> None:
    """The server is that of `pushjuju dashboard --read-only`."""
    server = Loopback(shop.ctx, read_only=True)
    await server.start()
    try:
        host, port = server.address
        origin = f"http://{host}:{port}"
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
            await session.get(await server.link("admin"))
            page = await (await session.get(f"{origin}{MODEL}a/web")).text()
            answer = await session.post(
                f"{origin}{MODEL}apply", headers={"Origin": origin}, data=FORMS["expose"]
            )
            assert (answer.status, "csrf" in page) == (403, False)
    finally:
        await server.close()
