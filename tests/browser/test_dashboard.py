"""The dashboard in a browser: every page in both schemes and widths, live changes, and the keyboard alone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import product
from pathlib import Path

import pytest

from contrib import screenshots
from pushjuju.core.errors import StoreBusy
from pushjuju.core.status import StatusKind
from pushjuju.services.entities.application import units
from pushjuju.services.entities.basis import logs, statuses
from pushjuju.services.entities.model import models
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests.action import operations
from pushjuju.services.requests.application import settings
from pushjuju.services.views import hook_runs
from pushjuju.services.views.listings import applications as listings
from pushjuju.store.rows.records import Operation
from pushjuju.store.tx import ModelTx
from pushjuju.web.pages.loopback import Loopback
from pushjuju.web.pages.shared import Shared
from tests.waiting import until
from tests.world.browser import BROWSER, NAME, Tab, chosen
from tests.world.charms import Charms
from tests.world.controller import TestController
from tests.world.proxy import Proxy

pytestmark = [
    pytest.mark.browser,
    # CI has the browser, or fails
    pytest.mark.skipif(BROWSER is None and "CI" not in os.environ, reason=f"{NAME} is not installed"),
]
ACTIONS = {
    "backup": {
        "description": "Save everything.",
        "params": {
            "to": {"type": "string", "description": "The folder."},
            "deep": {"type": "boolean", "default": False},
            "kind": {"type": "string", "enum": ["full", "part"]},
        },
        "required": ["to"],
    }
}
AXE = "axe-core@4.14.1"
AXE_RULES = '{runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}'
_CHECKED = "found.passes.length > 10 ? [] : ['nothing was checked']"
_BROKEN = "found.violations.map(rule => `${rule.id}: ${rule.nodes.map(node => node.html).slice(0, 3)}`)"
AXE_SUMMARY = f"{_BROKEN}.concat({_CHECKED})"
_TAB = ("Tab", 9)
_FOCUSED = "document.activeElement.textContent.trim()"


@pytest.fixture
def house(tmp_path: Path, packs: Charms) -> Iterator[TestController]:
    """A controller with the model `shop`, in it `web`, which is related to `db` and has run an action."""
    made = TestController.build(tmp_path / "house", packs)
    uses, gives = {"db": {"interface": "sql"}}, {"server": {"interface": "sql"}}
    acts = {"actions.yaml": json.dumps(ACTIONS)}
    made.active("web", packed=packs.make("web", peers=None, requires=uses, files=acts))
    made.active("db", packed=packs.make("db", peers=None, provides=gives))
    made.integrate("web", "db")
    request = operations.ActionRequest(action="backup", receivers=["web/0"], parameters={"to": "here"})
    operations.enqueue(made.ctx, made.model, request)
    set_status(made, "blocked", "<script>alert(1)</script><img src=x onerror=alert(2)>" + "x" * 400)
    yield made
    made.ctx.close()


def set_status(house: TestController, status: str, message: str = "") -> None:
    house.write(lambda tx: statuses.set_status(tx, StatusKind.WORKLOAD, "web/0", status, message))


def fail(house: TestController, unit: str) -> None:
    house.write(lambda tx: statuses.set_status(tx, StatusKind.AGENT, unit, "error", "hook failed"))


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The checks of accessibility of axe-core, from npm."""
    if (npm := shutil.which("npm")) is None:
        pytest.skip("npm is not installed")
    folder = tmp_path_factory.mktemp("axe")
    fetched = subprocess.run(
        [npm, "pack", "--silent", AXE], cwd=folder, check=False, capture_output=True, text=True
    )
    if fetched.returncode:
        pytest.skip(f"npm cannot fetch {AXE}: {fetched.stderr.strip()[-200:]}")
    with tarfile.open(folder / fetched.stdout.split()[-1]) as archive:
        script = archive.extractfile("package/axe.min.js")
        assert script is not None
        return script.read().decode()


@pytest.fixture
async def server(house: TestController) -> AsyncIterator[Loopback]:
    """The dashboard of that controller."""
    made = Loopback(house.ctx)
    await made.start()
    yield made
    await made.close()


@pytest.fixture
async def base(server: Loopback) -> str:
    """A link to the dashboard."""
    return await server.link("admin")


@pytest.fixture
def streams(server: Loopback) -> Callable[[], int]:
    """A function that returns how many streams are open."""
    return lambda: len(server._site._streams._open)


@pytest.fixture
async def tab(tmp_path: Path, base: str) -> AsyncIterator[Tab]:
    """A browser that has logged in by the link."""
    async with chosen(tmp_path / "profile") as made:
        await made.go(base)
        await made.until("location.pathname == '/ui/' && document.readyState == 'complete'")
        yield made


