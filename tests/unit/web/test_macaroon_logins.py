"""Logins with a macaroon in place of the password, as `juju register` and `juju login` do them."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from urllib.parse import urljoin

import aiohttp
import pymacaroons
import pytest
from pymacaroons.serializers import json_serializer

from pushjuju.core.clock import to_iso
from pushjuju.services.entities.basis import users as access
from pushjuju.services.requests.user import passwords, registration_string, users
from pushjuju.web import decoding, macaroons
from pushjuju.web.login_macaroons import LoginMacaroons
from pushjuju.web.macaroons import BadMacaroon, Macaroon, MacaroonParams
from tests.unit.web.test_registration import ask as register
from tests.unit.web.test_registration import fields
from tests.world.api import PASSWORD, ApiFailed, ApiWorld
from tests.world.controller import TestController

KEY = b"a key of the controller"


def slices(cookie: str) -> list[Any]:
    """Return the macaroons in the value of a cookie."""
    found: list[Any] = json.loads(base64.urlsafe_b64decode(cookie + "=" * (-len(cookie) % 4)))
    return found


class Browser:
    """A client of HTTP endpoints that keeps cookies, as Juju's bakery client does."""

    def __init__(self, served: ApiWorld, session: aiohttp.ClientSession) -> None:
        self._served = served
        self._session = session
        self._base = f"https://{served.endpoint}"

    async def ask(self, method: str, path: str, **form: str) -> tuple[int, dict[str, Any]]:
        """Return status and answer of a request."""
        url = urljoin(self._base, path)
        more = {"data": form} if form else {}
        async with self._session.request(method, url, ssl=self._served.trust, **more) as answer:
            return answer.status, await answer.json()

    async def login(self, user: str, password: str = PASSWORD, path: str = "/auth/login") -> int:
        """Log in with a password; return the status."""
        return (await self.ask("POST", path, user=user, password=password))[0]

    @property
    def cookie(self) -> str:
        """The macaroon that the client keeps."""
        (found,) = (item.value for item in self._session.cookie_jar if item.key == "macaroon-login")
        return found


@asynccontextmanager
async def browser(served: ApiWorld) -> AsyncIterator[Browser]:
    jar = aiohttp.CookieJar(unsafe=True)
    async with aiohttp.ClientSession(cookie_jar=jar) as session:
        yield Browser(served, session)


async def enter(served: ApiWorld, user: str, *presented: list[Any], bakery: int = 0, model: str = "") -> Any:
    """Log in with macaroons; return the answer."""
    async with served.connect(model) as client:
        params = {
            "auth-tag": f"user-{user}" if user else "", "macaroons": presented, "bakery-version": bakery,
        }  # fmt: skip
        return await client.ask("Admin", 3, "Login", params)


@pytest.fixture
def kim(served: ApiWorld) -> str:
    """A user."""
    served.add_user("kim")
    return "kim"


async def given(served: ApiWorld, user: str = "kim") -> list[Any]:
    """Return the macaroon that a user gets for a password."""
    async with browser(served) as client:
        assert await client.login(user) == 200
        return slices(client.cookie)


# --- what gets in ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kim", ""])
async def test_the_macaroon_for_a_password_logs_in(served: ApiWorld, kim: str, name: str) -> None:
    presented = await given(served)
    assert PASSWORD not in json.dumps(presented)
    assert (await enter(served, name, presented))["user-info"]["identity"] == "user-kim"


async def test_a_client_discharges_the_demand_of_login(served: ApiWorld, kim: str) -> None:
    demand = (await enter(served, kim, bakery=3))["discharge-required"]
    (_, caveat) = demand["c"]
    assert caveat["l"] == f"https://{served.endpoint}/auth"
    async with browser(served) as client:
        status, answer = await client.ask("POST", "/auth/discharge", id=caveat["i"])
        assert (status, answer["Code"]) == (401, "interaction required")
        visit, wait = answer["Info"]["VisitURL"], answer["Info"]["WaitURL"]
        assert (await client.ask("GET", visit))[1] == {"juju_userpass": visit}
        assert await client.login(kim, "wrong", visit) == 401
        assert (await client.ask("GET", wait))[0] == 401
        assert await client.login(kim, PASSWORD, visit) == 200
        status, answer = await client.ask("GET", wait)
        assert status == 200
    found = macaroons.read(params(answer["Macaroon"])).bound(macaroons.read(params(demand)))
    entered = await enter(served, kim, [demand, found.document()], bakery=3)
    assert entered["user-info"]["identity"] == "user-kim"
    for wrong in ([demand], [demand, answer["Macaroon"]], [found.document()], [found.document(), demand]):
        assert "discharge-required" in await enter(served, kim, wrong, bakery=3)
        with pytest.raises(ApiFailed, match="invalid entity name or password"):
            await enter(served, kim, wrong)


