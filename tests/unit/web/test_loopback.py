"""The server of `pushjuju dashboard` over raw sockets: what every answer has, and what is refused."""

from __future__ import annotations

import asyncio
import os
import pwd
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import aiohttp
import pytest

from pushjuju.services.requests.user import passwords, users
from pushjuju.services.views.listings import audit_lines
from pushjuju.web import limits
from pushjuju.web.pages import guard
from pushjuju.web.pages.loopback import Loopback
from tests.unit.web.test_smuggling import answered
from tests.world.api import PASSWORD, ApiWorld
from tests.world.controller import TestController

REQUESTS = {
    "a page": ("GET /ui/login HTTP/1.1\r\n{host}\r\n", 200),
    "no page": ("GET /ui/nothing HTTP/1.1\r\n{host}\r\n", 404),
    "outside of the pages": ("GET /nothing HTTP/1.1\r\n{host}\r\n", 404),
    "the root": ("GET / HTTP/1.1\r\n{host}\r\n", 404),
    "a wrong method": ("DELETE /ui/login HTTP/1.1\r\n{host}\r\n", 405),
    "another name": ("GET /ui/login HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421),
    "another name outside of the pages": ("GET /nothing HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421),
    "a name with a user": ("GET /ui/login HTTP/1.1\r\nHost: a@127.0.0.1\r\n\r\n", 421),
    "a name with a path": ("GET /ui/login HTTP/1.1\r\nHost: 127.0.0.1/evil.example\r\n\r\n", 421),
    "no name": ("GET /nothing HTTP/1.0\r\n\r\n", 421),
    "no HTTP": ("what is this\r\n\r\n", 400),
    "a long line": ("GET /" + "a" * 20_000 + " HTTP/1.1\r\n{host}\r\n", 400),
    "a large header": ("GET /nothing HTTP/1.1\r\n{host}X-A: " + "a" * 20_000 + "\r\n\r\n", 400),
    "large headers": (
        "GET /nothing HTTP/1.1\r\n{host}" + "".join(f"X-{n}: {'a' * 4000}\r\n" for n in range(5)) + "\r\n",
        431,
    ),
}  # fmt: skip


@asynccontextmanager
async def serving(house: TestController, *, read_only: bool = False) -> AsyncIterator[Loopback]:
    server = Loopback(house.ctx, read_only=read_only)
    await server.start()
    try:
        yield server
    finally:
        await server.close()


async def ask(server: Loopback, text: str) -> tuple[int, str]:
    """Return status and head of the answer to a request that is written as it is."""
    host, port = server.address
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(text.replace("{host}", f"Host: {host}:{port}\r\n").encode())
    head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 30)).decode()
    writer.close()
    return int(head.split()[1]), head


@pytest.mark.parametrize("name", REQUESTS)
async def test_every_answer_has_the_policy_and_no_other_name_is_answered(
    house: TestController, name: str
) -> None:
    text, status = REQUESTS[name]
    async with serving(house) as server:
        found, head = await ask(server, text)
    assert found == status
    assert head.count("Content-Security-Policy: default-src 'none'; script-src 'self'; ") == 1
    for line in ("X-Content-Type-Options: nosniff", "Cross-Origin-Opener-Policy: same-origin"):
        assert head.count(line) == 1


def test_a_request_has_one_name() -> None:
    """Development mode of Python lets aiohttp refuse two, else the guard does."""
    assert guard.is_own_host(["127.0.0.1:80"], ())
    assert not guard.is_own_host(["127.0.0.1:80", "evil.example"], ())
    assert not guard.is_own_host([], ())


async def test_answers_of_the_api_are_shown_by_no_browser(served: ApiWorld) -> None:
    for text in ("GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n", "no HTTP\r\n\r\n",
                 "DELETE /api HTTP/1.1\r\nHost: x\r\n\r\n"):  # fmt: skip
        head = (await answered(served, text)).decode()
        assert head.count("Content-Security-Policy: default-src 'none'; frame-ancestors 'none'") == 1
        assert head.count("X-Content-Type-Options: nosniff") == 1


