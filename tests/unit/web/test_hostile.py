"""What hostile and broken clients send, over the real socket."""

from __future__ import annotations

import asyncio
import hashlib
import json
from contextlib import suppress
from typing import Any, NoReturn

import aiohttp
import pytest

from pushjuju.core.errors import NotValid, StoreAway
from pushjuju.services.entities.basis import users as access
from pushjuju.services.requests.controller import controllers as change_config
from pushjuju.store.db import Store
from pushjuju.web import limits, messages
from tests.world.api import PASSWORD, ApiClient, ApiFailed, ApiWorld, basic
from tests.world.charms import Charms
from tests.world.controller import TestController


def request(**more: Any) -> str:
    return json.dumps({"request-id": 1, "type": "Pinger", "version": 1, "request": "Ping", **more})


BAD = {
    "no JSON": "{",
    "a list": "[]",
    "a number": "7",
    "nested": "[" * 100_000,
    "nested objects": '{"a":' * 500 + "1" + "}" * 500,
    "an infinite number": '{"request-id": 1e999999}',
    "not a number": '{"request-id": NaN}',
    "digits": '{"request-id": ' + "9" * 10_000 + "}",
    "no id": '{"type": "Pinger"}',
    "id 0": request(**{"request-id": 0}),
    "old form": '{"RequestId": 1, "Type": "Admin", "Request": "Login"}',
    "a number for a name": request(type=5),
    "a negative version": request(version=-1),
}
DEEP = f'{{"request-id": 1, "params": {{"a": {"[" * 64}{"]" * 64}}}}}'
ANSWERED = {
    "many keys": (request(params={str(number): 0 for number in range(10_001)}), "10001 entries"),
    "many items": (request(params={"a": [0] * 10_001}), "10001 entries"),
    "deep": (DEEP, "deeper than 64 levels"),
    "a list for params": (request(type="Controller", version=11, request="ConfigSet", params=[]), "list"),
    "a text for params": (request(type="Controller", version=11, request="ConfigSet", params="x"), "str"),
}


async def closed(client: ApiClient) -> int | None:
    """Wait until the server has closed a connection; return its code."""
    while True:
        message = await client.socket.receive(timeout=10)
        if message.type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.CLOSING):
            return client.socket.close_code


@pytest.mark.parametrize("text", BAD.values(), ids=BAD.keys())
async def test_what_is_no_request_ends_the_connection(served: ApiWorld, text: str) -> None:
    async with served.entered() as client:
        await client.socket.send_str(text)
        assert await closed(client) == aiohttp.WSCloseCode.POLICY_VIOLATION
    async with served.entered() as client:  # the server goes on
        assert await client.ask("Pinger", 1, "Ping") == {}


@pytest.mark.parametrize(("text", "why"), ANSWERED.values(), ids=ANSWERED.keys())
async def test_a_request_beyond_the_limits_is_refused_and_the_next_is_answered(
    served: ApiWorld, text: str, why: str
) -> None:
    async with served.entered() as client:
        await client.socket.send_str(text)
        found = await client.read()
        assert (found["request-id"], found["response"], "error-code" in found) == (1, {}, False)
        assert why in found["error"]
        assert await client.ask("Pinger", 1, "Ping") == {}


async def test_much_before_the_login_ends_the_connection(served: ApiWorld) -> None:
    async with served.connect() as client:
        await client.socket.send_str(" " * (limits.LARGEST_BEFORE_LOGIN + 1))
        assert await closed(client) == aiohttp.WSCloseCode.MESSAGE_TOO_BIG


async def test_a_message_that_is_too_large_ends_the_connection(served: ApiWorld) -> None:
    async with served.entered() as client:
        await client.socket.send_str(" " * (limits.LARGEST_MESSAGE + 1))
        cut = aiohttp.WSCloseCode.ABNORMAL_CLOSURE  # while the client still sends
        assert await closed(client) in (aiohttp.WSCloseCode.MESSAGE_TOO_BIG, cut)


