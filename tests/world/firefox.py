"""Drives Debian's Firefox over WebDriver BiDi, which the browser speaks itself: no library and no driver.

Scripts in the window of the browser itself go over Marionette: Firefox 140 has no BiDi for them.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp

from tests.waiting import until

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
_FLAGS = (
    "--headless", "--no-remote", "--marionette", "--remote-debugging-port=0", "--remote-allow-system-access",
)  # fmt: skip
# the browser asks Mozilla for nothing, the key Tab leads through links, and the window counts as in front
_PREFERENCES: Mapping[str, bool | int | str] = {
    "accessibility.tabfocus": 7,
    "app.normandy.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "focusmanager.testmode": True,
    "marionette.port": 0,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,",
}
_KEYS = {
    "ArrowLeft": "\ue012",
    "ArrowRight": "\ue014",
    "Enter": "\ue007",
    "Escape": "\ue00c",
    "Tab": "\ue004",
}
_EVENTS = ("log.entryAdded", "network.beforeRequestSent")
_LEFT = (
    "no such frame",
    "no such history entry",
    "unknown error",
)  # errors of a page that was left meanwhile


class Left(Exception):
    """The page was left before the answer."""


class Marionette:
    """The connection that begins the session, and runs scripts in the window of the browser."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._numbers = count(1)

    @classmethod
    @asynccontextmanager
    async def connected(cls, profile: Path) -> AsyncIterator[Marionette]:
        """Connect to the browser of a profile, until the end of the block."""
        file = profile / "MarionetteActivePort"
        await until(lambda: file.exists() and file.read_text())
        reader, writer = await asyncio.open_connection("127.0.0.1", int(file.read_text()))
        try:
            made = cls(reader, writer)
            await made._read()  # the greeting
            yield made
        finally:
            writer.close()

    async def session(self) -> str:
        """Begin a session; return the address of its socket."""
        begun = await self._call("WebDriver:NewSession", webSocketUrl=True)
        await self._call("Marionette:SetContext", value="chrome")
        return str(begun["capabilities"]["webSocketUrl"])

    async def run(self, script: str) -> None:
        """Run a script in the window of the browser."""
        await self._call("WebDriver:ExecuteScript", script=script, args=[], sandbox="system")

    async def _call(self, name: str, **params: Any) -> dict[str, Any]:
        command = json.dumps([0, next(self._numbers), name, params])
        self._writer.write(f"{len(command)}:{command}".encode())
        _, _, error, result = await asyncio.wait_for(self._read(), 60)
        assert error is None, (name, error)
        return dict(result)

    async def _read(self) -> Any:
        size = int((await self._reader.readuntil(b":"))[:-1])
        return json.loads(await self._reader.readexactly(size))


