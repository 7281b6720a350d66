"""Annotations over the API: of the model, and of what is in it."""

from __future__ import annotations

from typing import Any

import pytest

from pushjuju.services.lifecycle.removal import Force
from pushjuju.services.requests import removals
from tests.world.api import ApiClient, ApiWorld
from tests.world.controller import TestController
from tests.world.libjuju import model_of
from tests.world.storage import deploy_with_storage

quiet = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore:.*pkg_resources.*:UserWarning", "ignore::ResourceWarning"
)


async def put(client: ApiClient, values: dict[str, str], *entities: str) -> Any:
    params = {"annotations": [{"entity": tag, "annotations": values} for tag in entities]}
    return (await client.ask("Annotations", 2, "Set", params))["results"]


async def get(client: ApiClient, *entities: str) -> list[Any]:
    params = {"entities": [{"tag": tag} for tag in entities]}
    return [item["annotations"] for item in (await client.ask("Annotations", 2, "Get", params))["results"]]


async def test_every_kind_of_entity_has_annotations(served: ApiWorld, house: TestController) -> None:
    deploy_with_storage(house, {"data": "loop"})
    entities = [f"model-{house.model}", "application-web", "unit-web-0", "machine-0", "storage-data-0"]
    async with served.entered(house.model) as client:
        assert await put(client, {"a": "1", "b": "2"}, *entities) == [{}] * 5
        assert await put(client, {"b": ""}, *entities) == [{}] * 5
        assert await get(client, *entities) == [{"a": "1"}] * 5
        name = (await client.ask("Client", 8, "WatchAll"))["watcher-id"]
        deltas = (await client.ask("AllWatcher", 3, "Next", name=name))["deltas"]
        told = {entity["tag"]: entity["annotations"] for kind, _, entity in deltas if kind == "annotation"}
        assert told == {tag: {"a": "1"} for tag in entities}


async def test_annotations_of_what_is_not_in_the_model_are_refused(
    served: ApiWorld, house: TestController
) -> None:
    other = "model-00000000-0000-4000-8000-000000000000"
    missing = [other, "application-none", "unit-web-9", "machine-9", "storage-data-9"]
    async with served.entered(house.model) as client:
        answers = await put(client, {"a": "1"}, *missing, "relation-web.db", "nothing")
        assert [answer["error"]["code"] for answer in answers] == [
            *["not found"] * 5,
            "not supported",
            "not valid",
        ]


async def test_annotations_go_with_their_entity(served: ApiWorld, house: TestController) -> None:
    house.active("web", 2)
    async with served.entered(house.model) as client:
        await put(client, {"a": "1"}, "unit-web-1", "machine-1", "unit-web-0", "application-web")
        removals.remove_units(house.ctx, house.model, ["web/1"], Force(wait_s=0))
        house.settle()
        assert sorted(row["owner"] for row in house.tables()["annotation"]) == ["web", "web/0"]


@quiet
async def test_libjuju_annotates_models_and_units(served: ApiWorld, house: TestController) -> None:
    house.active("web")
    async with model_of(served, house.model) as model:
        for entity in (model, model.units["web/0"], model.machines["0"], model.applications["web"]):
            await entity.set_annotations({"foo": "bar"})
            assert await entity.get_annotations() == {"foo": "bar"}
