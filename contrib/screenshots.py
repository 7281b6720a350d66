"""Take the screenshot of the dashboard in the docs: `python -m contrib.screenshots` writes the file again.

Needs chromium. The machines are simulated, as those of `contrib.record`; the clock is that of this computer.
"""

from __future__ import annotations

import asyncio
import base64
import shlex
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from contrib import record
from pushjuju.services.entities.basis.context import Context, open_context
from pushjuju.store.datadir import DataDir
from pushjuju.web.pages.loopback import Loopback
from tests.world.browser import chosen
from tests.world.played_home import PlayedHome

FOLDER = Path(__file__).resolve().parent.parent / "docs"
PAGES = {"dashboard-unit": "u/web/0"}
WIDTH = 1100


def _played(folder: Path) -> Context:
    """Return a controller on which the first commands of the recording ran: a hook has failed."""
    home = PlayedHome(folder, record.Hooks())
    home.clock.advance((datetime.now(UTC) - home.clock.now()).total_seconds())
    for command in record.COMMANDS.splitlines()[:3]:
        home(*shlex.split(command, comments=True)[1:])
    datadir = DataDir(folder / "data")
    return open_context(datadir, "local", clock=home.clock, environ={})


async def _shots(ctx: Context, profile: Path) -> dict[str, bytes]:
    """Return the pictures of the pages, by name."""
    made = {}
    server = Loopback(ctx)
    await server.start()
    async with chosen(profile) as tab:
        await tab.go(await server.link("admin"))
        await tab.until("location.pathname == '/ui/' && document.readyState == 'complete'")
        await tab.look(width=WIDTH)
        for name, page in PAGES.items():
            await tab.open(f"{server.root}m/admin/default/{page}")
            shot = await tab.call("Page.captureScreenshot", format="png")
            made[name] = base64.b64decode(shot["data"])
    await server.close()
    return made


def main() -> None:
    """Write the files."""
    with tempfile.TemporaryDirectory(prefix="pushjuju-shots-") as folder:
        made = asyncio.run(_shots(_played(Path(folder)), Path(folder) / "profile"))
    for name, picture in made.items():
        (FOLDER / f"{name}.png").write_bytes(picture)


if __name__ == "__main__":
    main()
