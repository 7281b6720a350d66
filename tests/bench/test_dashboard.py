"""The dashboard: what its pages cost with 2,000 units, and how soon a browser shows them."""

from __future__ import annotations

import gzip
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import aiohttp
import pytest

from pushjuju.core.status import StatusKind, Workload
from pushjuju.services.entities.basis import statuses
from pushjuju.store.sqlite import SqliteEngine
from pushjuju.web.pages import rendering
from pushjuju.web.pages.loopback import Loopback
from tests.bench.figures import Report
from tests.bench.models import crowd
from tests.world.browser import CHROMIUM, Tab, browser
from tests.world.charms import Charms
from tests.world.controller import TestController

UNITS, MACHINES, TIMES = 2000, 200, 7
MODEL = "/ui/m/admin/shop/"
PAGES = {
    "overview": "",
    "units": "units",
    "machines": "machines",
    "an application": "a/app1",
    "the log": "log",
}
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime || 0"


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestController]:
    """A model with 2,000 units of 20 applications on 200 machines."""
    folder = tmp_path_factory.mktemp("crowded")
    made = TestController.build(folder / "world", Charms(folder / "charms"))
    crowd(made, UNITS, MACHINES)
    yield made
    made.ctx.close()


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
            for name, path in PAGES.items():
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
                report.add(f"dashboard: {name}, {UNITS} units", took, target="<= 200 ms", note=note)


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
        seen = [await _shown(tab, crowded, f"message {number}") for number in range(TIMES)]
        report.add("dashboard: a change until a browser shows it, chromium", seen, target="<= 400 ms")


async def _shown(tab: Tab, world: TestController, message: str) -> float:
    """Return the milliseconds from the commit of a status until the page has its text."""
    world.write(lambda tx: statuses.set_status(tx, StatusKind.WORKLOAD, "app0/0", Workload.BLOCKED, message))
    begun = time.monotonic()
    await tab.until(f"document.body.textContent.includes('{message}')")
    return 1000 * (time.monotonic() - begun)
