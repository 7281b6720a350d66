"""A client of the dashboard's pages that keeps cookies as a browser does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp

from tests.world.api import PASSWORD, ApiWorld


class Browser:
    """A client that keeps cookies as a browser does."""

    def __init__(self, world: ApiWorld, session: aiohttp.ClientSession) -> None:
        self.world = world
        self.session = session
        self.origin = f"https://{world.endpoint}"

    async def get(self, path: str, **headers: str) -> tuple[int, str]:
        """Return status and text of a page."""
        answer = await self._asked("GET", path, headers)
        return answer.status, await answer.text()

    async def _asked(
        self, method: str, path: str, headers: dict[str, str], data: dict[str, str] | None = None
    ) -> aiohttp.ClientResponse:
        return await self.session.request(
            method, self.origin + path, ssl=self.world.trust, headers=headers, data=data,
            allow_redirects=False,
        )  # fmt: skip

    async def head(self, path: str, **headers: str) -> aiohttp.ClientResponse:
        """Return the answer to a request for a page."""
        return await self._asked("GET", path, headers)

    async def post(self, path: str, data: dict[str, str], **headers: str) -> aiohttp.ClientResponse:
        """Send a form, from a page of the server itself unless the headers say otherwise."""
        return await self._asked("POST", path, {"Origin": self.origin, **headers}, data)

    async def log_in(self, user: str = "admin", password: str = PASSWORD) -> aiohttp.ClientResponse:
        return await self.post("/ui/login", {"name": user, "password": password})


@asynccontextmanager
async def browsing(world: ApiWorld, user: str = "") -> AsyncIterator[Browser]:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        made = Browser(world, session)
        if user:
            assert (await made.log_in(user)).status == 303
        yield made
