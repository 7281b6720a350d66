"""Storage over the API: shown, added, attached, detached, removed; pools."""

from __future__ import annotations

from typing import Any

import pytest

from pushjuju.plugins.api.storage_types import StorageMade
from pushjuju.services.requests.storage import storage_requests
from pushjuju.workers.provision import storage_import
from tests.world.api import ApiClient, ApiWorld
from tests.world.controller import TestController
from tests.world.libjuju import model_of
from tests.world.runtime import drive
from tests.world.storage import (
    PlayedStorage,
    StorageRuntime,
    deploy_with_storage,
    play_mounts,
    storage_states,
)

quiet = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore:.*pkg_resources.*:UserWarning", "ignore::ResourceWarning"
)


@pytest.fixture
def ground(monkeypatch: pytest.MonkeyPatch) -> PlayedStorage:
    return play_mounts(monkeypatch)


@pytest.fixture
async def work(house: TestController, ground: PlayedStorage) -> StorageRuntime:
    """Machines with storage, and web/0 with `data` of a loop device."""
    deploy_with_storage(house, {"data": "loop"})
    made = StorageRuntime(house, ground)
    await drive(house, made)
    return made


async def ask(client: ApiClient, method: str, **params: Any) -> Any:
    return (await client.ask("Storage", 6, method, params))["results"]


async def test_storage_is_shown_with_what_is_behind(
    served: ApiWorld, house: TestController, work: StorageRuntime
) -> None:
    async with served.entered(house.model) as client:
        (listed,) = await ask(client, "ListStorageDetails", filters=[{}])
        (data,) = listed["result"]
        since = data["status"].pop("since")
        assert since.endswith("Z")
        assert data == {
            "storage-tag": "storage-data-0",
            "owner-tag": "unit-web-0",
            "kind": 2,
            "life": "alive",
            "persistent": False,
            "status": {"status": "attached", "info": "", "data": {}},
            "attachments": {
                "unit-web-0": {
                    "storage-tag": "storage-data-0",
                    "unit-tag": "unit-web-0",
                    "machine-tag": "machine-0",
                    "location": "/srv/data",
                    "life": "alive",
                }
            },
        }
        entities = [{"tag": "storage-data-0"}, {"tag": "storage-data-9"}, {"tag": "bad"}]
        here, missing, bad = await ask(client, "StorageDetails", entities=entities)
        assert here["result"]["storage-tag"] == "storage-data-0"
        assert missing["error"]["code"] == "not found"
        assert bad["error"]["message"] == '"bad" is not a valid storage tag'

        every, here, there = await ask(
            client, "ListFilesystems", filters=[{}, {"machines": ["machine-0"]}, {"machines": ["machine-7"]}]
        )
        assert every == here
        assert there == {"result": []}
        (filesystem,) = every["result"]
        assert (filesystem["filesystem-tag"], filesystem["volume-tag"]) == ("filesystem-0-0", "volume-0-0")
        assert filesystem["info"]["pool"] == "loop"
        assert filesystem["machine-attachments"]["machine-0"] == {
            "mount-point": "/srv/data",
            "read-only": False,
            "life": "alive",
        }
        assert filesystem["storage"]["storage-tag"] == "storage-data-0"
        (volumes,) = await ask(client, "ListVolumes", filters=[{}])
        assert volumes["result"][0]["machine-attachments"]["machine-0"]["device-name"] == "loop7"

        status = await client.ask("Client", 8, "FullStatus", {"include-storage": True})
        assert status["filesystems"] == every["result"]
        assert status["volumes"] == volumes["result"]
        assert [item["storage-tag"] for item in status["storage"]] == ["storage-data-0"]
        assert "storage" not in await client.ask("Client", 8, "FullStatus")
        assert "storage" not in await client.ask("Client", 6, "FullStatus", {"include-storage": True})
        other = {"include-storage": True, "patterns": ["db"]}
        assert (await client.ask("Client", 8, "FullStatus", other))["storage"] == []


async def test_storage_is_added_detached_attached_and_removed(
    served: ApiWorld, house: TestController, work: StorageRuntime
) -> None:
    async with served.entered(house.model) as client:
        wanted = {"unit": "unit-web-0", "name": "logs", "storage": {"pool": "loop", "size": 64, "count": 2}}
        added, unknown = await ask(
            client, "AddToUnit", storages=[wanted, {"unit": "unit-web-0", "name": "nothing"}]
        )
        assert added == {"result": {"storage-tags": ["storage-logs-1", "storage-logs-2"]}}
        assert unknown["error"]["message"] == 'charm storage "nothing" not found'
        await drive(house, work)
        assert storage_states(house)["logs/1"] == "attached"

        held = {"storage-tag": "storage-logs-1", "unit-tag": "unit-web-0"}
        other = {"storage-tag": "storage-logs-2", "unit-tag": "unit-web-5"}
        done, refused = await ask(client, "DetachStorage", ids={"ids": [held, other]})
        assert done == {}
        assert refused["error"]["message"] == "storage logs/2 is not attached to unit web/5"
        await drive(house, work)
        assert storage_states(house)["logs/1"] == "detached"
        assert await ask(client, "Attach", ids=[held]) == [{}]
        await drive(house, work)
        assert storage_states(house)["logs/1"] == "attached"

        tag = {"tag": "storage-logs-1", "destroy-storage": True}
        (refused,) = await ask(client, "Remove", storage=[tag])
        assert "storage is attached" in refused["error"]["message"]
        assert await ask(client, "Remove", storage=[{**tag, "destroy-attachments": True}]) == [{}]
        await drive(house, work)
        assert "logs/1" not in storage_states(house)


