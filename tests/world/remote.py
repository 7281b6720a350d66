"""A controller that is served over the API, and a second user with a home of her own."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pushjuju.cli.app.root import Root
from pushjuju.cli.commands.program.web_commands import WebCommands
from tests.world.api import ApiWorld
from tests.world.charms import Charms
from tests.world.commandline import Home, ok
from tests.world.controller import TestController

PASSWORD = "the-password-of-kim"


class ServedHouse:
    """The API of a controller in a folder, served by a thread of this process.

    Attributes:
        endpoint: `HOST:PORT`.
        host: Runs command lines on the host of the controller.
    """

    def __init__(self, root: Path, packs: Charms, *, reads: bool = True) -> None:
        self.root = root
        self.host = Home(root, {"PUSHJUJU_WAIT": "0"})
        self.endpoint = ""
        self._packs = packs
        self._commands = WebCommands(Root()).run if reads else None
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def start(self) -> None:
        self._thread.start()
        assert self._ready.wait(30)
        assert self.endpoint, "the server has started"

    def stop(self) -> None:
        """End the server; a second call does nothing."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._ready.set()
            self._loop.close()

    async def _serve(self) -> None:
        ctx = TestController.at(self.root, self._packs).ctx
        try:
            async with ApiWorld.serve(ctx, self._commands) as world:
                self.endpoint = world.endpoint
                self._ready.set()
                await self._stop.wait()
        finally:
            ctx.close()

    def invite(self, user: str) -> str:
        """Add a user on the host; return the registration string that add-user prints."""
        found = re.search(r"pushjuju register (\S+)", ok(self.host("add-user", user)))
        assert found is not None
        return found[1]

    def register(self, user: str, folder: Path, name: str = "team") -> Home:
        """Register a new user in a new home, and return the home."""
        folder.mkdir()
        home = Home(folder)
        ok(home("register", self.invite(user), stdin=f"{name}\n{PASSWORD}\n{PASSWORD}\n"))
        return home


@contextmanager
def serving(root: Path, packs: Charms, *, reads: bool = True) -> Iterator[ServedHouse]:
    """Serve the controller of a folder until the end of the block; `reads` stands for --web-cli."""
    made = ServedHouse(root, packs, reads=reads)
    made.start()
    try:
        yield made
    finally:
        made.stop()