def origin(link: str) -> str:
    return link.partition("/ui/")[0]


def paths_of(house: TestController) -> list[str]:
    """Return the paths of all pages."""
    run = hook_runs.history(house.ctx, house.model, hook_runs.Wanted())[0].operation
    names = (
        "",
        "topology",
        "topology?view=machines",
        "units",
        "machines",
        "timeline",
        "actions",
        "operations",
        "log",
        "a/web",
        "a/web/config",
        "a/web/actions",
        "operation/1",
        "task/2",
        "relation/0",
        "u/web/0",
        "machine/0",
        f"op/{run}",
        *("relations", "storage", "resources", "offers", "secrets", "access", "settings", "history", "plan"),
    )
    return ["/ui/", "/ui/controller", *(f"/ui/m/admin/shop/{name}" for name in names)]


@pytest.mark.skipif(NAME == "firefox", reason="the pictures are those of chromium")
def test_screenshots_are_taken_anew_and_one_that_looks_different_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    docs, different = tmp_path / "docs", tmp_path / "different"
    monkeypatch.setattr(screenshots, "FOLDER", docs)
    monkeypatch.setattr(screenshots, "DIFFERENT", different)
    assert screenshots.main([]) == 0
    assert sorted(file.stem for file in docs.iterdir()) == sorted(screenshots.PAGES)
    shutil.copy(docs / "units.webp", docs / "log.webp")
    (docs / "plan.webp").unlink()
    assert screenshots.main(["--check"]) == 1
    told = capsys.readouterr().out.splitlines()
    assert [line.partition(" looks different")[0] for line in told] == ["log", "plan"]
    assert {file.name for file in different.iterdir()} == {"log-kept.webp", "log-now.webp", "plan-now.webp"}


async def test_every_page_fits_and_asks_nobody_else(tab: Tab, base: str, house: TestController) -> None:
    paths = paths_of(house)
    for dark in (False, True):
        for width in (1600, 375):
            await tab.look(dark=dark, width=width)
            for path in paths:
                await tab.open(origin(base) + path)
                assert await tab.value("document.querySelectorAll('h1').length") == 1, path
                assert await tab.value("document.documentElement.scrollWidth") <= width, (path, width)
                ground = await tab.value("getComputedStyle(document.body).backgroundColor")
                assert ground == ("rgb(13, 17, 23)" if dark else "rgb(255, 255, 255)")
    assert tab.told == []
    assert {address for address in tab.asked if not address.startswith(f"{origin(base)}/ui/")} == set()


_SMALL_TARGETS = """[...document.querySelectorAll("a[href], button, input, select, summary")]
    .filter(one => one.getClientRects().length && !one.closest("svg, dialog, .skip"))
    .filter(one => Math.min(one.getBoundingClientRect().width, one.getBoundingClientRect().height) < 24)
    .map(one => one.outerHTML)"""


async def test_at_320_pixels_no_page_scrolls_sideways_and_no_target_is_small(
    tab: Tab, base: str, house: TestController
) -> None:
    """As wide as 1280 pixels at 400 %. What a picture links to, the table below it links to as well."""
    await tab.look(width=320)
    for path in (*paths_of(house), "/ui/m/admin/shop/a/none", "/ui/login"):
        await tab.open(origin(base) + path)
        assert await tab.value("document.documentElement.scrollWidth") <= 320, path
        assert await tab.value(_SMALL_TARGETS) == [], path
        assert await tab.value("document.querySelectorAll('[aria-live], [role=status]').length") <= 1, path


async def test_the_lines_of_the_log_are_whole_on_a_small_screen(
    tab: Tab, base: str, house: TestController
) -> None:
    entity = f"unit-{'a-long-name-' * 5}of-an-application-0"
    house.write(lambda tx: logs.append(tx, entity, "INFO", "unit", f"{'words ' * 40}end", now=tx.now))
    await tab.look(width=375)
    await tab.open(f"{origin(base)}/ui/m/admin/shop/log")
    assert await tab.value("document.querySelector('#lines .log').scrollWidth") <= 375


_LAST = "document.querySelector('.last').getBoundingClientRect()"


async def test_apply_is_in_sight_under_a_long_plan(tab: Tab, base: str) -> None:
    await tab.look(width=375)
    await tab.open(f"{origin(base)}/ui/m/admin/shop/plan")
    await tab.value("document.querySelector('[name=line]').value = 'add-unit web -n 9'")
    await tab.value("document.querySelector('[name=line]').form.requestSubmit()")
    await tab.until("document.querySelector('button.go') && document.readyState == 'complete'")
    assert await tab.value("document.documentElement.scrollHeight > 2 * innerHeight && scrollY == 0")
    assert await tab.value(f"{_LAST}.bottom <= innerHeight")