async def test_headers_that_are_just_small_enough_are_answered(house: TestController) -> None:
    headers = "".join(f"X-{number}: {'a' * 4000}\r\n" for number in range(4))[:12_000]
    async with serving(house) as server:
        assert (await ask(server, f"GET /ui/login HTTP/1.1\r\n{{host}}{headers}\r\n\r\n"))[0] == 200


async def test_one_of_too_many_connections_ends_at_once(
    house: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST_OPEN", 1)
    async with serving(house) as server:
        first, writer = await asyncio.open_connection(*server.address)
        writer.write(b"GET /ui/login HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b" 200 " in await asyncio.wait_for(first.readline(), 30)
        second, other = await asyncio.open_connection(*server.address)
        with suppress(ConnectionResetError):
            assert await asyncio.wait_for(second.read(), 30) == b""
        writer.transport.abort()
        other.transport.abort()


@pytest.mark.parametrize("path", ["/ui/login", "/ui/logout", "/ui/m/admin/shop/apply", "/ui/no", "/no"])
async def test_a_dashboard_that_only_reads_refuses_each_post_before_anything_else(
    house: TestController, path: str
) -> None:
    """Also a login: a link, which is no post, lets browsers in."""
    async with serving(house, read_only=True) as server:
        host, port = server.address
        link = await server.link("admin")
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
            origin = f"http://{host}:{port}"
            form = {"name": "admin", "password": PASSWORD}
            answer = await session.post(origin + path, headers={"Origin": origin}, data=form)
            assert (answer.status, "--read-only" in await answer.text()) == (403, True)
            answer = await session.post(origin + path, data=b"\0" * 100_000)  # nothing reads the body
            assert (answer.status, "--read-only" in await answer.text()) == (403, True)
            ask = await (await session.get(f"{origin}/ui/login")).text()
            assert ("<form" in ask, "dashboard --link USER" in ask) == (False, True)
            await session.get(link)
            page = await (await session.get(f"{origin}/ui/")).text()
            assert ("admin" in page, "method=" in page.partition("<main")[0]) == (True, False)


async def test_the_audit_log_tells_a_user_of_the_command_from_one_with_a_password(
    house: TestController,
) -> None:
    """Who runs the command `dashboard` is any user with `--as`: the log has the login name, too."""
    users.add(house.ctx, "kim", "")
    passwords.set_password(house.ctx, "admin", PASSWORD)
    async with serving(house) as server:
        host, port = server.address
        origin = f"http://{host}:{port}"
        for level, log_in in (
            ("read", lambda session: _follow(session, server)),
            ("write", lambda session: _log_in(session, origin)),
        ):
            async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
                await log_in(session)
                page = await (await session.get(f"{origin}/ui/m/admin/shop/access")).text()
                proof = re.search(r'name="csrf" value="(\w+)"', page)
                assert proof is not None
                form = {"csrf": proof[1], "change": "grant", "user": "kim", "level": level}
                url, headers = f"{origin}/ui/m/admin/shop/apply", {"Origin": origin}
                done = await session.post(url, headers=headers, data=form, allow_redirects=False)
                assert done.status == 303
    believed, proved = audit_lines.lines(house.ctx, audit_lines.Wanted(user="admin"))[-2:]
    assert (believed["verified"], proved["verified"]) == (False, True)
    assert (believed["login"], "login" in proved) == (pwd.getpwuid(os.getuid()).pw_name, False)
    assert believed["host"].startswith("127.")


async def _follow(session: aiohttp.ClientSession, server: Loopback) -> None:
    await session.get(await server.link("admin"))


async def _log_in(session: aiohttp.ClientSession, origin: str) -> None:
    form = {"name": "admin", "password": PASSWORD}
    await session.post(f"{origin}/ui/login", headers={"Origin": origin}, data=form)
