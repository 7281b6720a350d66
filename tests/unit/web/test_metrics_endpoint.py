"""Prometheus reads metrics from the API server."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pushjuju.core.errors import NotPermitted
from pushjuju.services.entities.basis import users as access
from pushjuju.services.requests.user import tokens, users
from tests.unit.web.test_files_api import transfer
from tests.world.api import ApiWorld
from tests.world.controller import TestController


@pytest.fixture(autouse=True)
def _controllers_model(own: str) -> None:
    """The controller has its own model."""


async def test_metrics_are_for_superusers_and_readers_of_the_controllers_model(
    served: ApiWorld, own: str
) -> None:
    for name in ("kim", "prometheus"):
        served.add_user(name)
    with served.ctx.store.write() as tx:
        access.grant(tx, "prometheus", "read", access.Kind.MODEL, own)
    for user, status in (("admin", 200), ("prometheus", 200), ("kim", 401), ("stranger", 401)):
        found, body = await transfer(served, "GET", "/metrics", user=user)
        assert (user, found) == (user, status), body
        assert (b"pushjuju_build_info{" in body) == (status == 200)


async def test_without_a_password_there_are_no_metrics(served: ApiWorld) -> None:
    status, body = await transfer(served, "GET", "/metrics", Authorization="")
    assert status == 401
    assert b"pushjuju_" not in body


async def test_a_token_reads_metrics_and_nothing_else(served: ApiWorld) -> None:
    bearer = f"Bearer {tokens.make_metrics_token(served.ctx)}"
    status, body = await transfer(served, "GET", "/metrics", Authorization=bearer)
    assert (status, b"pushjuju_build_info{" in body) == (200, True)
    for path in ("/charms", "/log", "/commands"):
        status, _ = await transfer(served, "GET", path, Authorization=bearer)
        assert status >= 400, path


@pytest.mark.parametrize("wrong", ["", "x", "%s x", "x%s", "x" * 9000, "é", "Basic %s"])
async def test_a_wrong_token_reads_nothing(served: ApiWorld, wrong: str) -> None:
    told = wrong.replace("%s", tokens.make_metrics_token(served.ctx))
    status, body = await transfer(served, "GET", "/metrics", Authorization=f"Bearer {told}")
    assert status in (400, 401)
    assert b"pushjuju_build_info" not in body
    assert not told or told.encode() not in body


async def test_a_token_ends_when_it_is_revoked_or_its_user_may_not_read_any_more(served: ApiWorld) -> None:
    served.add_user("kim")
    with served.ctx.store.write() as tx:
        access.grant(tx, "kim", "superuser", access.Kind.CONTROLLER, "")
    kim = replace(served.ctx, user="kim")
    mine, hers = tokens.make_metrics_token(served.ctx), tokens.make_metrics_token(kim)
    assert await reads(served, mine) == await reads(served, hers) == 200
    assert tokens.revoke_metrics_tokens(served.ctx) == 1
    assert (await reads(served, mine), await reads(served, hers)) == (401, 200)
    users.set_enabled(served.ctx, "kim", enabled=False)
    assert await reads(served, hers) == 401
    users.set_enabled(served.ctx, "kim", enabled=True)
    assert await reads(served, hers) == 401  # for good
    hers = tokens.make_metrics_token(kim)
    assert await reads(served, hers) == 200
    with served.ctx.store.write() as tx:
        access.revoke(tx, "kim", "superuser", access.Kind.CONTROLLER, "")
    assert await reads(served, hers) == 401
    with pytest.raises(NotPermitted):
        tokens.make_metrics_token(kim)
    users.remove(served.ctx, "kim")
    served.add_user("kim")
    assert await reads(served, hers) == 401


async def reads(served: ApiWorld, token: str) -> int:
    status, _ = await transfer(served, "GET", "/metrics", Authorization=f"Bearer {token}")
    return status


async def test_a_token_for_a_link_reads_no_metrics(served: ApiWorld) -> None:
    token = tokens.make_link(served.ctx, "admin").partition("token=")[2]
    assert await reads(served, token) == 401
    assert tokens.follow_link(served.ctx, tokens.make_metrics_token(served.ctx)) == ""


async def test_the_requests_of_the_server_are_counted_by_route(served: ApiWorld) -> None:
    for path in ("/health", "/health", "/charms/not-there", "/no/such/path"):
        await transfer(served, "GET", path)
    _, body = await transfer(served, "GET", "/metrics")
    lines = body.decode().splitlines()
    assert 'pushjuju_http_requests_total{route="/health",code="200"} 2' in lines
    assert 'pushjuju_http_requests_total{route="none",code="404"} 2' in lines
    assert 'pushjuju_http_request_duration_seconds_count{route="/health"} 2' in lines
    assert "pushjuju_http_streams 0" in lines


async def test_a_client_that_asks_for_openmetrics_gets_it(house: TestController, served: ApiWorld) -> None:
    house.active("web")
    accept = "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.3,*/*;q=0.1"
    _, body = await transfer(served, "GET", "/metrics", Accept=accept)
    lines = body.decode().splitlines()
    assert lines[-1] == "# EOF"
    assert "# TYPE pushjuju_hooks counter" in lines
    assert any(line.startswith('pushjuju_hooks_total{model="admin/shop"') for line in lines)
    assert any('le="1.0"' in line for line in lines)
    _, body = await transfer(served, "GET", "/metrics", Accept="text/plain")
    assert b"# EOF" not in body


async def test_the_status_of_each_unit_is_told_only_when_asked_for(
    house: TestController, served: ApiWorld
) -> None:
    house.active("web")
    for path, told in (("/metrics", False), ("/metrics?per-unit=true", True)):
        _, body = await transfer(served, "GET", path)
        assert (b'unit="web/0"' in body) == told, path
