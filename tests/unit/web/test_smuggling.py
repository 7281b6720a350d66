"""What no HTTP client would send: two lengths, bodies where none belong, other protocols, bytes in paths."""

from __future__ import annotations

import asyncio
import base64
import random

import pytest

from tests.world.api import PASSWORD, ApiWorld
from tests.world.controller import TestController

BASIC = base64.b64encode(f"user-admin:{PASSWORD}".encode()).decode()
POST = "POST /model/{model}/charms HTTP/1.1\r\n"
NEXT = "0\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n"
SENT = {
    "two lengths": f"{POST}Content-Length: 3\r\nContent-Length: 30\r\n{{head}}\r\nabc",
    "a length and chunks": f"{POST}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n{{head}}\r\n{NEXT}",
    "a wrong length": f"{POST}Content-Length: -1\r\n{{head}}\r\n",
    "another protocol": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a null byte": "GET /model/{model}/\0charms HTTP/1.1\r\n{head}\r\n",
    "an encoded null byte": "GET /model/%00/charms HTTP/1.1\r\n{head}\r\n",
    "dots": "GET /model/{model}/charms/../../../../etc/passwd HTTP/1.1\r\n{head}\r\n",
    "encoded dots": "GET /model/..%2f..%2f..%2fetc%2fpasswd HTTP/1.1\r\n{head}\r\n",
    "an address": "GET http://169.254.169.254/latest HTTP/1.1\r\n{head}\r\n",
    "a long line": "GET /" + "a" * 20_000 + " HTTP/1.1\r\n{head}\r\n",
    "many headers": "GET /health HTTP/1.1\r\n" + "X-A: b\r\n" * 5_000 + "{head}\r\n",
}


async def answered(served: ApiWorld, text: str) -> bytes:
    """Return all that the server sends until it closes, or is silent."""
    host, port = served.endpoint.split(":")
    reader, writer = await asyncio.open_connection(
        host, int(port), ssl=served.trust, server_hostname="juju-apiserver"
    )
    writer.write(text.encode())
    found = b""
    try:
        async with asyncio.timeout(5):
            while part := await reader.read(65536):
                found += part
                if b"\r\n\r\n" in found:
                    break
    finally:
        writer.close()
    return found


@pytest.mark.parametrize("name", SENT)
async def test_a_request_that_is_ambiguous_is_refused(
    served: ApiWorld, house: TestController, name: str
) -> None:
    head = f"Host: {served.endpoint}\r\nAuthorization: Basic {BASIC}\r\nContent-Type: application/zip\r\n"
    found = await answered(served, SENT[name].replace("{model}", house.model).replace("{head}", head))
    status = found.split(b" ", 2)[1:2]
    assert status in ([b"400"], [b"404"], [b"405"]), found[:200]
    assert b"root:" not in found
    assert found.count(b"\r\nServer: ") == 1
    async with served.entered() as client:  # the server goes on
        assert await client.ask("Pinger", 1, "Ping") == {}


async def test_answers_of_many_connections_are_not_mixed_up(served: ApiWorld, house: TestController) -> None:
    """Requests of ten connections in random order: each gets one answer, its own."""
    kept = random.Random(7)

    async def talk(number: int) -> None:
        async with served.entered(house.model) as client:
            tags = {}
            for place in range(50):
                tag = f"application-none{number}x{place}"
                request = {"entities": [{"tag": tag}]}
                tags[await client.send("Annotations", "Get", request, version=2)] = tag
                if kept.random() < 0.2:
                    await asyncio.sleep(0)
            for _ in range(50):
                answer = await client.read()
                tag = tags.pop(answer["request-id"])
                assert answer["response"]["results"][0]["entity"] == tag
            assert not tags

    await asyncio.gather(*(talk(number) for number in range(10)))


async def test_headers_that_are_too_large_together_are_refused(served: ApiWorld) -> None:
    headers = "".join(f"X-{number}: {'a' * 4000}\r\n" for number in range(5))
    found = await answered(served, f"GET /health HTTP/1.1\r\nHost: x\r\n{headers}\r\n")
    assert found.startswith(b"HTTP/1.1 431 ")
    found = await answered(served, f"GET /health HTTP/1.1\r\nHost: x\r\n{headers[:12_000]}\r\n\r\n")
    assert found.startswith(b"HTTP/1.1 200 ")