class FirefoxTab:
    """One page of Firefox, with the methods of `tests.world.browser.Tab`."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, window: Marionette) -> None:
        self._socket = socket
        self._browser = window.run
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._page = ""
        self.told: list[str] = []
        self.asked: list[str] = []

    async def read(self) -> None:
        """Read messages of the browser until it ends."""
        async for message in self._socket:
            found = json.loads(message.data)
            if found.get("id") is not None:
                self._waiting.pop(found["id"]).set_result(found)
            else:
                self._note(found["method"], found["params"])

    def _note(self, method: str, params: dict[str, Any]) -> None:
        if params.get("context", params.get("source", {}).get("context")) != self._page:
            return
        if method == "network.beforeRequestSent":
            address = params["request"]["url"]
            if not address.startswith("data:"):  # the browser's own font
                self.asked.append(address)
        elif "/events?" not in str(params.get("text")):  # the stream of a page that was left
            self.told.append(json.dumps(params)[:500])

    async def start(self) -> None:
        """Begin with the page that is open."""
        self._page = (await self._command("browsingContext.getTree"))["contexts"][0]["context"]
        await self._command("session.subscribe", events=_EVENTS)
        await self._browser(
            "gBrowser.selectedBrowser.focus()"
        )  # at first the field of the address has the focus

    async def _command(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        future = self._waiting[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": number, "method": method, "params": params})
        answer = await asyncio.wait_for(future, 60)
        if answer["type"] == "error" and method == "script.evaluate" and answer["error"] in _LEFT:
            raise Left
        assert answer["type"] == "success", (method, answer)
        return answer["result"]

    async def go(self, address: str) -> None:
        """Begin to load a page."""
        await self._command("browsingContext.navigate", context=self._page, url=address, wait="none")

    async def open(self, address: str) -> None:
        """Load a page, also one that is shown already."""
        await self._command("browsingContext.navigate", context=self._page, url=address, wait="complete")
        await self.until(f"location.href == {json.dumps(address)} && document.readyState == 'complete'")

    async def another(self, address: str) -> None:
        """Open a page in a tab behind this one."""
        made = await self._command("browsingContext.create", type="tab", background=True)
        await self._command("browsingContext.navigate", context=made["context"], url=address, wait="none")

    async def look(self, *, dark: bool = False, width: int = 1600) -> None:
        """Choose the colour scheme and the width of the window."""
        scheme = "dark" if dark else "light"
        await self._browser(
            f"gBrowser.selectedBrowser.browsingContext.prefersColorSchemeOverride = '{scheme}'"
        )
        size = {"width": width, "height": 900}
        await self._command("browsingContext.setViewport", context=self._page, viewport=size)

    async def reduce_motion(self, reduce: bool) -> None:
        """Choose whether the reader wants no motion."""
        await self._browser(f"Services.prefs.setIntPref('ui.prefersReducedMotion', {int(reduce)})")
        await self.until(f"matchMedia('(prefers-reduced-motion: reduce)').matches == {json.dumps(reduce)}")

    async def force_colours(self) -> None:
        """Show pages in the few colours that the reader has chosen."""
        await self._browser("gBrowser.selectedBrowser.browsingContext.forcedColorsOverride = 'active'")
        await self.until("matchMedia('(forced-colors: active)').matches")

    async def keep_focus(self) -> None:
        """Behave as a window in front, as the session does from its start."""

    async def without_scripts(self) -> None:
        """Run no script of pages from now on."""
        await self._browser("gBrowser.selectedBrowser.browsingContext.allowJavascript = false")

    async def forget_cookies(self) -> None:
        """Delete all cookies."""
        await self._command("storage.deleteCookies")

    async def value(self, expression: str) -> Any:
        """Return the value of an expression in the page."""
        found = await self._command(
            "script.evaluate", expression=expression, target={"context": self._page}, awaitPromise=True
        )
        assert found["type"] == "success", found
        return _plain(found["result"])

    async def until(self, expression: str) -> None:
        """Wait until an expression in the page is true; the page may be left meanwhile."""
        frames = f"const look = () => ({expression}) ? done(true) : setTimeout(look, 20); look()"
        while True:
            try:
                await self.value(f"new Promise(done => {{ {frames} }})")
            except Left:
                await asyncio.sleep(0.02)
                continue
            return

    async def press(self, key: str, _code: int) -> None:
        """Press a key."""
        value = _KEYS.get(key, key)
        actions = [{"type": kind, "value": value} for kind in ("keyDown", "keyUp")]
        await self._act({"type": "key", "id": "keyboard", "actions": actions})

    async def mouse(self, kind: str, x: float, y: float) -> None:
        """Press, move or release the left button at a place."""
        move = {"type": "pointerMove", "x": round(x), "y": round(y)}
        more = {"mousePressed": "pointerDown", "mouseReleased": "pointerUp"}.get(kind)
        actions = [move, *([{"type": more, "button": 0}] if more else [])]
        await self._act({"type": "pointer", "id": "mouse", "actions": actions})

    async def wheel(self, x: float, y: float, delta: float) -> None:
        """Turn the wheel at a place."""
        scroll = {"type": "scroll", "x": round(x), "y": round(y), "deltaX": 0, "deltaY": round(delta)}
        await self._act({"type": "wheel", "id": "wheel", "actions": [scroll]})

    async def _act(self, source: dict[str, Any]) -> None:
        await self._command("input.performActions", context=self._page, actions=[source])


def _plain(value: Mapping[str, Any]) -> Any:
    """Return a value of the protocol as Python has it."""
    kind, inner = value["type"], value.get("value")
    if kind == "array":
        return [_plain(item) for item in inner or ()]
    if kind == "object":
        return {key: _plain(item) for key, item in inner or ()}
    return inner if kind in ("string", "number", "boolean") else None


def _write_profile(folder: Path) -> None:
    folder.mkdir()
    lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in _PREFERENCES.items())
    (folder / "user.js").write_text("".join(lines))


@asynccontextmanager
async def firefox(folder: Path) -> AsyncIterator[FirefoxTab]:
    """Start Firefox with one page, until the end of the block."""
    assert FIREFOX is not None, "the tests are skipped without it"
    _write_profile(folder)
    process = await asyncio.create_subprocess_exec(
        FIREFOX, *_FLAGS, "--profile", folder, "about:blank", stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr is not None, "it is a pipe"
    try:
        while b"BiDi listening on" not in (line := await asyncio.wait_for(process.stderr.readline(), 120)):
            assert line, "Firefox has ended"
        drain = asyncio.create_task(process.stderr.read())
        async with (
            Marionette.connected(folder) as window,
            aiohttp.ClientSession() as session,
            session.ws_connect(await window.session(), max_msg_size=0) as socket,
        ):
            tab = FirefoxTab(socket, window)
            reading = asyncio.create_task(tab.read())
            await tab.start()
            yield tab
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
    finally:
        process.terminate()
        await process.wait()
    await drain
