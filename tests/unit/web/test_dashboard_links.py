"""Links with which a superuser lets another user into the dashboard of an API server, once."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from urllib.parse import urlsplit

import pytest

from pushjuju.core.errors import NotFound, NotPermitted, NotValid
from pushjuju.services.requests.user import registration_string, tokens, users
from pushjuju.services.views.listings import audit_lines
from tests.world.api import ApiWorld
from tests.world.controller import TestController
from tests.world.page_client import Browser, browsing


def link(served: ApiWorld, user: str = "kim") -> str:
    """Return the path of a new link."""
    found = urlsplit(tokens.make_link(served.ctx, user))
    assert found.scheme == "https"
    return f"{found.path}?{found.query}"


async def follow(browser: Browser, path: str) -> tuple[int, str]:
    """Follow a link, and return the user of the page after it."""
    status, _ = await browser.get(path)
    answer = await browser.head("/ui/")
    text = await answer.text()
    return status, text.partition('action="/ui/logout"><span>')[2].partition("<")[0]


async def test_a_link_logs_its_user_in_once(served: ApiWorld) -> None:
    served.add_user("kim")
    path = link(served)
    async with browsing(served) as browser, browsing(served) as other:
        assert await follow(browser, path) == (200, "kim")
        assert await follow(other, path) == (403, "")


@pytest.mark.parametrize("wrong", ["", "x", "é" * 40, "\ud800"])
async def test_a_wrong_link_logs_nobody_in(served: ApiWorld, wrong: str) -> None:
    served.add_user("kim")
    path = link(served)
    assert tokens.follow_link(served.ctx, wrong) == ""
    async with browsing(served) as browser:
        assert await follow(browser, f"/ui/enter?token={wrong.encode('ascii', 'ignore').decode()}") == (
            403,
            "",
        )
        assert await follow(browser, path[:-1]) == (403, "")
        assert await follow(browser, path) == (200, "kim")


async def test_a_link_of_a_user_who_is_disabled_or_removed_meanwhile_does_not_work(served: ApiWorld) -> None:
    for name, end in (("kim", lambda: users.set_enabled(served.ctx, "kim", enabled=False)),
                      ("lee", lambda: users.remove(served.ctx, "lee"))):  # fmt: skip
        served.add_user(name)
        path = link(served, name)
        end()
        async with browsing(served) as browser:
            assert await follow(browser, path) == (403, "")


async def test_a_link_does_not_return_with_its_user(served: ApiWorld) -> None:
    served.add_user("kim")
    path = link(served)
    users.set_enabled(served.ctx, "kim", enabled=False)
    users.set_enabled(served.ctx, "kim", enabled=True)
    async with browsing(served) as browser:
        assert await follow(browser, path) == (403, "")


def test_an_old_link_does_not_work(served: ApiWorld, house: TestController) -> None:
    served.add_user("kim")
    token = link(served).partition("token=")[2]
    later = house.ctx.clock.now() + timedelta(minutes=tokens.LINK_MINUTES, seconds=1)
    ctx = replace(served.ctx, clock=_Clock(later))
    assert tokens.follow_link(ctx, token) == ""
    tokens.make_link(ctx, "kim")
    with served.ctx.store.read() as tx:
        assert tx.rows("token_get", digest=sha256(token.encode()).hexdigest(), purpose="link") == []


class _Clock:
    """A clock that stands still."""

    def __init__(self, moment: object) -> None:
        self.now = lambda: moment


def test_only_a_superuser_makes_links(served: ApiWorld) -> None:
    served.add_user("kim")
    with pytest.raises(NotPermitted, match="no superuser"):
        tokens.make_link(replace(served.ctx, user="kim"), "admin")


def test_a_link_is_for_a_user_who_may_log_in(served: ApiWorld) -> None:
    with pytest.raises(NotFound, match='user "nobody" not found'):
        tokens.make_link(served.ctx, "nobody")
    served.add_user("kim")
    users.set_enabled(served.ctx, "kim", enabled=False)
    with pytest.raises(NotValid, match="disabled"):
        tokens.make_link(served.ctx, "kim")


def test_a_link_needs_a_server(house: TestController) -> None:
    with pytest.raises(NotFound, match="never served") as found:
        tokens.make_link(house.ctx, "admin")
    assert found.value.hint == "pushjuju api"


def test_a_link_prefers_an_address_that_others_reach(house: TestController) -> None:
    registration_string.note_addresses(house.ctx, [("127.0.0.1", 17070), ("host.example", 17070)])
    assert tokens.make_link(house.ctx, "admin").startswith("https://host.example:17070/ui/enter?token=")


async def test_the_audit_log_names_the_user_of_a_link_and_not_the_link(served: ApiWorld) -> None:
    served.add_user("kim")
    token = link(served).partition("token=")[2]
    async with browsing(served) as browser:
        await follow(browser, f"/ui/enter?token={token}")
    made, used = audit_lines.lines(served.ctx, audit_lines.Wanted())[-2:]
    assert (made["changed"], made["user"]) == (["user kim"], "admin")
    assert (used["user"], used["door"], used["command"]) == ("kim", "dashboard", "enter")
    assert used["verified"]
    assert token not in str([made, used])
