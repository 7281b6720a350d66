"""Offers over the API: made, found, consumed, and seen by those alone who may."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

from pushjuju.services.entities.basis import users as access
from pushjuju.services.entities.basis.users import Kind
from pushjuju.store.rows.records import Offer
from pushjuju.web import client_files
from pushjuju.web.server import Address
from tests.unit.web.test_files_api import transfer
from tests.world.api import ApiClient, ApiFailed, ApiWorld, basic
from tests.world.charms import Charms
from tests.world.libjuju import model_of
from tests.world.two_models import METADATA, TwoModels

URL = "admin/prod.db"
quiet = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore:.*pkg_resources.*:UserWarning", "ignore::ResourceWarning"
)


@pytest.fixture
def two(tmp_path: Path, packs: Charms) -> Iterator[TwoModels]:
    """`shop` with web, and `prod` with db."""
    made = TwoModels(tmp_path, packs)
    made.deploy(made.shop, "web")
    made.deploy(made.prod, "db")
    made.settle()
    yield made
    made.ctx.close()


@pytest.fixture
async def served(two: TwoModels) -> AsyncIterator[ApiWorld]:
    """The API of the two models."""
    async with ApiWorld.serve(two.ctx) as world:
        yield world


def grant(served: ApiWorld, kind: Kind, level: str, target: str) -> None:
    with served.ctx.store.write() as tx:
        access.grant(tx, "kim", level, kind, target)


async def make(client: ApiClient, two: TwoModels) -> Any:
    offer = {
        "model-tag": f"model-{two.prod.model}",
        "offer-name": "db",
        "application-name": "db",
        "endpoints": {"server": "server"},
    }
    return await client.ask("ApplicationOffers", 4, "Offer", {"Offers": [offer]})


async def details(client: ApiClient, url: str = URL) -> Any:
    params = {"offer-urls": {"offer-urls": [url]}}
    (found,) = (await client.ask("ApplicationOffers", 4, "GetConsumeDetails", params))["results"]
    return found


async def by_url(client: ApiClient, url: str = URL) -> Any:
    (found,) = (await client.ask("ApplicationOffers", 5, "ApplicationOffers", {"offer-urls": [url]}))[
        "results"
    ]
    return found


async def consume(client: ApiClient, url: str = URL, /, **more: Any) -> Any:
    params = {"args": [{"offer-url": url, **more}]}
    (found,) = (await client.ask("Application", 19, "Consume", params))["results"]
    return found


async def test_an_offer_is_made_found_and_taken_back(served: ApiWorld, two: TwoModels) -> None:
    async with served.entered() as client:
        assert await make(client, two) == {"results": [{}]}
        filters = {"Filters": [{"model-name": "prod"}]}
        (listed,) = (await client.ask("ApplicationOffers", 4, "ListApplicationOffers", filters))["results"]
        uuid = two.prod.read(lambda tx: tx.list(Offer, "offer_list"))[0].uuid
        assert listed == {
            "source-model-tag": f"model-{two.prod.model}",
            "offer-uuid": uuid,
            "offer-url": URL,
            "offer-name": "db",
            "application-name": "db",
            "application-description": listed["application-description"],
            "charm-url": "local:db-0",
            "endpoints": [{"name": "server", "role": "provider", "interface": "sql", "limit": 0}],
            "users": [
                {"user": "admin", "display-name": "admin", "access": "admin"},
                {"user": "everyone@external", "display-name": "", "access": "read"},
            ],
            "connections": [],
        }
        assert await by_url(client) == {"result": listed}
        params = {"offer-urls": [URL]}
        (info,) = (await client.ask("ApplicationOffers", 4, "RemoteApplicationInfo", params))["results"]
        assert (info["result"]["name"], info["result"]["source-model-label"]) == ("db", "prod")
        assert await client.ask("ApplicationOffers", 4, "DestroyOffers", params) == {"results": [{}]}
        gone = await by_url(client)
        assert gone["error"] == {"message": f'application offer "{URL}" not found', "code": "not found"}


@pytest.mark.parametrize(
    ("wanted", "count"),
    [
        ({}, 2),
        ({"offer-name": "fas"}, 1),
        ({"offer-name": "slow"}, 0),
        ({"model-name": "shop"}, 0),
        ({"model-name": "prod", "owner-name": "kim"}, 0),
        ({"application-name": "db"}, 2),
        ({"application-name": "web"}, 0),
        ({"endpoints": [{"interface": "mem"}]}, 1),
        ({"endpoints": [{"interface": "mem"}, {"name": "server", "role": "provider"}]}, 2),
        ({"endpoints": [{"interface": "mem", "role": "requirer"}]}, 0),
        ({"allowed-users": ["admin"]}, 2),
        ({"allowed-users": ["kim"]}, 0),
        ({"connected-users": ["admin"]}, 0),
    ],
)
async def test_offers_are_found_by_filters(
    served: ApiWorld, two: TwoModels, wanted: dict[str, Any], count: int
) -> None:
    two.offer("server")
    two.offer("fast", name="fast")
    async with served.entered() as client:
        found = await client.ask("ApplicationOffers", 5, "FindApplicationOffers", {"Filters": [wanted]})
        assert len(found["results"]) == count


async def test_filters_that_are_missing_are_refused(served: ApiWorld) -> None:
    async with served.entered() as client:
        with pytest.raises(ApiFailed, match="at least one offer filter"):
            await client.ask("ApplicationOffers", 5, "FindApplicationOffers")
        with pytest.raises(ApiFailed, match="must specify a model name"):
            await client.ask("ApplicationOffers", 5, "ListApplicationOffers", {"Filters": [{}]})


async def test_an_endpoint_has_another_name_in_its_offer(served: ApiWorld, two: TwoModels) -> None:
    offer = {
        "model-tag": f"model-{two.prod.model}", "offer-name": "db", "application-name": "db",
        "endpoints": {"sql": "server"},
    }  # fmt: skip
    async with served.entered() as client, served.entered(two.shop.model) as shop:

        async def make(**ends: str) -> str:
            answer = await client.ask(
                "ApplicationOffers", 4, "Offer", {"Offers": [{**offer, "endpoints": ends}]}
            )
            return str(answer["results"][0].get("error", {}).get("message", ""))

        assert await make(sql="server") == ""
        await consume(shop, URL)
        await shop.ask("Application", 19, "AddRelation", {"endpoints": ["web:db", "db"]})
        two.settle()
        status = await shop.ask("Client", 8, "FullStatus")
        assert status["relations"][0]["key"] == "web:db db:sql"
        assert status["remote-applications"]["db"]["relations"] == {"sql": ["web"]}
        assert "would remove endpoint" in await make(server="server")
        assert "not valid" in await make(**{"../x": "server"})


async def test_a_consumed_offer_is_related_shown_suspended_and_let_go(
    served: ApiWorld, two: TwoModels
) -> None:
    two.offer()
    async with served.entered() as client:
        told = await details(client)
        assert told["offer"]["offer-url"] == URL
        assert told["external-controller"]["controller-tag"] == f"controller-{served.api.controller_uuid}"
    async with (
        served.entered() as client,
        served.entered(two.shop.model) as shop,
        served.entered(two.prod.model) as prod,
    ):
        name = two.ctx.controller.name
        assert await consume(shop, f"{name}:{URL}", **{"application-alias": "base"}) == {}
        related = await shop.ask("Application", 19, "AddRelation", {"endpoints": ["web:db", "base"]})
        assert sorted(related["endpoints"]) == ["base", "web"]
        two.settle()
        status = await shop.ask("Client", 8, "FullStatus")
        remote = status["remote-applications"]["base"]
        assert (remote["offer-url"], remote["offer-name"]) == (f"{name}:{URL}", "db")
        assert remote["relations"] == {"server": ["web"]}
        assert remote["endpoints"] == [{"name": "server", "limit": 0, "interface": "sql", "role": "provider"}]
        assert remote["status"]["status"] == "unknown"
        (relation,) = status["relations"]
        assert relation["key"] == "web:db base:server"

        offering = await prod.ask("Client", 8, "FullStatus")
        assert offering["relations"] == []
        assert offering["offers"]["db"] == {
            "offer-name": "db",
            "application-name": "db",
            "charm": "local:db-0",
            "endpoints": {"server": {"name": "server", "limit": 0, "interface": "sql", "role": "provider"}},
            "active-connected-count": 1,
            "total-connected-count": 1,
        }
        (link,) = (await by_url(client))["result"]["connections"]
        assert link["source-model-tag"] == f"model-{two.shop.model}"
        assert (link["endpoint"], link["username"], link["status"]["status"]) == ("server", "admin", "joined")

        wanted = {"relation-id": link["relation-id"], "suspended": True, "message": "for a while"}
        params = {"args": [wanted, {"relation-id": 99, "suspended": True}]}
        done, missing = (await prod.ask("Application", 19, "SetRelationsSuspended", params))["results"]
        assert done == {}
        assert missing["error"]["code"] == "not found"
        (link,) = (await by_url(client))["result"]["connections"]
        assert (link["status"]["status"], link["status"]["info"]) == ("suspending", "for a while")

        refused = await client.ask("ApplicationOffers", 5, "DestroyOffers", {"offer-urls": [URL]})
        assert "offer has 1 relation" in refused["results"][0]["error"]["message"]
        params = {"applications": [{"application-tag": "application-base"}]}
        assert await shop.ask("Application", 19, "DestroyConsumedApplications", params) == {"results": [{}]}
        found = (await shop.ask("Client", 8, "FullStatus"))["remote-applications"]["base"]
        assert found["life"] == "dying"


async def test_a_watcher_tells_of_offers_and_of_what_is_consumed(served: ApiWorld, two: TwoModels) -> None:
    two.offer()
    two.relate()
    two.settle()

    async def entities(model: str) -> dict[str, Any]:
        async with served.entered(model) as client:
            name = (await client.ask("Client", 8, "WatchAll"))["watcher-id"]
            deltas = (await client.ask("AllWatcher", 3, "Next", name=name))["deltas"]
            return {kind: entity for kind, _, entity in deltas}

    remote = (await entities(two.shop.model))["remoteApplication"]
    assert (remote["name"], remote["life"], remote["status"]["current"]) == ("db", "alive", "unknown")
    offer = (await entities(two.prod.model))["applicationOffer"]
    assert (offer["offer-name"], offer["application-name"]) == ("db", "db")
    assert (offer["total-connected-count"], offer["active-connected-count"]) == (1, 1)


async def test_a_watcher_tells_that_a_consumed_offer_has_ended(served: ApiWorld, two: TwoModels) -> None:
    two.offer()
    two.consume()
    async with served.entered() as client, served.entered(two.shop.model) as shop:
        name = (await shop.ask("Client", 8, "WatchAll"))["watcher-id"]
        await shop.ask("AllWatcher", 3, "Next", name=name)
        assert await client.ask("ApplicationOffers", 5, "DestroyOffers", {"offer-urls": [URL]}) == {
            "results": [{}]
        }
        (delta,) = (await shop.ask("AllWatcher", 3, "Next", name=name))["deltas"]
        assert delta[:2] == ["remoteApplication", "change"]
        assert delta[2]["status"]["current"] == "terminated"


# --- who may ----------------------------------------------------------------------------------------------


async def test_an_offer_that_may_not_be_seen_reads_like_none(served: ApiWorld, two: TwoModels) -> None:
    two.offer()
    served.add_user("kim")
    grant(served, Kind.MODEL, "write", two.shop.model)
    own = {"Filters": [{"model-name": "prod", "owner-name": "admin"}]}
    change = {"user-tag": "user-kim", "action": "grant", "access": "admin"}
    async with served.entered("", "kim") as client, served.entered(two.shop.model, "kim") as shop:
        found = await client.ask("ApplicationOffers", 5, "FindApplicationOffers", {"Filters": [{}]})
        assert found == {"results": []}
        with pytest.raises(ApiFailed, match="permission denied"):
            await client.ask("ApplicationOffers", 5, "ListApplicationOffers", own)
        for url in (URL, "admin/prod.none", "admin/none.db"):
            calls: list[tuple[str, dict[str, Any]]] = [
                ("DestroyOffers", {"offer-urls": [url]}),
                ("RemoteApplicationInfo", {"offer-urls": [url]}),
                ("ModifyOfferAccess", {"changes": [{"offer-url": url, **change}]}),
            ]
            answers = [await by_url(client, url), await details(client, url), await consume(shop, url)]
            for method, params in calls:
                answers += (await client.ask("ApplicationOffers", 5, method, params))["results"]
            wanted = {"message": f'application offer "{url}" not found', "code": "not found"}
            assert answers == [{"error": wanted}] * 6
        (refused,) = (await make(client, two))["results"]
        assert refused["error"]["message"] == "permission denied"


async def test_access_to_an_offer_is_granted_level_by_level(served: ApiWorld, two: TwoModels) -> None:
    two.offer()
    served.add_user("kim")
    grant(served, Kind.MODEL, "write", two.shop.model)

    async def modify(client: ApiClient, action: str, level: str) -> Any:
        change = {"offer-url": URL, "user-tag": "user-kim", "action": action, "access": level}
        params = {"changes": [change]}
        (found,) = (await client.ask("ApplicationOffers", 5, "ModifyOfferAccess", params))["results"]
        return found

    async with (
        served.entered() as admin,
        served.entered("", "kim") as client,
        served.entered(two.shop.model, "kim") as shop,
    ):
        assert await modify(admin, "grant", "read") == {}
        seen = (await by_url(client))["result"]
        assert seen["users"] == [{"user": "kim", "display-name": "kim", "access": "read"}]
        for refused in (await details(client), await consume(shop), await modify(client, "grant", "admin")):
            assert refused["error"] == {"message": "permission denied", "code": "unauthorized access"}
        assert await modify(admin, "grant", "consume") == {}
        assert "user already has" in (await modify(admin, "grant", "consume"))["error"]["message"]
        assert (await details(client))["offer"]["offer-name"] == "db"
        assert await consume(shop) == {}
        assert await modify(admin, "revoke", "consume") == {}
        assert (await details(client))["error"]["message"] == "permission denied"
        assert await modify(admin, "grant", "superuser") == {
            "error": {
                "message": 'could not modify offer access: "superuser" offer access not valid',
                "code": "",
            }
        }
        other = {"offer-urls": {"offer-urls": [URL]}, "user-tag": "user-admin"}
        with pytest.raises(ApiFailed, match="permission denied"):
            await client.ask("ApplicationOffers", 5, "GetConsumeDetails", other)
        other["user-tag"] = "user-kim"
        (found,) = (await admin.ask("ApplicationOffers", 5, "GetConsumeDetails", other))["results"]
        assert found["error"]["message"] == "permission denied"


@pytest.mark.parametrize(
    ("url", "code"),
    [("elsewhere:admin/prod.db", "not supported"), ("../x", "not valid"), ("", "not valid")],
)
async def test_offers_of_other_places_are_refused(
    served: ApiWorld, two: TwoModels, url: str, code: str
) -> None:
    two.offer()
    async with served.entered(two.shop.model) as shop:
        assert (await consume(shop, url))["error"]["code"] == code


async def test_what_a_client_says_of_an_offer_is_not_believed(served: ApiWorld, two: TwoModels) -> None:
    two.offer()
    served.add_user("kim")
    grant(served, Kind.MODEL, "admin", two.shop.model)
    forged: dict[str, Any] = {
        "source-model-tag": f"model-{two.shop.model}",
        "users": [{"user": "kim", "access": "admin"}],
        "endpoints": [{"name": "secret", "interface": "sql", "role": "provider"}],
        "macaroon": {"identifier": "forged"},
    }
    async with served.entered(two.shop.model, "kim") as shop:
        assert (await consume(shop, **forged))["error"]["code"] == "not found"


# --- the real client --------------------------------------------------------------------------------------


@quiet
async def test_libjuju_offers_consumes_and_integrates(
    served: ApiWorld, two: TwoModels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host, port = served.api.addresses[0]
    client_files.write(two.ctx, tmp_path / "juju", [Address(host, port)], "admin")
    monkeypatch.setenv("JUJU_DATA", str(tmp_path / "juju"))
    account = yaml.safe_load((tmp_path / "juju" / "accounts.yaml").read_text())["controllers"]
    own = "admin", account[two.ctx.controller.name]["password"]
    async with model_of(served, two.prod.model, *own) as prod, model_of(served, two.shop.model, *own) as shop:
        await prod.create_offer("db:server")
        await prod.block_until(lambda: "db" in prod.application_offers, timeout=5)
        (found,) = (await prod.list_offers()).results
        assert (found.offer_url, found.offer_name) == (URL, "db")

        assert await shop.consume(URL, application_alias="base") == "base"
        await shop.block_until(lambda: "base" in shop.remote_applications, timeout=5)
        await shop.remove_saas("base")
        await shop.block_until(lambda: "base" not in shop.remote_applications, timeout=5)

        relation = await shop.integrate("web:db", URL)
        assert relation.matches("web:db", "db:server")
        two.settle()
        status = await shop.get_status()
        assert status.remote_applications["db"].relations == {"server": ["web"]}
        assert shop.remote_applications["db"].status == "unknown"
        await prod.remove_offer(URL, force=True)
        await prod.block_until(lambda: "db" not in prod.application_offers, timeout=5)


async def test_the_icon_of_a_consumed_application_is_that_of_its_charm(
    served: ApiWorld, two: TwoModels
) -> None:
    drawn = "<svg xmlns='http://www.w3.org/2000/svg'/>"
    packed = two.charms.make(
        "drawn", config=None, peers=None, files={"icon.svg": drawn}, provides=METADATA["db"]["provides"]
    )
    two.prod.deploy("drawn", 0, packed=packed)
    two.offer(application="drawn")
    two.consume("prod.drawn", "database")
    two.offer()
    two.consume()
    served.add_user("kim")
    path = f"/model/{two.shop.model}/rest/1.0/remote-application"
    assert await transfer(served, "GET", f"{path}/database/icon") == (200, drawn.encode())
    status, plain = await transfer(served, "GET", f"{path}/db/icon")
    assert (status, plain[:4]) == (200, b"<svg")
    url = f"https://{served.endpoint}{path}/database/icon"
    async with aiohttp.ClientSession() as session:
        answer = await session.get(url, ssl=served.trust, headers={"Authorization": basic()})
        assert answer.headers["Content-Security-Policy"].startswith("sandbox;")  # an SVG may have scripts
    assert (await transfer(served, "GET", f"{path}/web/icon"))[0] == 404
    assert (await transfer(served, "GET", f"{path}/database/icon", user="kim"))[0] == 401