async def test_registration_gives_a_proof_that_only_discharges(served: ApiWorld) -> None:
    users.add(served.ctx, "kim", "")
    name, _, key, _ = fields(registration_string.invite(served.ctx, "kim").text)
    async with browser(served) as client:
        assert (await register(served, f"user-{name}", key, "tulip", client._session))[0] == 200
        presented = slices(client.cookie)
        demand = (await enter(served, "kim", presented, bakery=3))["discharge-required"]
        with pytest.raises(ApiFailed, match="invalid entity name or password"):
            await enter(served, "kim", presented)
        status, answer = await client.ask("POST", "/auth/discharge", id=demand["c"][1]["i"])
        assert status == 200
    found = macaroons.read(params(answer["Macaroon"])).bound(macaroons.read(params(demand)))
    assert (await enter(served, "kim", [demand, found.document()]))["user-info"]["identity"] == "user-kim"


async def test_macaroons_open_uploads_and_streams_as_passwords_do(
    served: ApiWorld, house: TestController, kim: str
) -> None:
    header = base64.b64encode(json.dumps(await given(served)).encode()).decode()
    url = f"https://{served.endpoint}/model/{house.model}/charms?url=local:x-1"

    async def status(**headers: str) -> int:
        async with (
            aiohttp.ClientSession() as session,
            session.get(url, ssl=served.trust, headers=headers) as got,
        ):
            return got.status

    assert await status(Macaroons=header) == 401  # no access to the model
    with house.ctx.store.write() as tx:
        access.grant(tx, "kim", "read", access.Kind.MODEL, house.model)
    assert await status(Macaroons=header) == 404
    for wrong in ("", "!", base64.b64encode(b"[]").decode(), base64.b64encode(b"[3]").decode()):
        assert await status(Macaroons=wrong) == 401


# --- what does not -----------------------------------------------------------------------------------------


async def test_the_macaroons_of_a_user_end_with_password_access_or_user(served: ApiWorld, kim: str) -> None:
    presented = await given(served)
    users.set_enabled(served.ctx, "kim", enabled=False)
    with pytest.raises(ApiFailed, match="invalid entity name or password"):
        await enter(served, kim, presented)
    users.set_enabled(served.ctx, "kim", enabled=True)
    with pytest.raises(ApiFailed, match="invalid entity name or password"):
        await enter(served, kim, presented)  # who enables a user again does not bring the macaroon back
    presented = await given(served)
    await enter(served, kim, presented)
    with served.ctx.store.write() as tx:
        access.revoke(tx, "kim", "login", access.Kind.CONTROLLER, "")
    with pytest.raises(ApiFailed, match="permission denied"):
        await enter(served, kim, presented)
    with served.ctx.store.write() as tx:
        access.grant(tx, "kim", "login", access.Kind.CONTROLLER, "")
    passwords.set_password(served.ctx, "kim", PASSWORD)
    with pytest.raises(ApiFailed, match="invalid entity name or password"):
        await enter(served, kim, presented)
    presented = await given(served)
    users.remove(served.ctx, "kim")
    with pytest.raises(ApiFailed, match="invalid entity name or password"):
        await enter(served, kim, presented)
    served.add_user("kim")
    with pytest.raises(ApiFailed, match="invalid entity name or password"):
        await enter(served, kim, presented)


async def test_a_macaroon_ends_after_a_day(served: ApiWorld, house: TestController, kim: str) -> None:
    presented = await given(served)
    house.clock.advance(24 * 3600 - 60)
    await enter(served, kim, presented)
    house.clock.advance(120)
    with pytest.raises(ApiFailed, match="invalid entity name or password"):
        await enter(served, kim, presented)


async def test_a_connection_with_a_macaroon_ends_with_the_access(served: ApiWorld, kim: str) -> None:
    presented = await given(served)
    async with served.connect() as client:
        await client.ask("Admin", 3, "Login", {"auth-tag": "user-kim", "macaroons": [presented]})
        users.set_enabled(served.ctx, "kim", enabled=False)
        assert (await client.socket.receive(timeout=10)).type is aiohttp.WSMsgType.CLOSE


async def test_a_macaroon_that_was_changed_or_is_of_another_logs_nobody_in(
    served: ApiWorld, kim: str
) -> None:
    (good,) = await given(served)
    (of_admin,) = await given(served, "admin")
    other = LoginMacaroons(KEY, served.ctx.clock.now).login("kim", "").document()
    wrong: list[Any] = [
        [], [{}], [other], [of_admin], [good, good], [good, other], [{**good, "i": of_admin["i"]}],
        [{**good, "c": []}], [{**good, "c": [{"i": "time-before 2999-01-01T00:00:00Z"}]}],
        [{**good, "c": [*good["c"], {"i": "time-before 2999-01-01T00:00:00Z"}]}],
        [{**good, "s64": "!"}], [{**good, "s64": ""}], [{"identifier": "kim", "signature": "zz"}],
        [{**good, "c": good["c"] * 50}], [{**good, "c": [{"i": "x", "v64": "AAAA"}]}],
    ]  # fmt: skip
    for item in wrong:
        with pytest.raises(ApiFailed, match=r"invalid entity name or password|no credentials"):
            await enter(served, kim, item)
    for text in (
        "unknown x",
        "time-before soon",
        "time-before 2999-01-01T00:00:00",
        "is-authenticated-user kim",
    ):
        narrower = macaroons.read(params(good)).restricted(text)
        with pytest.raises(ApiFailed, match="invalid entity name or password"):
            await enter(served, kim, [narrower.document()])
    for bad in ([3], ["x"], [[3]], 3):
        async with served.connect() as client:
            with pytest.raises(ApiFailed, match="cannot unmarshal"):
                await client.ask("Admin", 3, "Login", {"auth-tag": "user-kim", "macaroons": bad})


