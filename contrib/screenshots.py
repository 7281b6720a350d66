"""Take the pictures of the dashboard in the docs: `python -m contrib.screenshots` writes the files again.

`--check` compares them with the files, and writes both pictures of a page that looks different into
build/screenshots. Needs chromium. The machines are simulated, with a clock of their own, and the browser has
no other font than DejaVu.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shlex
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from contrib import record
from pushjuju.runner.session import ExecResult
from pushjuju.services.entities.basis.context import Context, open_context
from pushjuju.store.datadir import DataDir
from pushjuju.web.pages.loopback import Loopback
from tests.world.browser import Tab, browser
from tests.world.charms import Charms
from tests.world.machine import event, status_event
from tests.world.played_home import PlayedHome
from tests.world.runtime import PlayedRuntime, PlayedSession

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "dashboard"
DIFFERENT = ROOT / "build" / "screenshots"
PAGES = {
    "overview": "",
    "topology": "topology",
    "units": "units",
    "unit": "u/web/1",
    "configuration": "a/web/config",
    "timeline": "timeline",
    "log": "log",
    "plan": "plan",
}
DARK = {"topology", "log"}
PLANNED = "add-unit web"
WIDTH, QUALITY = 1100, 40
CELL, TOLERANCE, ALLOWED = 8, 32, 0.006  # pixels; steps of 255 between two colours; share of squares
FONTS = """\
<fontconfig>
<dir>/usr/share/fonts/truetype/dejavu</dir>
<cachedir prefix="xdg">fontconfig</cachedir>
<selectfont><rejectfont><glob>*Serif*</glob><glob>*Math*</glob>
<glob>*Extra*</glob><glob>*Condensed*</glob></rejectfont></selectfont>
<match><edit name="family" mode="append"><string>DejaVu Sans</string></edit></match>
<match target="font"><edit name="hintstyle"><const>hintnone</const></edit></match>
</fontconfig>
"""
COMMANDS = """\
deploy ./contrib/charms/hello-page web -n 3
deploy {db} db --storage data=2G
deploy {cache} cache
deploy {agent} agent
integrate web:backend cache:website
integrate cache:store db:store
integrate agent web
offer db:store
add-secret mail password=hunter2
grant-secret mail web
run web/0 greet name=you
config web greeting=Moin
"""
CHARMS: Mapping[str, Mapping[str, Any]] = {
    "db": {
        "summary": "A database.",
        "provides": {"store": {"interface": "store"}},
        "storage": {"data": {"type": "filesystem", "location": "/srv/data"}},
        "resources": {
            "dump": {"type": "file", "filename": "dump.sql", "description": "What is loaded first."}
        },
    },
    "cache": {
        "summary": "A cache.",
        "provides": {"website": {"interface": "http"}},
        "requires": {"store": {"interface": "store"}},
    },
    "agent": {
        "summary": "Watches a machine.",
        "subordinate": True,
        "requires": {"general": {"interface": "juju-info", "scope": "container"}},
    },
}
STATUSES = {"db": ("active", "primary"), "cache": ("blocked", "set the option size"), "agent": ("active", "")}


class Hooks:
    """What hooks of the charms do, and how long they take on the clock of the home; one fails."""

    home: PlayedHome

    def __init__(self) -> None:
        self.configured: set[str] = set()

    def __call__(self, frame: Mapping[str, Any]) -> Mapping[str, Any]:
        hook, unit = frame["hook"], frame["unit"]
        begun = self.home.clock.now()
        self.home.clock.advance(0.4 + len(hook) / 10)
        times = {"started": begun.timestamp(), "ended": self.home.clock.now().timestamp()}
        if (unit, hook) == ("web/1", "config-changed") and unit in self.configured:
            line = event(1, "log", level="WARNING", module=hook, message=record.FULL)
            return {**times, "outcome": "failed", "exit": 1, "events": [line]}
        if hook == "config-changed":
            self.configured.add(unit)
        said = STATUSES.get(unit.partition("/")[0], ("active", "serving on port 8080"))
        lines = [event(2, "log", level="INFO", module=hook, message=f"{hook} is done")]
        writes = {
            "status_set": True,
            **({"ports": {"open": [record.PORT]}} if unit.startswith("web") else {}),
        }
        return {**times, "events": [status_event(1, *said), *lines], "writes": writes}


class _Home(PlayedHome):
    """A home that works on one machine at a time, so that everything happens in the same order each time."""

    def _runtime(self, ctx: Context, *more: Any, **named: Any) -> PlayedRuntime:
        object.__setattr__(ctx, "at_once", 1)
        return super()._runtime(ctx, *more, **named)


async def _measured(_session: PlayedSession, **_: Any) -> ExecResult:
    """Answer each script of storage as a machine with 8 GiB."""
    return ExecResult(
        exit=0, signal=None, stdout="size=8192\nsource=/var/lib/juju/storage/.rootfs/0\n", stderr=""
    )


def played(folder: Path) -> Context:
    """Return a controller with a model in which something is wrong."""
    hooks = Hooks()
    home = hooks.home = _Home(folder, hooks)
    charms = Charms(folder / "charms")
    made = {
        name: charms.make(name, peers=None, series=["noble"], **more).path for name, more in CHARMS.items()
    }
    with mock.patch.object(PlayedSession, "exec", _measured):
        for command in COMMANDS.splitlines():
            home(*shlex.split(command.format_map(made)))
    home.clock.advance(2)
    return open_context(DataDir(folder / "data"), "local", clock=home.clock, environ={})


@asynccontextmanager
async def visited(ctx: Context, folder: Path) -> AsyncIterator[tuple[Tab, str]]:
    """Start a browser in which a user has logged in; yield its page, and the model's address."""
    fonts = folder / "fonts.conf"
    fonts.write_text(FONTS)
    server = Loopback(ctx)
    await server.start()
    with mock.patch.dict(os.environ, {"FONTCONFIG_FILE": str(fonts)}):
        async with browser(folder / "profile") as tab:
            await tab.call("Emulation.setScrollbarsHidden", hidden=True)
            await tab.go(await server.link("admin"))
            await tab.until("location.pathname == '/ui/' && document.readyState == 'complete'")
            yield tab, f"{server.root}m/admin/default/"
    await server.close()


