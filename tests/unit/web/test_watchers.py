"""Watchers over the socket: all models, summaries, the progress of actions, upgrades of machines."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pushjuju.core.errors import StoreAway
from pushjuju.services.entities.action import actions
from pushjuju.services.entities.basis import users as access
from pushjuju.services.requests.action import operations
from pushjuju.services.requests.model.add_model import AddModelOptions, add_model
from pushjuju.services.requests.user import users
from pushjuju.web import pool
from pushjuju.web.pool import Pool
from tests.world.api import ApiClient, ApiFailed, ApiWorld
from tests.world.controller import TestController


async def following(client: ApiClient, kind: str, version: int, name: str, number: int) -> Any:
    """Return the response to a `Next` that was sent."""
    answer = await client.read()
    assert answer["request-id"] == number, (kind, version, name)
    return answer["response"]


async def test_all_models_are_watched_those_that_come_later_too(
    served: ApiWorld, house: TestController
) -> None:
    house.active("web")
    async with served.entered() as client:
        name = (await client.ask("Controller", 11, "WatchAllModels"))["watcher-id"]
        first = await client.ask("AllModelWatcher", 4, "Next", name=name)
        assert {"shop"} <= {item[2]["name"] for item in first["deltas"] if item[0] == "model"}
        assert ["unit", "change", "web/0"] in [[*item[:2], item[2].get("name")] for item in first["deltas"]]
        made = add_model(served.ctx, AddModelOptions(name="attic"))
        while True:
            found = (await client.ask("AllModelWatcher", 4, "Next", name=name))["deltas"]
            if [item for item in found if item[2]["model-uuid"] == made.uuid and item[0] == "model"]:
                break
        assert await client.ask("AllModelWatcher", 4, "Stop", name=name) == {}


async def test_summaries_are_of_models_that_the_user_may_read(
    served: ApiWorld, house: TestController
) -> None:
    house.active("web", 2)
    served.add_user("kim")
    async with served.entered(user="kim") as client:
        with pytest.raises(ApiFailed, match="permission denied"):
            await client.ask("Controller", 11, "WatchAllModelSummaries")
        name = (await client.ask("Controller", 11, "WatchModelSummaries"))["watcher-id"]
        assert (await client.ask("ModelSummaryWatcher", 1, "Next", name=name))["models"] == []
        with house.ctx.store.write() as tx:
            access.grant(tx, "kim", "read", access.Kind.MODEL, house.model)
        number = await client.send("ModelSummaryWatcher", "Next", version=1, name=name)
        house.active("db")
        (found,) = (await following(client, "ModelSummaryWatcher", 1, name, number))["models"]
        assert found["name"] == "shop"
        assert found["status"] == "green"
        assert found["admins"] == ["admin"]
        assert found["size"]["units"] in (2, 3)


async def test_the_progress_of_an_action_is_followed(served: ApiWorld, house: TestController) -> None:
    house.active("web")
    command = operations.CommandRequest(command="true", timeout_s=10, units=["web/0"], parallel=True)
    (task,) = operations.enqueue_commands(house.ctx, house.model, command).tasks
    house.write(lambda tx: actions.add_log(tx, task.id, "one", tx.now))
    async with served.entered(house.model) as client:
        entities = {"entities": [{"tag": f"action-{task.id}"}, {"tag": "action-77"}, {"tag": "unit-x"}]}
        found, missing, wrong = (await client.ask("Action", 7, "WatchActionsProgress", entities))["results"]
        assert [json.loads(text)["message"] for text in found["changes"]] == ["one"]
        assert missing["error"]["code"] == "not found"
        assert "error" in wrong
        number = await client.send("StringsWatcher", "Next", version=1, name=found["watcher-id"])
        house.write(lambda tx: actions.add_log(tx, task.id, "two", tx.now))
        told = await following(client, "StringsWatcher", 1, found["watcher-id"], number)
        assert [json.loads(text)["message"] for text in told["changes"]] == ["two"]


async def test_an_upgrade_of_a_machine_is_noticed(served: ApiWorld, house: TestController) -> None:
    house.active("web")
    async with served.entered(house.model) as client:
        entities = {"entities": [{"tag": "machine-0"}]}
        (found,) = (await client.ask("MachineManager", 10, "WatchUpgradeSeriesNotifications", entities))[
            "results"
        ]
        name = found["NotifyWatcherId"]
        assert await client.ask("NotifyWatcher", 1, "Next", name=name) == {}
        number = await client.send("NotifyWatcher", "Next", version=1, name=name)
        said = {"machine": "0", "time": "2001-01-01T00:00:00Z", "message": "x"}
        house.write(lambda tx: tx.run("machine_upgrade_message_add", **said))
        assert await following(client, "NotifyWatcher", 1, name, number) == {}


async def test_a_watcher_answers_to_its_own_facade_alone(served: ApiWorld, house: TestController) -> None:
    async with served.entered(house.model) as client:
        name = (await client.ask("Client", 8, "WatchAll"))["watcher-id"]
        for facade in ("StringsWatcher", "NotifyWatcher"):
            for method in ("Next", "Stop"):
                with pytest.raises(ApiFailed, match="unknown watcher id"):
                    await client.ask(facade, 1, method, name=name)


async def test_a_user_without_a_superusers_access_does_not_watch_all_models(served: ApiWorld) -> None:
    users.add(served.ctx, "bob", "")
    served.add_user("kim")
    async with served.entered(user="kim") as client:
        with pytest.raises(ApiFailed, match="permission denied"):
            await client.ask("Controller", 11, "WatchAllModels")


@pytest.mark.parametrize("fails", ["Connection._dispatch", "Signal.take"])
async def test_a_watcher_waits_while_the_store_cannot_be_used(
    served: ApiWorld, house: TestController, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    monkeypatch.setattr(pool, "_AGAIN_S", 0.01)
    run, left = Pool.run, 0

    async def run_later(threads: Pool, function: Any) -> Any:
        nonlocal left
        if function.__qualname__.startswith(fails) and left:
            left -= 1
            raise StoreAway
        return await run(threads, function)

    monkeypatch.setattr(Pool, "run", run_later)
    async with served.entered() as client:
        name = (await client.ask("Controller", 11, "WatchAllModelSummaries"))["watcher-id"]
        assert (await client.ask("ModelSummaryWatcher", 1, "Next", name=name))["models"]
        left = 3
        house.active("db")
        (found,) = (await client.ask("ModelSummaryWatcher", 1, "Next", name=name))["models"]
        assert (found["name"], left) == ("shop", 0)
