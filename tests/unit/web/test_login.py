"""Login, and what is refused before it and by it."""

from __future__ import annotations

import asyncio
import ssl
import time

import aiohttp
import pytest

from pushjuju.services.entities.basis import passwords
from pushjuju.services.entities.basis import users as access
from pushjuju.services.requests.user import passwords as requests
from pushjuju.services.requests.user import users
from pushjuju.services.views.listings import users as listing
from pushjuju.web import limits
from tests.world.api import PASSWORD, ApiFailed, ApiWorld
from tests.world.controller import TestController

UNKNOWN = "00000000-0000-4000-8000-000000000000"


async def test_a_login_tells_versions_facades_and_rights(served: ApiWorld) -> None:
    async with served.connect() as client:
        found = await client.login()
        assert found["server-version"].startswith("3.6.")
        assert found["user-info"]["identity"] == "user-admin"
        assert found["user-info"]["controller-access"] == "superuser"
        names = {item["name"]: item["versions"] for item in found["facades"]}
        assert names["Pinger"] == [1]
        assert "Client" not in names
        assert "model-tag" not in found
        host, port = served.endpoint.split(":")
        assert found["servers"][0][0] == {
            "value": host, "port": int(port), "type": "ipv4", "scope": "local-machine",
        }  # fmt: skip
        assert await client.ask("Pinger", 1, "Ping") == {}


async def test_a_login_to_a_model_names_the_model(served: ApiWorld, house: TestController) -> None:
    async with served.connect(house.model) as client:
        found = await client.login()
        assert found["model-tag"] == f"model-{house.model}"
        names = {item["name"] for item in found["facades"]}
        assert "Client" in names
        assert "ModelManager" not in names


async def test_nothing_but_login_is_answered_before_login(served: ApiWorld) -> None:
    async with served.connect() as client:
        for facade, version, method in (
            ("Pinger", 1, "Ping"),
            ("Nothing", 9, "At"),
            ("Controller", 11, "AllModels"),
        ):
            with pytest.raises(ApiFailed, match="not logged in") as refused:
                await client.ask(facade, version, method)
            assert refused.value.code == "unauthorized access"
        with pytest.raises(ApiFailed, match="not redirected"):
            await client.ask("Admin", 3, "RedirectInfo")


async def test_a_second_login_is_refused(served: ApiWorld) -> None:
    async with served.entered() as client:
        with pytest.raises(ApiFailed, match="already logged in"):
            await client.login()


@pytest.mark.parametrize(
    ("tag", "password"),
    [
        ("user-admin", "wrong"),
        ("user-nobody", "wrong"),
        ("machine-0", "x"),
        ("unit-web-0", "x"),
        ("", "x"),
        ("kim", "x"),
    ],
)
async def test_wrong_names_and_passwords_read_alike(served: ApiWorld, tag: str, password: str) -> None:
    async with served.connect() as client:
        with pytest.raises(ApiFailed, match=r"^invalid entity name or password$") as refused:
            await client.ask("Admin", 3, "Login", {"auth-tag": tag, "credentials": password})
        assert refused.value.code == "unauthorized access"


async def test_a_login_without_a_password_is_refused(served: ApiWorld) -> None:
    async with served.connect() as client:
        with pytest.raises(ApiFailed) as refused:
            await client.ask("Admin", 3, "Login", {"auth-tag": None, "macaroons": []})
        assert refused.value.code == "no credentials provided"


async def test_a_user_without_a_password_cannot_log_in(served: ApiWorld) -> None:
    users.add(served.ctx, "kim", "")
    for password in (PASSWORD, "$", "kim"):
        async with served.connect() as client:
            with pytest.raises(ApiFailed, match="invalid entity name or password"):
                await client.login("kim", password)


async def test_a_disabled_user_cannot_log_in(served: ApiWorld) -> None:
    served.add_user("kim")
    users.set_enabled(served.ctx, "kim", enabled=False)
    async with served.connect() as client:
        with pytest.raises(ApiFailed, match="invalid entity name or password"):
            await client.login("kim")


async def test_before_the_right_password_models_that_are_there_read_like_others(
    served: ApiWorld, house: TestController
) -> None:
    texts = set()
    for model in (house.model, UNKNOWN, "not-a-uuid"):
        async with served.connect(model) as client:
            with pytest.raises(ApiFailed) as refused:
                await client.login("admin", "wrong")
            texts.add((str(refused.value), refused.value.code))
            with pytest.raises(ApiFailed, match="not logged in"):
                await client.ask("Client", 8, "FullStatus")
    assert texts == {("invalid entity name or password", "unauthorized access")}


async def test_with_the_right_password_an_unknown_model_is_told(served: ApiWorld) -> None:
    async with served.connect(UNKNOWN) as client:
        with pytest.raises(ApiFailed, match=f'^unknown model: "{UNKNOWN}"$') as refused:
            await client.login()
        assert refused.value.code == "model not found"