async def taken(ctx: Context, folder: Path) -> dict[str, bytes]:
    """Return the pictures of the pages, by name."""
    made = {}
    async with visited(ctx, folder) as (tab, model):
        for name, page in PAGES.items():
            await tab.look(width=WIDTH, dark=name in DARK)
            await tab.open(f"{model}{page}")
            if name == "plan":
                await plan(tab)
            shot = await tab.call("Page.captureScreenshot", format="webp", quality=QUALITY)
            made[name] = base64.b64decode(shot["data"])
    return made


async def plan(tab: Tab) -> None:
    """Ask for a plan on the page Plan."""
    field = "document.querySelector('[name=line]')"
    await tab.value(f"{field}.value = {json.dumps(PLANNED)}, {field}.form.requestSubmit()")
    await tab.until("document.querySelector('button.go') && document.readyState == 'complete'")


async def share_of_difference(tab: Tab, kept: bytes, made: bytes) -> float:
    """Return the share of the squares of 8 x 8 pixels, from 0 to 1, in which two pictures look different."""
    sources = json.dumps(
        [f"data:image/webp;base64,{base64.b64encode(data).decode()}" for data in (kept, made)]
    )
    return float(await tab.value(f"({_SHARE})({sources}, {CELL}, {TOLERANCE})"))


_SHARE = """async (sources, cell, tolerance) => {
  const images = await Promise.all(sources.map(async (src) => {
    const image = Object.assign(new Image(), { src });
    await image.decode();
    return image;
  }));
  if (images[0].width !== images[1].width || images[0].height !== images[1].height) return 1;
  const [width, height] = [images[0].width / cell, images[0].height / cell].map(Math.ceil);
  const [a, b] = images.map((image) => {
    const canvas = new OffscreenCanvas(width, height), brush = canvas.getContext("2d");
    brush.imageSmoothingQuality = "high";
    brush.drawImage(image, 0, 0, width, height);
    return brush.getImageData(0, 0, width, height).data;
  });
  let different = 0;
  for (let at = 0; at < a.length; at += 4)
    if ([0, 1, 2].some((colour) => Math.abs(a[at + colour] - b[at + colour]) > tolerance)) different += 1;
  return different / (width * height);
}"""


async def differences(folder: Path, made: Mapping[str, bytes], kept: Path) -> list[str]:
    """Return the names of the pictures that look different from the files, or have none."""
    found = []
    async with browser(folder / "comparing") as tab:
        for name, picture in made.items():
            file = kept / f"{name}.webp"
            before = file.read_bytes() if file.exists() else b""
            if not before or await share_of_difference(tab, before, picture) > ALLOWED:
                found.append(name)
    return found


def main(arguments: Sequence[str]) -> int:
    """Write the files, or compare the pages with them (`--check`)."""
    with tempfile.TemporaryDirectory(prefix="pushjuju-shots-") as name:
        folder = Path(name)
        made = asyncio.run(taken(played(folder), folder))
        if "--check" not in arguments:
            write(FOLDER, made)
            return 0
        different = asyncio.run(differences(folder, made, FOLDER))
    for name in different:
        write(DIFFERENT, {f"{name}-now": made[name]})
        if (file := FOLDER / f"{name}.webp").exists():
            write(DIFFERENT, {f"{name}-kept": file.read_bytes()})
        print(
            f"{name} looks different: build/screenshots has both pictures; `make screenshots` renews the file"
        )
    return int(bool(different))


def write(folder: Path, pictures: Mapping[str, bytes]) -> None:
    """Write pictures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in pictures.items():
        (folder / f"{name}.webp").write_bytes(picture)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
