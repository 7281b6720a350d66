"""Prometheus reads metrics from the API server."""

from __future__ import annotations

import pytest

from pushjuju.services.entities.basis import users as access
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