async def test_a_user_without_access_does_not_get_into_a_model(
    served: ApiWorld, house: TestController
) -> None:
    served.add_user("kim")
    async with served.connect(house.model) as client:
        with pytest.raises(ApiFailed, match="permission denied"):
            await client.login("kim")


async def test_too_many_wrong_passwords_are_slowed_down(served: ApiWorld) -> None:
    texts = []
    async with served.connect() as client:
        for _ in range(12):
            try:
                await client.login("admin", "wrong")
            except ApiFailed as error:
                texts.append(str(error))
        assert texts[:10] == ["invalid entity name or password"] * 10
        assert texts[10:] == ["try again"] * 2


async def test_wrong_passwords_at_one_time_are_limited_like_others(served: ApiWorld) -> None:
    async def login() -> str:
        async with served.connect() as client:
            try:
                await client.login("admin", "wrong")
            except ApiFailed as error:
                return str(error)
        return "in"

    texts = await asyncio.gather(*(login() for _ in range(20)))
    assert (
        texts.count("invalid entity name or password") <= 11
    )  # ten, and what another thread tries just then
    assert texts.count("try again") >= 9


def test_attempts_come_back_with_time() -> None:
    now = [0.0]
    attempts = limits.Attempts(lambda: now[0])
    for _ in range(10):
        assert attempts.may_try("1.2.3.4", "kim")
        attempts.failed("1.2.3.4", "kim")
    assert not attempts.may_try("1.2.3.4", "other")
    assert not attempts.may_try("5.6.7.8", "kim")
    now[0] = 6.1
    assert attempts.may_try("1.2.3.4", "kim")
    attempts.failed("1.2.3.4", "kim")
    assert not attempts.may_try("1.2.3.4", "kim")


async def test_another_ca_is_refused(served: ApiWorld) -> None:
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.ClientConnectorCertificateError):
            await session.get(f"https://{served.endpoint}/health", ssl=ssl.create_default_context())


async def test_the_certificate_is_for_the_name_that_juju_asks_for(served: ApiWorld) -> None:
    host, port = served.endpoint.split(":")
    _, writer = await asyncio.open_connection(
        host, int(port), ssl=served.trust, server_hostname="juju-apiserver"
    )
    writer.close()
    await writer.wait_closed()


@pytest.mark.parametrize("change", ["disable", "remove", "password", "access"])
async def test_an_open_connection_ends_when_its_user_may_not_stay(
    served: ApiWorld, house: TestController, change: str
) -> None:
    served.add_user("kim")
    with served.ctx.store.write() as tx:
        access.grant(tx, "kim", "read", access.Kind.MODEL, house.model)
    async with served.entered(house.model, "kim") as client:
        assert await client.ask("Pinger", 1, "Ping") == {}
        if change == "disable":
            users.set_enabled(served.ctx, "kim", enabled=False)
        elif change == "remove":
            users.remove(served.ctx, "kim")
        elif change == "password":
            requests.set_password(served.ctx, "kim", "another")
        else:
            with served.ctx.store.write() as tx:
                access.revoke(tx, "kim", "read", access.Kind.MODEL, house.model)
        if change != "password":
            with pytest.raises(ApiFailed, match="permission denied"):
                await client.ask("Client", 8, "FullStatus")
        message = await client.socket.receive(timeout=5)
        assert message.type is aiohttp.WSMsgType.CLOSE
        assert client.socket.close_code == aiohttp.WSCloseCode.POLICY_VIOLATION


async def test_the_last_connection_of_a_user_is_noted(served: ApiWorld) -> None:
    served.add_user("kim")
    assert listing.document(served.ctx, "kim")["last-connection"] is None
    async with served.entered(user="kim"):
        assert listing.document(served.ctx, "kim")["last-connection"] == served.ctx.clock.now()


async def test_a_password_is_kept_as_a_salted_hash(served: ApiWorld) -> None:
    served.add_user("kim", "tulip")
    served.add_user("bob", "tulip")
    with served.ctx.store.read() as tx:
        kim, bob = (passwords.login_of(tx, name).password for name in ("kim", "bob"))
    assert kim.startswith("$scrypt$ln=14,r=8,p=1$")
    assert kim != bob
    assert passwords.matches("tulip", kim)
    assert not passwords.matches("tulips", kim)
    assert not passwords.matches("", "")


def test_a_password_costs_as_much_for_a_user_who_is_not_there() -> None:
    kept, spent = passwords.hashed("tulip"), []
    for hash_of in (kept, ""):
        begun = time.process_time()
        for _ in range(4):
            passwords.matches("rose", hash_of)
        spent.append(time.process_time() - begun)
    assert 0.5 < spent[0] / spent[1] < 2


async def test_only_a_superuser_learns_that_a_model_is_not_there(
    served: ApiWorld, house: TestController
) -> None:
    served.add_user("kim")
    for model in (house.model, UNKNOWN, "not-a-uuid"):
        async with served.connect(model) as client:
            with pytest.raises(ApiFailed, match=r"^permission denied$") as refused:
                await client.login("kim")
            assert refused.value.code == "unauthorized access"
