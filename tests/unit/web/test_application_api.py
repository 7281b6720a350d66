"""Application over the API: settings, endpoints, leader, base, bindings, storage of future units."""

from __future__ import annotations

from typing import Any

import pytest

from pushjuju.services.requests.machine import spaces
from tests.world.api import ApiFailed, ApiWorld
from tests.world.controller import TestController
from tests.world.storage import deploy_with_storage

MISSING = 'application "none" not found'


async def test_settings_are_shown_by_tag_and_by_name(served: ApiWorld, house: TestController) -> None:
    house.active("web")
    async with served.entered(house.model) as client:
        entities = {
            "entities": [{"tag": "application-web"}, {"tag": "application-none"}, {"tag": "unit-web-0"}]
        }
        shown, missing, bad = (await client.ask("Application", 19, "GetConfig", entities))["Results"]
        assert shown["config"]["title"]["source"] == "default"
        assert missing["error"] == {"message": MISSING, "code": "not found"}
        assert bad["error"]["message"] == '"unit-web-0" is not a valid application tag'
        args = {"args": [{"application": "web"}, {"application": "none"}]}
        named, missing = (await client.ask("Application", 19, "CharmConfig", args))["Results"]
        assert named == shown
        assert missing["error"]["code"] == "not found"


async def test_endpoints_and_the_leader_are_told(served: ApiWorld, house: TestController) -> None:
    house.active("web", 2)
    async with served.entered(house.model) as client:
        found = await client.ask("Application", 19, "CharmRelations", {"application": "web"})
        assert found["charm-relations"] == ["cluster", "juju-info"]
        assert await client.ask("Application", 19, "Leader", {"tag": "application-web"}) == {
            "result": "web/0"
        }
        house.deploy("idle", 0)
        found = await client.ask("Application", 19, "Leader", {"tag": "application-idle"})
        assert found["error"] == {"message": "leader for application-idle not found", "code": "not found"}
        for method, params in (
            ("CharmRelations", {"application": "none"}),
            ("Leader", {"tag": "application-none"}),
        ):
            with pytest.raises(ApiFailed, match=MISSING):
                await client.ask("Application", 19, method, params)


async def test_base_and_bindings_are_changed(served: ApiWorld, house: TestController) -> None:
    house.active("web")
    spaces.add(house.ctx, house.model, "internal", [])

    async def ask(method: str, *args: dict[str, Any]) -> Any:
        return (await client.ask("Application", 19, method, {"args": list(args)}))["results"]

    async with served.entered(house.model) as client:
        tag = {"tag": {"tag": "application-web"}}
        same, other, none = await ask(
            "UpdateApplicationBase", {**tag, "channel": "22.04/stable"}, {**tag, "channel": "20.04"}, tag
        )
        assert same == {}
        assert "not supported by charm" in other["error"]["message"]
        assert none["error"] == {"message": "base missing from args", "code": "bad request"}
        wanted = {"application-tag": "application-web", "bindings": {"": "internal"}}
        refused, forced, missing = await ask(
            "MergeBindings",
            wanted,
            {**wanted, "force": True},
            {**wanted, "application-tag": "application-none"},
        )
        assert refused["error"]["code"] == "not valid"
        assert forced == {}
        assert missing["error"]["code"] == "not found"
        found = await client.ask("Application", 19, "Get", {"application": "web"})
        assert found["endpoint-bindings"][""] == "internal"


async def test_the_storage_of_future_units_is_shown_and_changed(
    served: ApiWorld, house: TestController
) -> None:
    deploy_with_storage(house, {"data": "loop"})
    entities = {"entities": [{"tag": "application-web"}, {"tag": "application-none"}]}
    async with served.entered(house.model) as client:
        shown, missing = (await client.ask("Application", 22, "GetApplicationStorage", entities))["results"]
        assert shown["storage-constraints"]["data"] == {"pool": "loop", "size": 1024, "count": 1}
        assert missing["Error"]["code"] == "not found"
        updates = [
            {"application-tag": "application-web", "storage-constraints": {"data": {"size": 2048}}},
            {"application-tag": "application-web", "storage-constraints": {"logs": {"count": 3}}},
            {"application-tag": "application-web", "storage-constraints": {"data": {"pool": "no"}}},
        ]
        params = {"storage-updates": updates}
        size, count, bad = (await client.ask("Application", 22, "UpdateApplicationStorage", params))[
            "results"
        ]
        assert (size, count) == ({}, {})
        assert bad["error"]["code"] == "not found"
        (shown, _) = (await client.ask("Application", 22, "GetApplicationStorage", entities))["results"]
        assert shown["storage-constraints"]["data"] == {"pool": "loop", "size": 2048, "count": 1}
        assert shown["storage-constraints"]["logs"]["count"] == 3
        with pytest.raises(ApiFailed, match="not implemented"):
            await client.ask("Application", 21, "GetApplicationStorage", entities)


async def test_a_scale_is_refused(served: ApiWorld, house: TestController) -> None:
    async with served.entered(house.model) as client:
        with pytest.raises(ApiFailed, match="scaling IAAS applications not supported") as refused:
            await client.ask("Application", 19, "ScaleApplications", {"applications": []})
        assert refused.value.code == "not supported"


async def test_numbers_of_units_are_refused_without_words_of_the_terminal(
    served: ApiWorld, house: TestController
) -> None:
    house.active("web")
    async with served.entered(house.model) as client:
        for count, problem in (
            (0, "must add at least one unit"),
            (10**6, "num-units must be at most 10000"),
        ):
            with pytest.raises(ApiFailed) as caught:
                await client.ask("Application", 19, "AddUnits", {"application": "web", "num-units": count})
            assert str(caught.value).startswith(problem)