async def test_who_does_not_log_in_is_sent_away(served: ApiWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LOGIN_WITHIN_S", 0.05)
    async with served.connect() as client:
        assert await closed(client) == aiohttp.WSCloseCode.POLICY_VIOLATION


async def test_neither_pings_nor_refused_requests_give_more_time_to_log_in(
    served: ApiWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LOGIN_WITHIN_S", 0.3)
    async with served.connect() as client:

        async def busy() -> None:
            with suppress(ConnectionError):
                while True:
                    await client.socket.ping()
                    await client.send("Pinger", "Ping", version=1)
                    await asyncio.sleep(0.05)

        talking = asyncio.create_task(busy())
        assert await closed(client) == aiohttp.WSCloseCode.POLICY_VIOLATION
        talking.cancel()
        await asyncio.gather(talking, return_exceptions=True)


async def test_an_address_has_few_connections_before_login(
    served: ApiWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST_OF_ADDRESS", 1)
    async with served.connect() as client:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            async with served.connect():
                pass
        assert refused.value.status == 503
        await client.login()
        async with served.connect():
            pass


async def test_a_page_of_another_origin_may_not_connect(served: ApiWorld) -> None:
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        async with served.connect(Origin="https://evil.example"):
            pass
    assert refused.value.status == 403
    async with served.connect(Origin=f"https://{served.endpoint}") as client:
        await client.login()


@pytest.mark.parametrize("origin", ["null", "https://[", "", "https://", "https://home.example.evil.example"])
async def test_an_odd_origin_may_not_connect(served: ApiWorld, origin: str) -> None:
    change_config.configure(served.ctx, {"api-allowed-origins": "https://home.example"})
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        async with served.connect(Origin=origin):
            pass
    assert refused.value.status == 403


async def test_pages_of_an_allowed_origin_may_connect_at_once(
    served: ApiWorld, house: TestController
) -> None:
    allowed = {"api-allowed-origins": "https://juju.example, HTTP://[::1]:8080"}
    async with served.entered() as client:
        await client.ask("Controller", 11, "ConfigSet", {"config": allowed})
    for origin in ("https://juju.example", "http://[::1]:8080"):
        async with served.connect(house.model, Origin=origin) as client:
            await client.login()
    for origin in ("http://juju.example", "https://juju.example:8443", "https://x.juju.example"):
        with pytest.raises(aiohttp.WSServerHandshakeError):
            async with served.connect(Origin=origin):
                pass


@pytest.mark.parametrize("text", ["*", "juju.example", "https://juju.example/", "https://a b", "https://"])
def test_what_is_no_origin_is_refused(house: TestController, text: str) -> None:
    with pytest.raises(NotValid, match="is not an origin"):
        change_config.configure(house.ctx, {"api-allowed-origins": f"https://x.example,{text}"})


async def test_keys_have_no_case_and_null_is_absent(served: ApiWorld) -> None:
    async with served.connect() as client:
        await client.socket.send_str(
            json.dumps(
                {
                    "Request-Id": 1, "TYPE": "Admin", "Version": 3, "request": "Login", "ID": None,
                    "params": {"Auth-Tag": "user-admin", "CREDENTIALS": PASSWORD, "nonce": None, "x": 1},
                }
            )
        )  # fmt: skip
        assert "response" in await client.read()


@pytest.mark.parametrize("value", [-50, "much", 1.5, True, [], {"a": 1}])
async def test_a_value_of_a_wrong_type_is_an_error_that_names_the_field(
    served: ApiWorld, house: TestController, value: Any
) -> None:
    async with served.entered(house.model) as client:
        with pytest.raises(ApiFailed, match=r"params\.constraints\.mem"):
            await client.ask("ModelConfig", 3, "SetModelConstraints", {"constraints": {"mem": value}})


def test_lone_surrogates_are_replaced() -> None:
    found = messages.read_request(
        '{"request-id": 1, "type": "\\ud800x", "params": {"\\uDFFF": "\\ud83d\\ude00"}}'
    )
    assert (found.facade, found.params) == ("\ufffdx", {"\ufffd": "\U0001f600"})


@pytest.mark.parametrize("user", ["", "admin"])
async def test_no_client_learns_where_the_store_is(
    served: ApiWorld, house: TestController, monkeypatch: pytest.MonkeyPatch, user: str
) -> None:
    def away(*_: object, **__: object) -> NoReturn:
        raise StoreAway("the store postgresql://own@db/own cannot be reached", detail="no host db")

    async with served.connect(house.model) as client:
        if user:
            await client.login(user)
        monkeypatch.setattr(Store, "read", away)
        with pytest.raises(ApiFailed, match=r"^the server of the store does not answer$") as refused:
            await (client.ask("ModelConfig", 3, "ModelGet") if user else client.login())
    assert refused.value.code == "try again"


async def test_facades_and_methods_that_are_not_there(served: ApiWorld, house: TestController) -> None:
    async with served.entered() as client:
        for facade, version, method, text, code in (
            ("JIMM", 4, "ListControllers", 'unknown version (4) of interface "JIMM"', "not implemented"),
            ("JIMM", 0, "ListControllers", 'unknown object type "JIMM"', "not implemented"),
            ("Pinger", 9, "Ping", 'unknown version (9) of interface "Pinger"', "not implemented"),
            (
                "Pinger",
                1,
                "Pong",
                "no such request - method Pinger(1).Pong is not implemented",
                "not implemented",
            ),
            ("Pinger", 1, "__init__", "no such request", "not implemented"),
            ("Client", 8, "FullStatus", "not supported for controller API connection", "not supported"),
        ):
            with pytest.raises(ApiFailed) as refused:
                await client.ask(facade, version, method)
            assert text in str(refused.value)
            assert refused.value.code == code
    async with served.entered(house.model) as client:
        with pytest.raises(ApiFailed, match="not supported for model API connection"):
            await client.ask("ModelManager", 9, "ListModels")


async def test_every_answer_belongs_to_its_request(served: ApiWorld, house: TestController) -> None:
    async def one(number: int) -> None:
        async with served.entered(house.model if number % 2 else "") as client:
            asked = [await client.send("Pinger", "Ping", version=1) for _ in range(40)]
            got = [(await client.read())["request-id"] for _ in asked]
            assert sorted(got) == asked

    await asyncio.gather(*(one(number) for number in range(10)))


async def test_a_watcher_of_another_connection_is_unknown(served: ApiWorld, house: TestController) -> None:
    async with served.entered(house.model) as mine, served.entered(house.model) as theirs:
        name = (await mine.ask("Client", 8, "WatchAll"))["watcher-id"]
        for method in ("Next", "Stop"):
            with pytest.raises(ApiFailed, match="unknown watcher id"):
                await theirs.ask("AllWatcher", 3, method, name=name)
        assert (await mine.ask("AllWatcher", 3, "Next", name=name))["deltas"]


async def test_stop_ends_a_pending_next(served: ApiWorld, house: TestController) -> None:
    async with served.entered(house.model) as client:
        name = (await client.ask("Client", 8, "WatchAll"))["watcher-id"]
        await client.ask("AllWatcher", 3, "Next", name=name)
        pending = await client.send("AllWatcher", "Next", version=3, name=name)
        stopping = await client.send("AllWatcher", "Stop", version=3, name=name)
        answers = {item["request-id"]: item for item in [await client.read(), await client.read()]}
        assert answers[pending]["error"] == "watcher was stopped"
        assert answers[pending]["error-code"] == "stopped"
        assert answers[stopping]["response"] == {}
        await client.send("AllWatcher", "Next", version=3, name=name)
        assert (await client.read())["error-code"] == "stopped"  # as when the server takes Stop first


async def test_the_answer_to_a_request_comes_before_what_it_changed(
    served: ApiWorld, house: TestController
) -> None:
    house.active("web")
    async with served.entered(house.model) as client:
        name = (await client.ask("Client", 8, "WatchAll"))["watcher-id"]
        await client.ask("AllWatcher", 3, "Next", name=name)
        for turn in range(5):
            pending = await client.send("AllWatcher", "Next", version=3, name=name)
            params = {"annotations": [{"entity": "application-web", "annotations": {"turn": str(turn)}}]}
            asked = await client.send("Annotations", "Set", params, version=2)
            assert [(await client.read())["request-id"] for _ in "12"] == [asked, pending]


async def test_a_charm_path_is_never_read_from_this_host(served: ApiWorld, house: TestController) -> None:
    async with served.entered(house.model) as client:
        for url in (
            "/etc/passwd",
            "./web",
            "local:../../x-1",
            "git+file:///tmp/x",
            "ch:../x",
            "file:///x",
            "~/x",
        ):
            deploy = {"applications": [{"application": "web", "charm-url": url, "num-units": 1}]}
            (found,) = (await client.ask("Application", 19, "Deploy", deploy))["results"]
            assert found["error"]["code"] in ("not supported", "not valid"), url
            args = {"Args": [{"CharmName": url}]}
            (found,) = (await client.ask("Application", 19, "DeployFromRepository", args))["Results"]
            assert found["Errors"][0]["message"] == f'charm name "{url}" not valid'


@pytest.mark.parametrize("address", ["file:///etc", "/etc", "~/x", "mirror+file:///x", "ftp://x"])
async def test_no_setting_leads_to_a_folder_of_this_host(
    served: ApiWorld, house: TestController, address: str
) -> None:
    config = {"config": {"charmhub-url": address}}
    async with served.entered(house.model) as client:
        with pytest.raises(ApiFailed, match="is not an address of the web"):
            await client.ask("ModelConfig", 3, "ModelSet", config)
    async with served.entered() as client:
        with pytest.raises(ApiFailed, match="is not an address of the web"):
            await client.ask("ModelManager", 9, "CreateModel", {"name": "attic", **config})


async def test_disabled_commands_are_refused(served: ApiWorld, house: TestController) -> None:
    async with served.entered(house.model) as client:
        assert (
            await client.ask("Block", 2, "SwitchBlockOn", {"type": "BlockChange", "message": "frozen"}) == {}
        )
        (found,) = (await client.ask("Block", 2, "List"))["results"]
        assert (found["result"]["type"], found["result"]["message"]) == ("BlockChange", "frozen")
        with pytest.raises(ApiFailed, match="frozen") as refused:
            await client.ask("ModelConfig", 3, "ModelSet", {"config": {"extra": "x"}})
        assert refused.value.code == "operation is blocked"
        assert await client.ask("Block", 2, "SwitchBlockOff", {"type": "BlockChange"}) == {}
        assert await client.ask("ModelConfig", 3, "ModelSet", {"config": {"extra": "x"}}) == {}


async def test_a_model_that_is_gone_is_not_found(served: ApiWorld, house: TestController) -> None:
    gone = "model-00000000-0000-4000-8000-000000000000"
    async with served.entered() as client:
        entities = {"entities": [{"tag": f"model-{house.model}"}, {"tag": gone}]}
        here, missing = (await client.ask("ModelManager", 9, "ModelStatus", entities))["models"]
        assert (here["life"], here["application-count"]) == ("alive", 0)
        assert missing["error"]["code"] == "not found"


# --- uploads ----------------------------------------------------------------------------------------------


async def upload(
    served: ApiWorld, path: str, body: bytes, user: str = "admin", password: str = PASSWORD, **headers: str
) -> tuple[int, dict[str, Any]]:
    headers = {"Content-Type": "application/zip", "Authorization": basic(user, password), **headers}
    method = "PUT" if path.startswith("/model-") else "POST"
    async with (
        aiohttp.ClientSession() as session,
        session.request(
            method, f"https://{served.endpoint}{path}", data=body, ssl=served.trust, headers=headers
        ) as answer,
    ):
        return answer.status, await answer.json()


async def test_a_charm_is_uploaded_in_both_forms(
    served: ApiWorld, house: TestController, packs: Charms
) -> None:
    body = packs.make().path.read_bytes()
    assert await upload(served, f"/model/{house.model}/charms?series=jammy", body) == (
        200, {"charm-url": "local:jammy/web-0"},
    )  # fmt: skip
    digest = hashlib.sha256(body).hexdigest()[:7]
    status, found = await upload(served, f"/model-{house.model}/charms/web-{digest}", body, "user-admin")
    assert (status, found) == (200, {"charm-url": "local:web-1"})


async def test_uploads_that_are_refused_leave_nothing(
    served: ApiWorld, house: TestController, packs: Charms
) -> None:
    served.add_user("kim")
    with served.ctx.store.write() as tx:
        access.grant(tx, "kim", "read", access.Kind.MODEL, house.model)
    body, path, before = packs.make().path.read_bytes(), f"/model/{house.model}/charms", house.dump()
    unknown = "/model/00000000-0000-4000-8000-000000000000/charms"
    for wanted, answer in (
        (401, await upload(served, path, body, password="wrong")),
        (401, await upload(served, unknown, body, password="wrong")),
        (404, await upload(served, unknown, body)),
        (401, await upload(served, path, body, "kim")),
        (400, await upload(served, path, body, **{"Content-Type": "text/plain"})),
        (400, await upload(served, f"{path}?schema=ch", body)),
        (400, await upload(served, f"{path}?series=../x", body)),
        (400, await upload(served, f"/model-{house.model}/charms/web-0000000", body)),
        (400, await upload(served, f"/model-{house.model}/charms/..%2f..%2fx", body)),
        (400, await upload(served, path, b"no archive")),
        (400, await upload(served, path, body[:100])),
    ):
        assert answer[0] == wanted, answer
    after = house.dump()
    after.pop("user_login"), before.pop("user_login")
    assert after == before


@pytest.mark.parametrize("path", ["/nothing", "/model/x/logsink", "/tools", "/charms/../x", "/api/../etc"])
async def test_other_paths_are_not_found(served: ApiWorld, path: str) -> None:
    async with aiohttp.ClientSession() as session:
        answer = await session.get(f"https://{served.endpoint}{path}", ssl=served.trust)
        assert answer.status == 404
