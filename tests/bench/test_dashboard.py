"""The dashboard: what its pages cost with many units, and how soon browsers show them."""

from __future__ import annotations

import asyncio
import gzip
import itertools
import os
import re
import signal
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import aiohttp
import pytest

from pushjuju.core.status import StatusKind, Workload
from pushjuju.services.entities.basis import logs, statuses
from pushjuju.services.pictures import folding, graph, layout
from pushjuju.services.views import relation_rows
from pushjuju.services.views.status import document as status
from pushjuju.store.sqlite import SqliteEngine
from pushjuju.store.tx import ModelTx
from pushjuju.web.pages import rendering
from pushjuju.web.pages.loopback import Loopback
from tests.bench.figures import Report
from tests.bench.models import crowd
from tests.bench.processes import environment, pushjuju
from tests.terminal import on_terminal
from tests.waiting import until
from tests.world.browser import CHROMIUM, Tab, browser
from tests.world.charms import Charms
from tests.world.controller import TestController
from tests.world.known_models import random_model

UNITS, MACHINES, TIMES = 2000, 200, 7
MODEL = "/ui/m/admin/shop/"
PAGES = {  # name -> address and most milliseconds
    "overview": ("", 200),
    "units": ("units", 200),
    "machines": ("machines", 200),
    "an application": ("a/app1", 200),
    "units found by a typed name": ("units?find=app1/7", 50),
    "the log, 500 lines": ("log", 60),
    "the timeline": ("timeline", 200),
}
APPLICATIONS = 500
BROWSERS, SECONDS, CHANGES = 50, 15, 4  # browsers that look for so many seconds at so many changes a second
TABS, HOOKS = 10, 100  # tabs of one browser, and hooks that change the model each second
SEEN = 100  # changes that a browser shows, of which the slowest but one is the 99th in 100
LINES, LOGGED = 1000, 10  # lines a second, and the seconds
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime || 0"


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestController]:
    """A model with 2,000 units of 20 applications on 200 machines."""
    folder = tmp_path_factory.mktemp("crowded")
    made = TestController.build(folder / "world", Charms(folder / "charms"))
    crowd(made, UNITS, MACHINES)
    made.write(_log)
    yield made
    made.ctx.close()


def _log(tx: ModelTx) -> None:
    for number in range(1000):
        unit = f"unit-app1-{number % 100}"
        logs.append(tx, unit, "INFO", "unit.juju-log", f"line {number} of the log", now=tx.now)


@asynccontextmanager
async def served(world: TestController) -> AsyncIterator[str]:
    """Yield a link that logs a browser in."""
    server = Loopback(world.ctx)
    await server.start()
    try:
        yield await server.link("admin")
    finally:
        await server.close()