async def test_forced_colours_still_show_which_page_is_open(tab: Tab, base: str) -> None:
    await tab.force_colours()
    await tab.open(f"{origin(base)}/ui/m/admin/shop/units")
    colour = "getComputedStyle(document.querySelector('nav li a%s')).borderBottomColor"
    now, other = [await tab.value(colour % part) for part in ("[aria-current]", ":not([aria-current])")]
    assert now != other == await tab.value("getComputedStyle(document.body).backgroundColor")


async def test_no_page_breaks_a_rule_of_accessibility(
    tab: Tab, base: str, house: TestController, axe: str
) -> None:
    broken: dict[str, list[str]] = {}
    for dark, width in product((False, True), (1600, 375)):
        await tab.look(dark=dark, width=width)
        for path in (*paths_of(house), "/ui/login"):
            await tab.open(origin(base) + path)
            await tab.value(f"{axe}; 0")
            found = await tab.value(f"axe.run({AXE_RULES}).then(found => {AXE_SUMMARY})")
            broken |= {f"{path} {width} {'dark' if dark else 'light'}": found} if found else {}
    assert broken == {}


async def test_the_answer_of_a_plan_breaks_no_rule_of_accessibility(tab: Tab, base: str, axe: str) -> None:
    await tab.open(f"{origin(base)}/ui/m/admin/shop/plan")
    await tab.value("document.querySelector('[name=line]').value = 'add-unit web'")
    await tab.value("document.querySelector('[name=line]').form.requestSubmit()")
    await tab.until("location.pathname.endsWith('/plan') && document.querySelector('button.go')")
    await tab.until("document.readyState == 'complete'")
    assert "web/1" in await tab.value("document.querySelector('main').textContent")
    for dark, width in product((False, True), (1600, 375)):
        await tab.look(dark=dark, width=width)
        assert await tab.value("document.documentElement.scrollWidth") <= width
        await tab.value(f"{axe}; 0")
        assert await tab.value(f"axe.run({AXE_RULES}).then(found => {AXE_SUMMARY})") == []


async def test_a_change_is_shown_without_a_reload(tab: Tab, base: str, house: TestController) -> None:
    await tab.open(f"{origin(base)}/ui/m/admin/shop/")
    await tab.value("window.same = true")
    set_status(house, "active", "all is well now")
    await tab.until("document.querySelector('#picture').textContent.includes('active')")
    assert await tab.value("window.same") is True
    assert tab.told == []


async def test_a_unit_that_fails_while_its_page_is_open_can_be_resolved_there(
    tab: Tab, base: str, house: TestController
) -> None:
    button = "document.querySelector('.when-failed button').checkVisibility()"
    await tab.open(f"{origin(base)}/ui/m/admin/shop/u/web/0")
    assert not await tab.value(button)
    fail(house, "web/0")
    await tab.until(button)
    house.write(lambda tx: statuses.set_status(tx, StatusKind.AGENT, "web/0", "idle", ""))
    await tab.until(f"!{button}")
    assert tab.told == []


async def test_a_new_plan_stays_as_it_is_when_the_model_changes(
    tab: Tab, base: str, house: TestController
) -> None:
    field = "document.querySelector('[name=line]')"
    await tab.open(f"{origin(base)}/ui/m/admin/shop/plan")
    await tab.value(f"{field}.value = 'config web title=new', {field}.form.requestSubmit()")
    await tab.until("document.querySelector('button.go') && document.readyState == 'complete'")
    settings.set_config(
        house.ctx, house.model, settings.ConfigOptions(application="web", values={"port": "81"})
    )
    tab.asked.clear()
    await tab.value("document.querySelector('button.go').click(), 0")
    await tab.until("location.pathname.endsWith('/apply') && document.readyState == 'complete'")
    shown = await tab.value("document.querySelector('main').textContent")
    assert "The model has changed since you saw the plan" in shown
    # The page before may ask for its stream once more as it closes.
    await until(lambda: "/events" in " ".join(tab.asked).partition("/apply")[2])
    tab.asked.clear()
    for number in (1, 2):
        set_status(house, "active", f"change {number}")
        await until(lambda: sum(address.endswith("/apply") for address in tab.asked) == number)  # noqa: B023
    assert not any("/events" in address for address in tab.asked)
    assert await tab.value("document.querySelector('main').textContent") == shown


