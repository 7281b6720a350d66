"""A certificate that the operator brings."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import aiohttp
import pytest

from pushjuju.core.clock import SystemClock
from pushjuju.core.errors import NotValid
from pushjuju.web import certificates
from pushjuju.web.certificates import Certificates, OwnCertificate
from pushjuju.web.server import Address, Server
from tests.world.api import ApiWorld
from tests.world.controller import TestController


@pytest.fixture
def other(tmp_path: Path) -> Certificates:
    """A CA that is not the controller's, and a certificate for two names."""
    names = ["juju.example.com", "*.apps.example.com"]
    return certificates.ready(tmp_path / "other", names, SystemClock().now())


def own(found: Certificates) -> OwnCertificate:
    return OwnCertificate(certificate=found.server, key=found.server_key)


async def is_trusted(server: Server, ca: Path, name: str) -> bool:
    """Return True when a client that asks for a name trusts the answer."""
    host, port = server.api.addresses[0]
    trust = ssl.create_default_context(cafile=str(ca))
    try:
        _, writer = await asyncio.open_connection(host, port, ssl=trust, server_hostname=name)
    except ssl.SSLCertVerificationError:
        return False
    writer.close()
    await writer.wait_closed()
    return True


async def test_who_asks_for_its_names_gets_the_operators_certificate(
    house: TestController, other: Certificates
) -> None:
    server = Server(house.ctx, [Address("127.0.0.1", 0)], lambda: None, own(other))
    await server.start()
    try:
        ca = house.ctx.controller.root / "api" / "ca.pem"
        assert await is_trusted(server, other.ca, "juju.example.com")
        assert await is_trusted(server, other.ca, "web.apps.example.com")
        assert await is_trusted(server, ca, "127.0.0.1")
        assert not await is_trusted(server, other.ca, "127.0.0.1")
        assert server.api.public_name
    finally:
        await server.close()


async def test_login_tells_the_public_name(served: ApiWorld) -> None:
    async with served.connect() as client:
        assert "public-dns-name" not in await client.login()
    served.api.public_name = "juju.example.com"
    async with served.connect() as client:
        assert (await client.login())["public-dns-name"] == "juju.example.com"


def test_what_is_no_certificate_is_refused(tmp_path: Path, other: Certificates) -> None:
    (tmp_path / "odd.pem").write_text("odd")
    for certificate, key in (
        (tmp_path / "none.pem", other.server_key),
        (tmp_path / "odd.pem", other.server_key),
        (other.server, other.ca_key),
        (other.server, tmp_path / "none.pem"),
    ):
        with pytest.raises(NotValid):
            certificates.server_context(other, OwnCertificate(certificate=certificate, key=key))


@pytest.mark.parametrize(("has_own", "dashboard"), [(True, True), (False, True), (False, False)])
async def test_browsers_keep_to_tls_only_where_they_trust_it_by_themselves(
    house: TestController, other: Certificates, *, has_own: bool, dashboard: bool
) -> None:
    given = own(other) if has_own else None
    server = Server(house.ctx, [Address("127.0.0.1", 0)], lambda: None, given, dashboard=dashboard)
    await server.start()
    try:
        host, port = server.api.addresses[0]
        trust = ssl.create_default_context(cafile=str(house.ctx.controller.root / "api" / "ca.pem"))
        async with aiohttp.ClientSession() as session:
            answer = await session.get(f"https://{host}:{port}/ui/login", ssl=trust)
    finally:
        await server.close()
    assert (answer.status == 200, "Strict-Transport-Security" in answer.headers) == (dashboard, has_own)
