"""Users who choose a password with a secret key."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from nacl.secret import SecretBox

from pushjuju.services.entities.basis.passwords import login_of
from pushjuju.services.requests.user import passwords, registration_string, users
from tests.world.api import ApiFailed, ApiWorld
from tests.world.controller import TestController
from tests.world.libjuju import controller_of


def fields(text: str) -> tuple[str, list[str], bytes, str]:
    """Return user, addresses, key and controller of a registration string, whose form is DER."""

    def read(data: bytes) -> tuple[bytes, bytes]:
        size, head = data[1], 2
        if size & 0x80:
            head += size & 0x7F
            size = int.from_bytes(data[2:head], "big")
        return data[head : head + size], data[head + size :]

    rest, _ = read(base64.urlsafe_b64decode(text))
    name, rest = read(rest)
    listed, rest = read(rest)
    key, rest = read(rest)
    controller, _ = read(rest)
    addresses = []
    while listed:
        item, listed = read(listed)
        addresses.append(item.decode())
    return name.decode(), addresses, key, controller.decode()


async def ask(
    served: ApiWorld, user: str, key: bytes, password: str, session: aiohttp.ClientSession | None = None
) -> tuple[int, Any]:
    """Register as Juju's client does, which does not check the certificate yet; return status and answer."""
    box = SecretBox(key)
    sealed = box.encrypt(json.dumps({"password": password}).encode())
    body = {
        "user": user,
        "nonce": base64.b64encode(sealed.nonce).decode(),
        "cipher-text": base64.b64encode(sealed.ciphertext).decode(),
    }
    if session is not None:
        return await post_in(session, served, json.dumps(body).encode(), box)
    return await post(served, json.dumps(body).encode(), box)


async def post(served: ApiWorld, body: bytes, box: SecretBox | None = None) -> tuple[int, Any]:
    """Post to the endpoint; open the answer with a box."""
    async with aiohttp.ClientSession() as session:
        return await post_in(session, served, body, box)


async def post_in(
    session: aiohttp.ClientSession, served: ApiWorld, body: bytes, box: SecretBox | None
) -> tuple[int, Any]:
    """Post to the endpoint with the cookies of a session; open the answer with a box."""
    url = f"https://{served.endpoint}/register"
    async with session.post(url, data=body, ssl=False) as answer:
        found = await answer.json()
        if box is None or answer.status != 200:
            return answer.status, found
        sealed, nonce = base64.b64decode(found["cipher-text"]), base64.b64decode(found["nonce"])
        return answer.status, json.loads(box.decrypt(sealed, nonce))


async def test_a_user_registers_with_the_string_of_add_user(served: ApiWorld) -> None:
    users.add(served.ctx, "kim", "")
    invitation = registration_string.invite(served.ctx, "kim")
    name, addresses, key, controller = fields(invitation.text)
    assert (name, addresses, controller) == ("kim", [served.endpoint], "home")
    assert invitation.reachable
    status, answer = await ask(served, "user-kim", key, "tulip")
    assert status == 200
    assert answer == {"ca-cert": served.api.ca, "controller-uuid": served.api.controller_uuid}
    async with served.connect() as client:
        assert (await client.login("kim", "tulip"))["user-info"]["identity"] == "user-kim"
    status, refused = await ask(served, "user-kim", key, "again")
    assert (status, refused["error"]["message"]) == (401, "secret key not valid")


async def test_a_secret_key_is_no_password(served: ApiWorld) -> None:
    served.add_user("kim")
    key = passwords.new_key(served.ctx, "kim")
    with served.ctx.store.read() as tx:
        kept = str(login_of(tx, "kim").password)
    for password in (kept, base64.b64encode(key).decode(), "a-password-of-tests"):
        async with served.connect() as client:
            with pytest.raises(ApiFailed, match="invalid entity name or password"):
                await client.login("kim", password)


async def test_wrong_keys_and_bad_requests_are_refused_alike_and_counted(
    served: ApiWorld, house: TestController
) -> None:
    users.add(served.ctx, "kim", "")
    registration_string.invite(served.ctx, "kim")
    users.add(served.ctx, "ann", "")
    users.set_enabled(served.ctx, "ann", enabled=False)
    ann = passwords.new_key(served.ctx, "ann")
    before = house.dump()["user_login"]
    for user, key in (
        ("user-kim", bytes(32)),
        ("user-nobody", bytes(32)),
        ("user-admin", bytes(32)),
        ("user-ann", ann),
        ("machine-0", bytes(32)),
    ):
        status, answer = await ask(served, user, key, "tulip")
        assert (status, answer["error"]["message"]) == (401, "secret key not valid")
    for body in (b"", b"[]", b"{", b'{"user": 3}', b"x" * 20000):
        assert (await post(served, body))[0] == 400
    assert house.dump()["user_login"] == before
    for _ in range(6):
        status, answer = await ask(served, "user-kim", bytes(32), "tulip")
    assert (status, answer["error"]["code"]) == (429, "try again")


async def test_an_empty_password_leaves_the_key(served: ApiWorld) -> None:
    users.add(served.ctx, "kim", "")
    key = passwords.new_key(served.ctx, "kim")
    assert (await ask(served, "user-kim", key, ""))[0] == 400
    assert (await ask(served, "user-kim", key, "tulip"))[0] == 200


async def test_keys_of_libjuju_register(served: ApiWorld) -> None:
    async with controller_of(served) as controller:
        kim = await controller.add_user("kim")
        key = base64.b64decode(kim.secret_key)
        assert (await ask(served, "user-kim", key, "tulip"))[0] == 200
        again = await controller.reset_user_password("kim")
        async with served.connect() as client:
            with pytest.raises(ApiFailed, match="invalid entity name or password"):
                await client.login("kim", "tulip")
        assert (await ask(served, "user-kim", base64.b64decode(again.secret_key), "rose"))[0] == 200


async def test_a_body_that_comes_in_several_packets_is_read_whole(served: ApiWorld) -> None:
    users.add(served.ctx, "kim", "")
    key = passwords.new_key(served.ctx, "kim")
    sealed = SecretBox(key).encrypt(b'{"password": "tulip"}')
    nonce, text = (base64.b64encode(item).decode() for item in (sealed.nonce, sealed.ciphertext))
    body = json.dumps({"user": "user-kim", "nonce": nonce, "cipher-text": text}).encode()

    async def packets() -> AsyncIterator[bytes]:
        yield body[:20]
        async with served.connect() as client:  # the server has read the first packet by then
            await client.login()
        yield body[20:]

    async with aiohttp.ClientSession() as session:
        answer = await session.post(f"https://{served.endpoint}/register", data=packets(), ssl=False)
        assert answer.status == 200, await answer.text()