async def test_a_change_that_a_busy_server_could_not_show_is_shown_later(
    tab: Tab, base: str, house: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tab.open(f"{origin(base)}/ui/m/admin/shop/")
    get, refused = Shared.get, []

    async def busy_once(self: Shared, key: Hashable, make: Callable[[], Awaitable[bytes]]) -> bytes:
        if not refused:
            refused.append(key)
            raise StoreBusy("the store is busy")
        return await get(self, key, make)

    monkeypatch.setattr(Shared, "get", busy_once)
    set_status(house, "active", "all is well now")
    await tab.until("document.querySelector('#picture').textContent.includes('active')")
    assert refused


async def test_the_focus_stays_when_a_piece_changes(tab: Tab, base: str, house: TestController) -> None:
    await tab.open(f"{origin(base)}/ui/m/admin/shop/units")
    await tab.value("document.querySelector('#units tbody a').focus()")
    set_status(house, "active", "all is well now")
    await tab.until("document.querySelector('#units').textContent.includes('all is well now')")
    assert await tab.value(_FOCUSED) == "web/0"


_WEB = "document.querySelector('#units a[href$=\"/u/web/0\"]')"


async def test_what_is_selected_stays_when_the_row_changes(
    tab: Tab, base: str, house: TestController
) -> None:
    await tab.open(f"{origin(base)}/ui/m/admin/shop/units?sort=name")
    await tab.value(f"window.web = {_WEB}, window.getSelection().selectAllChildren(window.web), 0")
    set_status(house, "active", "all is well now")
    await tab.until("document.querySelector('#units').textContent.includes('all is well now')")
    assert await tab.value("window.getSelection().toString()") == "web/0"
    assert await tab.value("window.web.closest('tr').querySelector('.badge').className") == "badge ok"
    await tab.value("window.web.click(), 0")
    await tab.until("location.pathname.endsWith('/u/web/0')")
    assert tab.told == []


async def test_rows_that_come_and_go_leave_the_others_alone(
    tab: Tab, base: str, house: TestController
) -> None:
    """A page that was changed is the page that the server sends, in the same order."""
    await tab.open(f"{origin(base)}/ui/m/admin/shop/units?sort=name")
    await tab.value(f"window.web = {_WEB}, window.web.focus(), 0")
    await tab.value("window.getSelection().selectAllChildren(window.web), 0")
    house.deploy("app", count=3)
    await tab.until("document.querySelectorAll('#units tbody tr').length == 5")
    assert await tab.value("window.getSelection().toString()") == "web/0"
    house.write(lambda tx: removal.remove_unit(tx, units.get(tx, "app/1")))
    fail(house, "db/0")
    await tab.until("document.querySelector('#units').textContent.includes('hook failed')")
    await tab.until("document.querySelectorAll('#units tbody tr').length == 4")
    assert await tab.value("window.getSelection().toString()") == "web/0"
    assert await tab.value("document.activeElement === window.web") is True
    shown = await tab.value("document.querySelector('#units').innerHTML")
    await tab.open(f"{origin(base)}/ui/m/admin/shop/units?sort=name")
    assert shown == await tab.value("document.querySelector('#units').innerHTML")


async def test_of_ten_tabs_only_the_visible_one_keeps_a_stream(
    tab: Tab, base: str, streams: Callable[[], int]
) -> None:
    await tab.open(f"{origin(base)}/ui/m/admin/shop/")
    for _ in range(9):
        await tab.another(f"{origin(base)}/ui/m/admin/shop/units")
    await until(lambda: streams() > 0)
    await until(lambda: streams() == 1)
    assert not await tab.value("document.hidden")


@pytest.mark.skipif(NAME == "firefox", reason="only chromium shows several windows without a screen")
async def test_of_many_windows_four_keep_a_stream_and_the_others_stay_live(
    tab: Tab, base: str, house: TestController, streams: Callable[[], int]
) -> None:
    page = f"{origin(base)}/ui/m/admin/shop/units"
    await tab.open("about:blank")
    for _ in range(7):
        await tab.call("Target.createTarget", url=page, newWindow=True)
    await until(lambda: streams() == 4)
    await tab.open(page)
    set_status(house, "active", "all is well now")
    await tab.until("document.querySelector('#units').textContent.includes('all is well now')")
    assert streams() == 4
    assert tab.told == []


async def test_the_keyboard_alone_leads_to_a_unit(tab: Tab, base: str) -> None:
    await tab.open(f"{origin(base)}/ui/m/admin/shop/")
    await tab.press(*_TAB)
    assert await tab.value(_FOCUSED) == "Skip to the content"
    for _ in range(40):
        await tab.press(*_TAB)
        if await tab.value("document.activeElement.getAttribute('href')") == "/ui/m/admin/shop/u/web/0":
            break
    assert await tab.value("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    await tab.press("Enter", 13)
    await tab.until("location.pathname == '/ui/m/admin/shop/u/web/0' && document.querySelector('h1')")


@pytest.fixture
async def large(tab: Tab, base: str) -> Tab:
    """The page of the picture."""
    await tab.keep_focus()
    await tab.look()
    await tab.open(f"{origin(base)}/ui/m/admin/shop/topology")
    await tab.until("!document.querySelector('#tools').hidden")
    return tab


async def view(tab: Tab) -> list[float]:
    """Return the part of the picture that is shown: its left upper corner, width and height."""
    text = await tab.value("document.querySelector('#picture > svg').getAttribute('viewBox')")
    return [float(word) for word in text.split()]


async def test_the_keyboard_alone_zooms_and_moves_the_picture(large: Tab) -> None:
    for _ in range(40):
        await large.press(*_TAB)
        if await large.value("document.activeElement.id") == "picture":
            break
    first = await view(large)
    await large.press("+", 187)
    zoomed = await view(large)
    assert zoomed[2] == pytest.approx(first[2] / 1.25)
    await large.press("ArrowRight", 39)
    moved = await view(large)
    assert (moved[0] > zoomed[0], moved[1:]) == (True, pytest.approx(zoomed[1:]))
    await large.press("0", 48)
    whole = await view(large)
    await large.press("-", 189)
    assert await view(large) == whole


async def test_the_picture_above_the_table_of_machines_zooms(large: Tab, base: str) -> None:
    await large.open(f"{origin(base)}/ui/m/admin/shop/machines")
    await large.until("!document.querySelector('#tools').hidden")
    first = await view(large)
    await large.value("document.querySelector('[data-do=larger]').click()")
    assert (await view(large))[2] < first[2]


async def test_buttons_wheel_and_dragging_zoom_and_move_the_picture(large: Tab) -> None:
    first = await view(large)
    sizes = "[...document.querySelectorAll('#tools button')].map(one => one.getBoundingClientRect().height)"
    assert min(await large.value(sizes)) >= 24
    await large.value("document.querySelector('[data-do=larger]').click()")
    nearer = await view(large)
    assert nearer[2] < first[2]
    await large.value("document.querySelector('[data-do=right]').click()")
    assert (await view(large))[0] > nearer[0]
    await large.value("document.querySelector('[data-do=left]').click()")
    assert await view(large) == pytest.approx(nearer)
    await large.wheel(600, 400, -300)
    await large.until(
        f"+document.querySelector('#picture > svg').getAttribute('viewBox').split(' ')[2] < {nearer[2]}"
    )
    before = await view(large)
    left = "+document.querySelector('#picture > svg').getAttribute('viewBox').split(' ')[0]"
    await large.mouse("mousePressed", 600, 400)
    await large.mouse("mouseMoved", 650, 400)
    await large.mouse("mouseReleased", 650, 400)
    await large.until(f"{left} < {before[0]}")
    assert (await view(large))[1:] == pytest.approx(before[1:])
    assert await large.value("location.pathname") == "/ui/m/admin/shop/topology"


async def test_without_scripts_the_picture_has_its_size_and_links(tab: Tab, base: str) -> None:
    await tab.look(width=375)
    await tab.without_scripts()
    await tab.go(f"{origin(base)}/ui/m/admin/shop/topology")
    drawn = "document.querySelector('#picture > svg')"
    while not await tab.value(f"document.readyState == 'complete' && Boolean({drawn})"):
        pass
    assert await tab.value(f"{drawn}.clientWidth == {drawn}.getAttribute('width')")
    assert await tab.value("getComputedStyle(document.querySelector('#picture')).overflowX") == "auto"
    assert await tab.value("getComputedStyle(document.querySelector('#tools')).display") == "none"
    assert await tab.value(f"{drawn}.querySelector('a').getAttribute('href')") == "/ui/m/admin/shop/a/web"


async def test_arrow_keys_lead_to_the_nearest_card_and_its_neighbours_stay(large: Tab) -> None:
    await large.value("document.querySelector('#picture a[href$=\"/a/web\"]').focus()")
    near = "[...document.querySelectorAll('#picture a.near .n')].map(one => one.textContent).sort()"
    assert await large.value(near) == ["db", "web"]
    assert await large.value("document.querySelectorAll('#picture .dims path.near').length") == 1
    await large.press("ArrowRight", 39)
    assert await large.value("document.activeElement.getAttribute('href')") == "/ui/m/admin/shop/a/db"
    await large.press("ArrowLeft", 37)
    assert await large.value("document.activeElement.getAttribute('href')") == "/ui/m/admin/shop/a/web"
    await large.press("Enter", 13)
    await large.until("location.pathname == '/ui/m/admin/shop/a/web' && document.querySelector('h1')")


async def test_the_zoomed_place_and_the_focus_stay_when_the_picture_changes(
    large: Tab, house: TestController
) -> None:
    await large.value("document.querySelector('#picture a[href$=\"/a/db\"]').focus()")
    await large.press("+", 187)
    before = await view(large)
    await large.value("window.drawn = document.querySelector('#picture > svg'); 0")
    set_status(house, "maintenance", "something else")
    await large.until("document.querySelector('#picture').textContent.includes('something else')")
    assert await large.value("window.drawn !== document.querySelector('#picture > svg')")
    assert await view(large) == pytest.approx(before)
    assert await large.value("document.activeElement.getAttribute('href')") == "/ui/m/admin/shop/a/db"
    assert await large.value("document.querySelector('#picture a[href$=\"/a/db\"]').matches('.near')")


async def test_text_that_would_be_too_small_is_not_drawn(large: Tab) -> None:
    shown = "getComputedStyle(document.querySelector('#picture .n')).display"
    assert await large.value(shown) != "none"
    await large.look(width=240)
    await large.value("document.querySelector('[data-do=whole]').click()")
    assert await large.value("document.querySelector('#picture > svg').getScreenCTM().a") < 8 / 13
    assert await large.value(shown) == "none"


async def test_busy_statuses_turn_unless_motion_is_to_be_reduced(
    tab: Tab, base: str, house: TestController
) -> None:
    set_status(house, "maintenance")
    await tab.open(f"{origin(base)}/ui/m/admin/shop/")
    turning = "[...document.querySelectorAll('.i.busy')].map(one => getComputedStyle(one).animationName)"
    for reduce, wanted in ((False, {"turn"}), (True, {"none"})):
        await tab.reduce_motion(reduce)
        assert set(await tab.value(turning)) == wanted


async def test_keys_go_to_the_field_that_searches_and_show_the_keys(tab: Tab, base: str) -> None:
    await tab.open(f"{origin(base)}/ui/m/admin/shop/units")
    await tab.until("!document.querySelector('#show-keys').hidden")
    await tab.press("/", 191)
    assert await tab.value("document.activeElement.name") == "find"
    await tab.press("?", 191)
    assert await tab.value("document.querySelector('#keys').open") is False
    await tab.value("document.activeElement.blur()")
    await tab.press("?", 191)
    assert await tab.value("document.querySelector('#keys').open") is True
    await tab.value("document.querySelector('#single-keys').click()")
    await tab.press("Escape", 27)
    await tab.until("!document.querySelector('#keys').open")
    await tab.press("/", 191)
    # The browser gives the focus back a moment after the dialog is closed, but never to the field.
    assert await tab.value("document.activeElement.name || ''") != "find"
    assert tab.told == []


async def test_a_unit_that_comes_into_error_is_told_at_most_every_ten_seconds(
    tab: Tab, base: str, house: TestController
) -> None:
    await tab.open(f"{origin(base)}/ui/m/admin/shop/log")
    fail(house, "web/0")
    await tab.until("document.querySelector('#news').textContent == 'web/0 is in error: hook failed'")
    fail(house, "web/1")
    await tab.until("document.body.dataset.notes.includes('web/1')")
    assert await tab.value("document.querySelector('#news').textContent") == "web/0 is in error: hook failed"


async def test_the_log_follows_only_while_its_end_is_in_view(
    tab: Tab, base: str, house: TestController
) -> None:
    def say(first: int, count: int) -> None:
        def write(tx: ModelTx) -> None:
            for number in range(first, first + count):
                logs.append(tx, "unit-web-0", "INFO", "unit.web/0", f"line {number}.", now=tx.now)

        house.write(write)

    say(0, 600)
    await tab.keep_focus()
    await tab.open(f"{origin(base)}/ui/m/admin/shop/log")
    shown, behind = "document.querySelector('#lines').textContent", "document.querySelector('#behind')"
    say(600, 3)
    await tab.until(f"{behind}.textContent == '3 newer lines: go to the end'")
    assert "line 600." not in await tab.value(shown)
    await tab.value(f"{behind}.querySelector('a').click(), 0")
    await tab.until(f"{behind}.hidden && {shown}.includes('line 602.')")
    say(603, 5000)
    await tab.until(f"{shown}.includes('line 5602.')")
    assert await tab.value("document.querySelectorAll('#lines tbody tr').length") == 500
    await tab.until("innerHeight + scrollY >= document.body.scrollHeight - 40")
    assert await tab.value(f"{behind}.hidden")
    assert tab.told == []


async def test_a_page_whose_model_was_removed_leads_to_all_models(
    tab: Tab, base: str, house: TestController
) -> None:
    await tab.open(f"{origin(base)}/ui/m/admin/shop/u/web/0")
    house.write(models.purge, whole=True)
    await tab.until("document.querySelector('#cut a')?.getAttribute('href') == '/ui/'")
    assert "no longer exists" in await tab.value("document.querySelector('#cut').textContent")


async def test_a_session_that_is_over_is_told_and_the_page_goes_on_after_a_login(
    tab: Tab, base: str, house: TestController, server: Loopback
) -> None:
    page = f"{origin(base)}/ui/m/admin/shop/"
    await tab.open(page)
    await tab.value("window.same = true")
    await tab.forget_cookies()
    set_status(house, "active")
    await tab.until("document.querySelector('#cut').textContent == 'Your session is over. Log in'")
    assert await tab.value("document.querySelector('#cut a').href") == page
    link = await server.link("admin")
    await tab.value(f"fetch({link!r}).then(answer => answer.text()).then(() => 0)")  # as another tab does
    set_status(house, "blocked", "after the login")
    await tab.until("document.querySelector('#picture').textContent.includes('after the login')")
    assert await tab.value("window.same && document.querySelector('#cut').hidden") is True


async def test_an_open_page_goes_on_when_the_server_is_started_again(
    tab: Tab, base: str, house: TestController, server: Loopback
) -> None:
    await tab.open(f"{origin(base)}/ui/m/admin/shop/")
    await tab.value("window.same = true")
    await server.close()
    again = Loopback(house.ctx, *server.address)
    await again.start()
    try:
        set_status(house, "blocked", "after the start")
        await tab.until("document.querySelector('#picture').textContent.includes('after the start')")
        assert await tab.value("window.same && document.querySelector('#cut').hidden") is True
    finally:
        await again.close()


async def test_a_server_that_no_longer_answers_is_told_within_half_a_minute(
    tab: Tab, base: str, server: Loopback
) -> None:
    """After 15 seconds; what the banner says is read aloud by the one region that is."""
    await tab.open(f"{origin(base)}/ui/m/admin/shop/")
    await server.close()
    await tab.until("document.querySelector('#cut').textContent.startsWith('Not live since ')")
    shown = await tab.value("document.querySelector('#cut').checkVisibility()")
    await tab.until(
        "document.querySelector('#news').textContent == document.querySelector('#cut').textContent"
    )
    assert shown


@pytest.fixture
async def proxied(tab: Tab, server: Loopback) -> AsyncIterator[Proxy]:
    """A proxy, through which the tab shows the page of the model."""
    async with Proxy.before(*server.address) as proxy:
        await tab.open(f"{proxy.root}/ui/m/admin/shop/")
        await tab.value(
            "window.said = [], document.addEventListener('told', ({ detail }) => detail && said.push(detail))"
        )
        yield proxy


async def test_a_stream_that_a_proxy_cuts_within_an_event_is_made_good(
    tab: Tab, proxied: Proxy, house: TestController
) -> None:
    for number, cut in enumerate((b"event: ch", b"event: change\nda", b"event: change\ndata:\n")):
        proxied.cut = cut
        set_status(house, "blocked", f"change {number}")
        await until(lambda: proxied.cuts > number)  # noqa: B023
        await tab.until(f"document.querySelector('#picture').textContent.includes('change {number}')")
    assert await tab.value("said") == []


@pytest.mark.parametrize("status", ["502 Bad Gateway", "404 Not Found"])
async def test_while_a_proxy_answers_for_a_lost_server_the_page_says_so_and_then_goes_on(
    tab: Tab, proxied: Proxy, house: TestController, status: str
) -> None:
    proxied.lose_server(status)
    set_status(house, "blocked", "meanwhile")
    await tab.until("document.querySelector('#cut').textContent.startsWith('Not live since ')")
    proxied.find_server()
    await tab.until("document.querySelector('#picture').textContent.includes('meanwhile')")
    assert await tab.value("said.length && document.querySelector('#cut').hidden") is True


async def test_a_page_whose_stream_a_proxy_keeps_asks_by_itself(
    tab: Tab, proxied: Proxy, house: TestController
) -> None:
    proxied.keeps = True
    await tab.open(f"{proxied.root}/ui/m/admin/shop/units")
    await tab.value(
        "window.said = [], document.addEventListener('told', ({ detail }) => detail && said.push(detail))"
    )
    for number in range(2):
        set_status(house, "active", f"change {number}")
        await tab.until(f"document.querySelector('#units').textContent.includes('change {number}')")
    assert await tab.value("said") == []


@pytest.mark.skipif(NAME == "firefox", reason="the page's clock is set in chromium")
async def test_times_and_silence_do_not_depend_on_the_clock_of_the_browser(
    tab: Tab, base: str, house: TestController, server: Loopback
) -> None:
    await tab.set_clock(7)
    await tab.open(f"{origin(base)}/ui/m/admin/shop/u/web/0")
    times = "[...document.querySelectorAll('main time')].map(one => one.textContent)"
    assert set(await tab.value(times)) == {"now", "in 5 min"}
    house.clock.advance(3 * 3600 + 10)
    await tab.until(f"{times}.every(text => text == '3 h ago')")
    await tab.value("setClock(-9)")
    house.clock.advance(3600)
    await tab.until(f"{times}.every(text => text == '4 h ago')")
    assert await tab.value("document.querySelector('#cut').hidden")
    await server.close()
    await tab.until("document.querySelector('#cut').textContent.startsWith('Not live since ')")


@pytest.mark.skipif(NAME == "firefox", reason="the page's clock is set in chromium")
async def test_a_plan_is_as_good_after_clocks_were_set_and_a_session_ends_by_the_servers(
    tab: Tab, base: str, house: TestController
) -> None:
    await tab.set_clock(-30)
    await tab.open(f"{origin(base)}/ui/m/admin/shop/plan")
    await tab.value("document.querySelector('[name=line]').value = 'config web title=new'")
    await tab.value("document.querySelector('[name=line]').form.requestSubmit(), setClock(30)")
    await tab.until("document.querySelector('button.go') && document.readyState == 'complete'")
    house.clock.advance(11 * 3600)
    await tab.value("document.querySelector('button.go').click(), 0")
    await tab.until("!location.pathname.endsWith('/plan') && document.readyState == 'complete'")
    options = listings.config(house.ctx, house.model, "web")["settings"]
    assert options["title"]["value"] == "new"
    house.clock.advance(13 * 3600)
    await tab.until("document.querySelector('#cut').textContent == 'Your session is over. Log in'")


@pytest.mark.skipif(NAME == "firefox", reason="only chromium stops a page")
async def test_a_page_of_a_computer_that_slept_says_so_and_goes_on(
    tab: Tab, base: str, house: TestController, server: Loopback
) -> None:
    await tab.set_clock(0)
    await tab.open(f"{origin(base)}/ui/m/admin/shop/")
    await tab.value("window.same = true")
    await tab.freeze(True)
    await server.close()
    set_status(house, "blocked", "in the night")
    await tab.value("setClock(48)")
    await tab.freeze(False)
    await tab.until("document.querySelector('#cut').textContent.startsWith('Not live since ')")
    assert "/" in await tab.value("document.querySelector('#cut').textContent")  # the day before
    again = Loopback(house.ctx, *server.address)
    await again.start()
    try:
        await tab.until("document.querySelector('#picture').textContent.includes('in the night')")
        assert await tab.value("window.same && document.querySelector('#cut').hidden") is True
    finally:
        await again.close()


async def test_dragging_over_the_timeline_shows_the_runs_of_a_time(
    tab: Tab, base: str, house: TestController
) -> None:
    await tab.look()
    await tab.open(f"{origin(base)}/ui/m/admin/shop/timeline")
    runs = await tab.value("document.querySelectorAll('#picture a:has(rect)').length")
    corner = (
        "(() => { const box = document.querySelector('[data-axis]'); const at = new DOMPoint("
        "+box.getAttribute('x') + %d, +box.getAttribute('y') - 8).matrixTransform(box.getScreenCTM());"
        " return [at.x, at.y]; })()"
    )
    places = [await tab.value(corner % along) for along in (4, 300, 600)]
    for kind, (x, y) in zip(("mousePressed", "mouseMoved", "mouseReleased"), places, strict=True):
        await tab.mouse(kind, x, y)
        if kind == "mouseMoved":
            await tab.until("+document.querySelector('[data-axis]').getAttribute('width') > 200")
    await tab.until("new URL(location.href).searchParams.has('to')")
    await tab.until("document.querySelector('main').textContent.includes('From ')")
    assert await tab.value("document.querySelectorAll('#picture a:has(rect)').length") <= runs
    assert tab.told == []


async def test_bars_of_running_hooks_grow_on_the_timeline(tab: Tab, base: str, house: TestController) -> None:
    now = house.clock.now()
    (row,) = house.read(lambda tx: tx.list(Operation, "operation_of_unit", unit="web/0", limit=1))
    under_way = replace(
        row, id="under way", state="prepared", outcome="", result={}, prepared=now - timedelta(seconds=2),
        committed=None,
    )  # fmt: skip
    house.write(lambda tx: tx.insert("operation", under_way))
    await tab.open(f"{origin(base)}/ui/m/admin/shop/timeline")
    wide = "+document.querySelector('[data-pace]').getAttribute('width')"
    first = await tab.value(wide)
    await tab.until(f"{wide} > {first + 1}")
    most = await tab.value("+document.querySelector('[data-pace]').dataset.most")
    await tab.value("document.querySelector('[data-pace]').dataset.pace = 1e9; "
                    "document.querySelector('#picture').append('')")  # fmt: skip
    await tab.until(f"{wide} == {most} || {wide} < {first}")
    assert tab.told == []
