"""Drives a browser without a library: Debian's chromium over its own protocol, or Firefox.

`PUSHJUJU_TEST_BROWSER=firefox` chooses Firefox.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp

from tests.world import firefox

CHROMIUM = shutil.which("chromium")
NAME = os.environ.get("PUSHJUJU_TEST_BROWSER", "chromium")
BROWSER = {"chromium": CHROMIUM, "firefox": firefox.FIREFOX}[NAME]
_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--remote-debugging-port=0",
)  # fmt: skip


_CLOCK = """{
    const real = Date;
    let hours = %r;
    globalThis.setClock = (next) => { hours = next; };
    globalThis.Date = class extends real {
        constructor(...parts) { parts.length ? super(...parts) : super(Date.now()); }
        static now() { return real.now() + hours * 3600e3; }
    };
}"""


class Navigated(Exception):
    """The page was left before the answer."""


class Tab:
    """One page of a browser.

    Attributes:
        told: Lines of the console, errors, and reports of what the page's policy forbids.
        asked: The addresses that the page has asked for.
    """

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.told: list[str] = []
        self.asked: list[str] = []

    async def read(self) -> None:
        """Read messages of the browser until it ends."""
        async for message in self._socket:
            found = json.loads(message.data)
            if "id" in found:
                self._waiting.pop(found["id"]).set_result(found)
            else:
                self._note(found["method"], found["params"])

    def _note(self, method: str, params: dict[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            self.asked.append(params["request"]["url"])
        elif method in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
            self.told.append(json.dumps(params)[:500])

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method of the protocol, and return its result."""
        number = next(self._numbers)
        future = self._waiting[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": number, "method": method, "params": params})
        answer = await asyncio.wait_for(future, 30)
        if "navigated" in str(answer.get("error", "")):
            raise Navigated
        assert "error" not in answer, (method, answer)
        return answer["result"]

    async def go(self, address: str) -> None:
        """Begin to load a page."""
        await self.call("Page.navigate", url=address)

    async def open(self, address: str) -> None:
        """Load a page."""
        await self.go(address)
        await self.until(f"location.href == {json.dumps(address)} && document.readyState == 'complete'")

    async def look(self, *, dark: bool = False, width: int = 1600) -> None:
        """Choose the colour scheme and the width of the window."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.call("Emulation.setEmulatedMedia", features=[scheme])
        await self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False
        )

    async def another(self, address: str) -> None:
        """Open a page in a tab behind this one."""
        await self.call("Target.createTarget", url=address, background=True)

    async def reduce_motion(self, reduce: bool) -> None:
        """Choose whether the reader wants no motion."""
        feature = {"name": "prefers-reduced-motion", "value": "reduce" if reduce else "no-preference"}
        await self.call("Emulation.setEmulatedMedia", features=[feature])

    async def force_colours(self) -> None:
        """Show pages in the few colours that the reader has chosen."""
        await self.call("Emulation.setEmulatedMedia", features=[{"name": "forced-colors", "value": "active"}])

    async def keep_focus(self) -> None:
        """Behave as a window in front."""
        await self.call("Emulation.setFocusEmulationEnabled", enabled=True)

    async def without_scripts(self) -> None:
        """Run no script of pages from now on."""
        await self.call("Emulation.setScriptExecutionDisabled", value=True)

    async def set_clock(self, hours: float) -> None:
        """Let the clock of pages be apart by hours from now on; `setClock(hours)` in a page sets it anew."""
        await self.call("Page.addScriptToEvaluateOnNewDocument", source=_CLOCK % hours)

    async def freeze(self, frozen: bool) -> None:
        """Stop the page as a computer that sleeps does, or let it go on."""
        await self.call("Page.setWebLifecycleState", state="frozen" if frozen else "active")
        if not frozen:
            await self.keep_focus()  # a page that stops is hidden, too

    async def forget_cookies(self) -> None:
        """Delete all cookies."""
        await self.call("Network.clearBrowserCookies")

    async def value(self, expression: str) -> Any:
        """Return the value of an expression in the page."""
        answer = await self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    async def until(self, expression: str) -> None:
        """Wait until an expression in the page is true; the page may be left meanwhile."""
        frames = f"const look = () => ({expression}) ? done(true) : setTimeout(look, 20); look()"
        while True:
            try:
                await self.value(f"new Promise(done => {{ {frames} }})")
            except Navigated:
                continue
            return

    async def press(self, key: str, code: int) -> None:
        """Press a key."""
        typed = {"text": "\r"} if key == "Enter" else {}
        for kind, more in (("keyDown", typed), ("keyUp", {})):
            await self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **more)

    async def mouse(self, kind: str, x: float, y: float) -> None:
        """Press, move or release the left button at a place."""
        held = {"button": "left", "buttons": 1, "clickCount": 1}
        await self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **held)

    async def wheel(self, x: float, y: float, delta: float) -> None:
        """Turn the wheel at a place."""
        await self.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=delta)


def chosen(folder: Path) -> AbstractAsyncContextManager[Tab | firefox.FirefoxTab]:
    """Start the browser that `PUSHJUJU_TEST_BROWSER` names."""
    return firefox.firefox(folder) if NAME == "firefox" else browser(folder)


@asynccontextmanager
async def browser(folder: Path) -> AsyncIterator[Tab]:
    """Start a browser with one page, until the end of the block."""
    assert CHROMIUM is not None, "the tests are skipped without it"
    process = await asyncio.create_subprocess_exec(
        CHROMIUM, *_FLAGS, f"--user-data-dir={folder}", "about:blank", stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr is not None, "it is a pipe"
    try:
        while b"DevTools listening on" not in (line := await asyncio.wait_for(process.stderr.readline(), 30)):
            assert line, "chromium has ended"
        host = line.decode().split("ws://")[1].split("/")[0]
        async with aiohttp.ClientSession() as session:
            pages = await (await session.get(f"http://{host}/json/list")).json()
            address = next(page["webSocketDebuggerUrl"] for page in pages if page["type"] == "page")
            async with session.ws_connect(address, max_msg_size=0) as socket:
                tab = Tab(socket)
                reading = asyncio.create_task(tab.read())
                for room in ("Page", "Network", "Log", "Runtime"):
                    await tab.call(f"{room}.enable")
                yield tab
                reading.cancel()
                await asyncio.gather(reading, return_exceptions=True)
    finally:
        link = folder / "SingletonSocket"  # into a folder in /tmp, which a browser that is ended leaves
        left = link.readlink().parent if link.is_symlink() else folder
        process.terminate()
        await process.communicate()
        shutil.rmtree(left, ignore_errors=True)