@contextmanager
def statements(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Collect the statements of all connections that are opened inside the block."""
    found: list[str] = []
    opened = SqliteEngine.open

    def traced(*words: object, **named: object) -> SqliteEngine:
        engine = opened(*words, **named)  # type: ignore[arg-type]
        engine.connection.set_trace_callback(found.append)
        return engine

    with monkeypatch.context() as patched:
        patched.setattr(SqliteEngine, "open", traced)
        yield found


@pytest.mark.bench
async def test_what_pages_of_many_units_cost(
    report: Report, crowded: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    with statements(monkeypatch) as ran:
        async with served(crowded) as link, aiohttp.ClientSession(
            cookie_jar=aiohttp.CookieJar(unsafe=True), auto_decompress=False
        ) as session:  # fmt: skip
            origin = link.partition("/ui/")[0]
            assert (await session.get(link)).status == 200
            for name, (path, target) in PAGES.items():
                took, body, count = [], b"", 0
                for _ in range(TIMES):
                    ran.clear()
                    begun = time.monotonic()
                    answer = await session.get(origin + MODEL + path, headers={"Accept-Encoding": "gzip"})
                    body = await answer.read()
                    took.append(1000 * (time.monotonic() - begun))
                    assert answer.status == 200
                    count = sum(text.startswith("SELECT") for text in ran)
                sizes = (len(data) / 1000 for data in (body, gzip.decompress(body)))
                note = "{:.0f} kB sent, {:.0f} kB, {} reads".format(*sizes, count)
                report.add(f"dashboard: {name}, {UNITS} units", took, target=f"<= {target} ms", note=note)


@pytest.mark.bench
def test_the_size_of_scripts_and_styles(report: Report) -> None:
    packed = {
        name: len(gzip.compress(data)) / 1000 for name, (data, _) in rendering.files().items()
    }  # fmt: skip
    for suffix, most in ((".js", 15), (".css", 8)):
        size = sum(kilobytes for name, kilobytes in packed.items() if name.endswith(suffix))
        report.add(f"dashboard: all {suffix} files, packed", [size], "kB", target=f"<= {most} kB")
        assert size <= most


@asynccontextmanager
async def tab_of(link: str, folder: Path) -> AsyncIterator[tuple[Tab, str]]:
    """Yield a page of a browser that has logged in, and the origin of the server."""
    async with browser(folder) as tab:
        await tab.call("Page.navigate", url=link)
        await tab.until("location.pathname == '/ui/' && document.readyState == 'complete'")
        yield tab, link.partition("/ui/")[0]


@pytest.mark.bench
@pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed")
async def test_how_soon_a_browser_shows_pages_and_changes(
    report: Report, crowded: TestController, tmp_path: Path
) -> None:
    async with served(crowded) as link, tab_of(link, tmp_path / "profile") as (tab, origin):
        for name, target in (("", 200), ("units", 500)):
            painted = []
            for _ in range(TIMES):
                await tab.open(f"{origin}{MODEL}{name}")
                await tab.until(f"({PAINTED}) > 0")
                painted.append(await tab.value(PAINTED))
            report.add(
                f"dashboard: first paint of {name or 'the overview'}, {UNITS} units, chromium", painted,
                target=f"<= {target} ms",
            )  # fmt: skip
        await tab.open(f"{origin}{MODEL}units")
        seen = [await _shown(tab, crowded, f"message {number}.") for number in range(SEEN)]
    what = "dashboard: a change until a browser shows it, chromium"
    report.add(what, seen, target="<= 400 ms")
    report.add(f"{what}, 99 in 100 sooner", [sorted(seen)[SEEN * 99 // 100 - 1]], target="<= 1000 ms")


@pytest.mark.bench
@pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed")
async def test_what_a_browser_asks_for_to_show_a_first_page(
    report: Report, crowded: TestController, tmp_path: Path
) -> None:
    async with served(crowded) as link, tab_of(link, tmp_path / "profile") as (tab, origin):
        await tab.call("Network.setCacheDisabled", cacheDisabled=True)
        for name in ("", "units", "log"):
            await tab.open("about:blank")  # ends what the last page asks for by itself
            tab.asked.clear()
            await tab.open(f"{origin}{MODEL}{name}")
            await until(lambda: any("/events" in address for address in tab.asked))
            asked = set(tab.asked)
            what = f"dashboard: requests of {name or 'the overview'} with an empty cache, chromium"
            report.add(what, [len(asked)], "", target="<= 8")
            assert len(asked) <= 8
            assert all(address.startswith(f"{origin}/ui/") for address in asked)


@pytest.mark.bench
@pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed")
async def test_a_page_that_follows_a_busy_log_does_not_grow(
    report: Report, crowded: TestController, tmp_path: Path
) -> None:
    rows, lines = "document.querySelectorAll('#lines tbody tr').length", itertools.count()
    async with served(crowded) as link, tab_of(link, tmp_path / "profile") as (tab, origin):
        await tab.call("Performance.enable")
        await tab.open(f"{origin}{MODEL}log#end")
        sizes = []
        for _ in range(LOGGED):
            begun = time.monotonic()
            for _ in range(10):
                crowded.write(lambda tx: _say(tx, list(itertools.islice(lines, LINES // 10))))
                await asyncio.sleep(0.05)
            await asyncio.sleep(max(0, begun + 1 - time.monotonic()))
            sizes.append(await _heap(tab))
        last = next(lines) - 1
        await tab.until(f"document.querySelector('#lines').textContent.includes('busy {last}.')")
        shown = await tab.value(rows)
    what = f"dashboard: a log of {LINES} lines a second, followed for {LOGGED} s, chromium"
    report.add(f"{what}, rows in the page", [shown], "", target="<= 5000")
    report.add(f"{what}, memory of scripts", sizes, "MB")
    assert shown <= 5000


def _say(tx: ModelTx, numbers: list[int]) -> None:
    for number in numbers:
        logs.append(tx, "unit-app1-0", "INFO", "unit.juju-log", f"busy {number}.", now=tx.now)


async def _metrics(tab: Tab) -> dict[str, float]:
    found = (await tab.call("Performance.getMetrics"))["metrics"]
    return {item["name"]: item["value"] for item in found}


async def _heap(tab: Tab) -> float:
    """Return the megabytes that the scripts of a page keep."""
    await tab.call("HeapProfiler.collectGarbage")
    return (await _metrics(tab))["JSHeapUsedSize"] / 1e6


async def _shown(tab: Tab, world: TestController, message: str) -> float:
    """Return the milliseconds from the commit of a status until the page has its text."""
    _change(world, message)
    begun = time.monotonic()
    await tab.until(f"document.body.textContent.includes('{message}')")
    return 1000 * (time.monotonic() - begun)


@pytest.mark.bench
@pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed")
async def test_what_the_picture_of_many_applications_costs(
    report: Report, world: TestController, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found, rows = random_model(APPLICATIONS, hubs=4)
    document = {**found, "model": {"name": "shop", "model-status": {"current": "available"}}}
    monkeypatch.setattr(status, "document", lambda *_: document)
    monkeypatch.setattr(relation_rows, "relation_rows", lambda *_: rows)
    whole = graph.of_status(document, rows)
    opened = [name.partition(" ")[0] for name in folding.fold(whole).cards]
    every = folding.fold(whole, opened)
    for what, shown in (("in groups", folding.fold(whole)), ("all groups opened", every)):
        took = [_timed(shown) for _ in range(TIMES)]
        name = f"dashboard: {APPLICATIONS} applications laid out, {what}"
        report.add(name, took, target="<= 50 ms", note=f"{len(shown.cards)} cards")
    query = "?" + "&".join(f"open={name}" for name in opened)
    async with served(world) as link, tab_of(link, tmp_path / "profile") as (tab, origin):
        for what, part in (("in groups", ""), ("all groups opened", query)):
            await _paint(
                report, tab, f"{origin}{MODEL}topology{part}", f"{APPLICATIONS} applications, {what}", 400
            )


def _timed(shown: graph.Graph) -> float:
    begun = time.perf_counter()
    layout.lay_out(shown)
    return 1000 * (time.perf_counter() - begun)


async def _paint(report: Report, tab: Tab, address: str, what: str, target: int) -> None:
    painted = []
    for _ in range(TIMES):
        await tab.open(address)
        await tab.until(f"({PAINTED}) > 0")
        painted.append(await tab.value(PAINTED))
    sent = await tab.value("performance.getEntriesByType('navigation')[0].transferSize") / 1000
    report.add(
        f"dashboard: first paint of {what}, chromium", painted, target=f"<= {target} ms",
        note=f"{sent:.0f} kB sent",
    )  # fmt: skip


@pytest.mark.bench
@pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed")
async def test_an_idle_page_asks_for_nothing(report: Report, crowded: TestController, tmp_path: Path) -> None:
    counted = "performance.getEntriesByType('resource').length"
    async with served(crowded) as link, tab_of(link, tmp_path / "profile") as (tab, origin):
        await tab.open(f"{origin}{MODEL}units")
        await tab.until("document.readyState == 'complete'")
        await tab.call("Performance.enable")
        for _ in range(3):  # until the page is at rest
            await asyncio.sleep(1)
        before, worked = await tab.value(counted), (await _metrics(tab))["TaskDuration"]
        for _ in range(30):
            await asyncio.sleep(1)
        share = ((await _metrics(tab))["TaskDuration"] - worked) / 30
        asked = await tab.value(counted) - before
    report.add("dashboard: requests of an idle page in 30 s, chromium", [asked], "", target="0")
    report.add("dashboard: an idle page, chromium", [100 * share], "% of a core", target="<= 1 %")
    assert asked == 0


class Program:
    """`pushjuju dashboard` in a process of its own."""

    def __init__(self, world: TestController) -> None:
        """Start the program, and wait for the link that it shows."""
        argv = pushjuju("dashboard", "-c", world.ctx.controller.name, "--no-browser", "--port", "0")
        env = {**environment(), "PUSHJUJU_DATA": str(world.ctx.datadir.root)}
        self._terminal = on_terminal(argv, env)
        self._process, shown = self._terminal.__enter__()
        self.link = shown.readline().strip()

    def seconds(self) -> float:
        """Return the processor time of the program."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def megabytes(self) -> float:
        """Return the memory of the program."""
        pages = int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def end(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(timeout=60)
        self._terminal.__exit__(None, None, None)


@asynccontextmanager
async def logged_in(program: Program) -> AsyncIterator[tuple[aiohttp.ClientSession, str]]:
    """Yield a client that has followed the link, and the origin of the server."""
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        assert (await session.get(program.link)).status == 200
        yield session, program.link.partition("/ui/")[0]


@pytest.mark.bench
async def test_how_soon_the_first_page_is_there(report: Report, crowded: TestController) -> None:
    took = []
    for _ in range(TIMES):
        begun = time.monotonic()
        program = await asyncio.to_thread(Program, crowded)
        async with logged_in(program) as (session, origin):
            assert (await session.get(f"{origin}/ui/")).status == 200
            took.append(1000 * (time.monotonic() - begun))
        await asyncio.to_thread(program.end)
    report.add("dashboard: from the start of the program to the first page", took, target="<= 700 ms")


async def _look(
    session: aiohttp.ClientSession, origin: str, path: str, took: list[float], following: list[str]
) -> None:
    """Follow a page's stream, and load the page at each change, as a browser does."""
    text = await (await session.get(origin + path)).text()
    events = re.search(r'data-events="([^"]+)"', text)
    assert events
    changed = asyncio.Event()

    async def load() -> None:
        while await changed.wait():
            changed.clear()
            begun = time.monotonic()
            answer = await session.get(origin + path, headers={"X-Live": "1"})
            await answer.read()
            took.append(1000 * (time.monotonic() - begun))

    async with asyncio.TaskGroup() as tasks, session.get(origin + events[1].replace("&amp;", "&")) as stream:
        tasks.create_task(load())
        following.append(path)
        async for line in stream.content:
            if line.startswith(b"event: change"):
                changed.set()


@pytest.mark.bench
@pytest.mark.parametrize(("name", "page"), [("the overview", MODEL), ("units", f"{MODEL}units")])
async def test_what_many_browsers_cost(report: Report, crowded: TestController, name: str, page: str) -> None:
    program, took, following = await asyncio.to_thread(Program, crowded), list[float](), list[str]()
    async with logged_in(program) as (session, origin):
        await (await session.get(origin + page)).read()
        base = program.megabytes()
        looking = [
            asyncio.create_task(_look(session, origin, page, took, following)) for _ in range(BROWSERS)
        ]
        await until(lambda: len(following) == BROWSERS)
        begun, spent = time.monotonic(), program.seconds()
        for number in range(SECONDS * CHANGES):
            _change(crowded, f"message {number}")
            await asyncio.sleep(max(0, begun + (number + 1) / CHANGES - time.monotonic()))
        share = (program.seconds() - spent) / (time.monotonic() - begun)
        more = program.megabytes() - base
        for task in looking:
            task.cancel()
        await asyncio.gather(*looking, return_exceptions=True)
    await asyncio.to_thread(program.end)
    what = f"dashboard: {BROWSERS} browsers on {name} of {UNITS} units, {CHANGES} changes a second"
    report.add(f"{what}, a page", took, note=f"{len(took) / SECONDS:.0f} pages a second")
    report.add(f"{what}, processor", [100 * share], "% of a core", target="<= 50 %")
    report.add(f"{what}, memory over the base", [more], "MB", target="<= 30 MB")


@pytest.mark.bench
@pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed")
async def test_what_ten_tabs_cost_while_many_hooks_end(
    report: Report, crowded: TestController, tmp_path: Path
) -> None:
    program = await asyncio.to_thread(Program, crowded)
    async with tab_of(program.link, tmp_path / "profile") as (tab, origin):
        await tab.open(f"{origin}{MODEL}units")
        for _ in range(TABS - 1):
            await tab.another(f"{origin}{MODEL}")
        await _shown(tab, crowded, "before")
        begun, spent, seen = time.monotonic(), program.seconds(), []
        for number in range(SECONDS * HOOKS):
            if number % HOOKS:
                _change(crowded, f"hook {number}")
            else:
                seen.append(await _shown(tab, crowded, f"message {number}."))
            await asyncio.sleep(max(0, begun + (number + 1) / HOOKS - time.monotonic()))
        share = (program.seconds() - spent) / (time.monotonic() - begun)
    await asyncio.to_thread(program.end)
    what = f"dashboard: {TABS} tabs of a browser on {UNITS} units, {HOOKS} hooks a second"
    report.add(f"{what}, processor", [100 * share], "% of a core")
    report.add(f"{what}, a change until it is shown", seen, target="<= 1000 ms")


def _change(world: TestController, message: str) -> None:
    world.write(lambda tx: statuses.set_status(tx, StatusKind.WORKLOAD, "app0/0", Workload.BLOCKED, message))