async def test_a_narrower_macaroon_is_good_as_long_as_its_conditions(
    served: ApiWorld, house: TestController, kim: str
) -> None:
    (good,) = await given(served)
    soon = to_iso(house.clock.now() + timedelta(minutes=1))
    narrower = macaroons.read(params(good)).restricted(f"time-before {soon}").document()
    await enter(served, kim, [narrower])
    house.clock.advance(120)
    with pytest.raises(ApiFailed, match="invalid entity name or password"):
        await enter(served, kim, [narrower])


async def test_a_discharge_needs_the_proof_of_its_own_user_in_time(
    served: ApiWorld, house: TestController, kim: str
) -> None:
    demand = (await enter(served, "admin", bakery=3))["discharge-required"]
    caveat = demand["c"][1]["i"]
    async with browser(served) as client:
        assert await client.login("kim") == 200
        assert (await client.ask("POST", "/auth/discharge", id=caveat))[0] == 401
        assert (await client.ask("GET", f"/auth/wait?waitid={caveat}"))[0] == 401
        for wrong in ("x", caveat[:-4], base64.b64encode(b"{}").decode()):
            assert (await client.ask("POST", "/auth/discharge", id=wrong))[0] == 400
            assert (await client.ask("GET", f"/auth/wait?waitid={wrong}"))[0] == 400
        assert (await client.ask("POST", "/auth/discharge", id64="!"))[0] == 400
        house.clock.advance(180)
        assert (await client.ask("POST", "/auth/discharge", id=caveat))[0] == 400


async def test_demands_do_not_tell_which_users_are_there(served: ApiWorld, kim: str) -> None:
    known, unknown = [await enter(served, name, bakery=3) for name in ("kim", "nobody")]
    assert known["discharge-required-error"] == unknown["discharge-required-error"]
    assert list(known["discharge-required"]) == list(unknown["discharge-required"])
    for name in ("kim", "nobody"):
        with pytest.raises(ApiFailed, match="no credentials provided"):
            await enter(served, name)


async def test_wrong_passwords_at_the_form_are_counted(served: ApiWorld, kim: str) -> None:
    async with browser(served) as client:
        found = [await client.login("kim", "wrong") for _ in range(11)]
        assert found == [401] * 10 + [429]
        assert (await client.ask("POST", "/auth/login"))[0] == 400
        assert (await client.ask("POST", "/auth/login", **{f"f{n}": "x" for n in range(30)}))[0] == 400


# --- the format --------------------------------------------------------------------------------------------


def params(document: Mapping[str, Any]) -> MacaroonParams:
    return decoding.decode(MacaroonParams, document)


def test_pymacaroons_reads_and_makes_the_same_macaroons() -> None:
    ours = macaroons.mint(KEY, b"kim 1").restricted("time-before x").demanding(b"third", b"cid", "https://x")
    form = json_serializer.JsonSerializer()
    theirs = pymacaroons.Macaroon.deserialize(json.dumps(ours.document()), form)
    discharge = theirs.prepare_for_request(
        pymacaroons.Macaroon(identifier="cid", key=b"third", version=pymacaroons.MACAROON_V2)
    )
    verifier = pymacaroons.Verifier()
    verifier.satisfy_exact("time-before x")
    assert verifier.verify(theirs, KEY, [discharge])
    for version in (pymacaroons.MACAROON_V1, pymacaroons.MACAROON_V2):
        made = pymacaroons.Macaroon(identifier="kim 2", key=KEY, version=version)
        made.add_first_party_caveat("a")
        made.add_third_party_caveat("https://y", "third", "cid")
        own = pymacaroons.Macaroon(identifier="cid", key="third", version=version)
        own.add_first_party_caveat("b")
        bound = made.prepare_for_request(own)
        read = [macaroons.read(params(json.loads(item.serialize(form)))) for item in (made, bound)]
        assert macaroons.conditions(KEY, read) == ["a", "b"]
        for wrong in (read[:1], read[::-1], [read[0], read[0]], [*read, read[1]]):
            with pytest.raises(BadMacaroon):
                macaroons.conditions(KEY, wrong)
        with pytest.raises(BadMacaroon):
            macaroons.conditions(b"another", read)


def test_an_id_of_bytes_is_written_in_base64() -> None:
    made = Macaroon(id=b"\xff\xfe", signature=b"s" * 32)
    assert made.document()["i64"] == "__4"
    assert macaroons.read(params(made.document())) == made