async def test_pools_are_made_changed_listed_and_removed(served: ApiWorld, house: TestController) -> None:
    async with served.entered(house.model) as client:
        fast = {"name": "fast", "provider": "tmpfs", "attrs": {"a": "1", "number": 2}}
        first, again = await ask(client, "CreatePool", pools=[fast, fast])
        assert first == {}
        assert again["error"]["code"] == "already exists"
        assert await ask(client, "UpdatePool", pools=[{"name": "fast", "attrs": {"a": "2"}}]) == [{}]
        named, every, unknown = await ask(
            client, "ListPools", filters=[{"names": ["fast"]}, {}, {"providers": ["no"]}]
        )
        assert named == {"storage-pools": [{"name": "fast", "provider": "tmpfs", "attrs": {"a": "2"}}]}
        assert {"loop", "tmpfs", "rootfs", "fast"} <= {item["name"] for item in every["storage-pools"]}
        assert unknown["error"]["message"]
        assert await ask(client, "RemovePool", pools=[{"name": "fast"}]) == [{}]
        (gone,) = await ask(client, "RemovePool", pools=[{"name": "fast"}])
        assert gone["error"]["code"] == "not found"


async def test_a_filesystem_of_the_cloud_is_taken_in(
    served: ApiWorld, house: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(ctx: Any, model: str, pool: str, provider_id: str, name: str, *, warn: Any) -> str:
        made = StorageMade(provider_id=provider_id, size=64)
        return storage_requests.record_import(ctx, model, pool, name, made)

    wanted = {"kind": 2, "pool": "local", "provider-id": "volume-1", "storage-name": "data"}
    async with served.entered(house.model) as client:
        bad, block = await ask(
            client, "Import", storage=[{**wanted, "storage-name": "../x"}, {**wanted, "kind": 1}]
        )
        assert bad["error"]["message"] == '"../x" is not a valid storage name'
        assert block["error"]["code"] == "not supported"
        monkeypatch.setattr(storage_import, "import_found", found)
        assert await ask(client, "Import", storage=[wanted]) == [
            {"result": {"storage-tag": "storage-data-0"}}
        ]


async def test_a_removal_tells_what_becomes_of_storage(
    served: ApiWorld, house: TestController, work: StorageRuntime
) -> None:
    gone, none = [{"tag": "storage-data-0"}], list[Any]()
    async with served.entered(house.model) as client:
        for destroy, destroyed, detached in ((True, gone, none), (False, none, gone)):
            info = {"destroyed-storage": destroyed, "detached-storage": detached}
            how = {"destroy-storage": destroy, "dry-run": True}
            params = {"units": [{"unit-tag": "unit-web-0", **how}]}
            found = await client.ask("Application", 19, "DestroyUnit", params)
            assert found == {"results": [{"info": info}]}
            params = {"applications": [{"application-tag": "application-web", **how}]}
            (found,) = (await client.ask("Application", 19, "DestroyApplication", params))["results"]
            assert found["info"] == {"destroyed-units": [{"tag": "unit-web-0"}], **info}
        assert storage_states(house) == {"data/0": "attached"}


@quiet
async def test_libjuju_manages_storage(served: ApiWorld, house: TestController, work: StorageRuntime) -> None:
    async with model_of(served, house.model) as model:
        unit = model.units["web/0"]
        (tag,) = await unit.add_storage("logs", pool="loop", size=64)
        assert tag == "storage-logs-1"
        await drive(house, work)
        assert [item["storage-tag"] for item in await model.list_storage()] == ["storage-data-0", tag]
        assert len(await model.list_storage(filesystem=True)) == 2
        assert len(await model.list_storage(volume=True)) == 2
        (shown,) = await model.show_storage_details("logs/1")
        assert shown["owner-tag"] == "unit-web-0"
        await unit.detach_storage("logs/1")
        await drive(house, work)
        await unit.attach_storage(["logs/1"])
        await drive(house, work)
        assert storage_states(house)["logs/1"] == "attached"
        await model.remove_storage(tag, force=True, destroy_storage=True)
        await drive(house, work)
        assert [item["storage-tag"] for item in await model.list_storage()] == ["storage-data-0"]
        await model.create_storage_pool("fast", "tmpfs", "a=1")
        await model.update_storage_pool("fast", "a=2")
        assert {"name": "fast", "provider": "tmpfs", "attrs": {"a": "2"}} in await model.list_storage_pools()
        await model.remove_storage_pool("fast")
