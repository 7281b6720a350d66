"""What users do in a model over the API: operations, histories, bindings, ways to machines."""

from __future__ import annotations

import pytest

from pushjuju.services.entities.basis import users as access
from tests.charms_tools.hubstore import JAMMY, HubStore
from tests.world.api import ApiFailed, ApiWorld
from tests.world.charms import Charms
from tests.world.controller import TestController

ACTIONS = {"actions.yaml": "greet: {description: hi}\n"}
WEB, MACHINE = {"tag": "application-web"}, {"tag": "machine-0"}


async def test_operations_are_listed_filtered_and_shown(
    served: ApiWorld, house: TestController, packs: Charms
) -> None:
    house.active("web", 2, packed=packs.make(files=ACTIONS))
    async with served.entered(house.model) as client:
        for unit in ("unit-web-0", "unit-web-1"):
            asked = {"actions": [{"receiver": unit, "name": "greet"}]}
            made = await client.ask("Action", 7, "EnqueueOperation", asked)
        listed = await client.ask("Action", 7, "ListOperations", {"units": ["web/1"]})
        (found,) = listed["results"]
        assert (found["operation"], found["status"]) == (made["operation"], "pending")
        assert found["actions"][0]["action"]["receiver"] == "unit-web-1"
        first = await client.ask("Action", 7, "ListOperations", {"limit": 1})
        assert (len(first["results"]), first["truncated"]) == (1, True)
        tags = [{"tag": made["operation"]}, {"tag": "operation-99"}, {"tag": "x"}]
        shown = await client.ask("Action", 7, "Operations", {"entities": tags})
        assert shown["results"][0] == found
        assert [item["error"]["code"] for item in shown["results"][1:]] == ["not found", "not valid"]


async def test_histories_of_statuses_are_told(served: ApiWorld, house: TestController) -> None:
    house.active("web")
    async with served.entered(house.model) as client:

        async def history(kind: str, tag: str, **wanted: object) -> list[dict[str, object]]:
            one = {"historyKind": kind, "tag": tag, "filter": {"size": 5, **wanted}}
            found = await client.ask("Client", 8, "StatusHistory", {"requests": [one]})
            return list(found["results"][0]["history"]["statuses"])

        newest = (await history("juju-unit", "unit-web-0"))[-1]
        assert (newest["status"], newest["kind"], newest["life"]) == ("idle", "juju-unit", "")
        assert await history("juju-machine", "machine-0", delta=10**9 * 3600)
        assert await history("unit", "unit-web-0", date="2020-01-01T00:00:00Z", exclude=["x"])
        one = {"historyKind": "pod", "tag": "unit-web-0"}
        found = await client.ask("Client", 8, "StatusHistory", {"requests": [one]})
        assert found["results"][0]["error"]["code"] == "not valid"
        numbers = await client.ask("ModelConfig", 3, "Sequences")
        assert numbers["sequences"] == {"machine": 1, "application-web": 1}


async def test_the_way_to_machines_is_for_administrators(served: ApiWorld, house: TestController) -> None:
    house.active("web")
    both = {"entities": [{"tag": "unit-web-0"}, MACHINE, {"tag": "machine-9"}, WEB]}
    async with served.entered(house.model) as client:
        for method in ("PublicAddress", "PrivateAddress", "AllAddresses", "PublicKeys"):
            found = await client.ask("SSHClient", 4, method, both)
            assert found["results"][0] == found["results"][1]
            assert found["results"][2]["error"]["code"] == "not found"
            assert found["results"][3]["error"]["message"] == "permission denied"
        assert await client.ask("SSHClient", 4, "Proxy") == {"use-proxy": False}
        assert await client.ask("Payloads", 1, "List", {}) == {"results": []}
    served.add_user("kim")
    with served.ctx.store.write() as tx:
        access.grant(tx, "kim", "write", access.Kind.MODEL, house.model)
    async with served.entered(house.model, "kim") as client:
        with pytest.raises(ApiFailed, match="permission denied"):
            await client.ask("SSHClient", 4, "PublicKeys", both)


async def test_the_store_says_where_charms_are(
    served: ApiWorld, house: TestController, packs: Charms, hub: HubStore
) -> None:
    hub.add("web", packs.make().path.read_bytes(), revision=3, bases=[JAMMY])
    value = f'"{hub.url}"'
    house.write(lambda tx: tx.run("model_config_set", model=house.model, key="charmhub-url", value=value))
    origin = {"source": "charm-hub", "risk": "stable", "base": {"name": "ubuntu", "channel": "22.04"}}
    params = {"entities": [{"charm-url": url, "charm-origin": origin} for url in ("ch:web", "/etc/x")]}
    async with served.entered(house.model) as client:
        found = await client.ask("Charms", 6, "GetDownloadInfos", params)
        assert found["results"][0]["url"].startswith(hub.url)
        assert found["results"][0]["charm-origin"]["revision"] == 3
        assert found["results"][1]["error"]["code"] == "not valid"
        listed = await client.ask("Charms", 6, "ListCharmResources", params)
        assert listed["results"][0] == []
        placed = {"placements": [{"application": "web", "charm-url": "ch:web"}]}
        assert await client.ask("Charms", 6, "CheckCharmPlacement", placed) == {"results": [{}]}
        assert await client.ask("Charms", 6, "IsMetered", {"url": "ch:web"}) == {"metered": False}


async def test_a_machine_goes_to_another_base(served: ApiWorld, house: TestController, packs: Charms) -> None:
    both = packs.make(series=["jammy", "noble"])
    house.active("web", packed=both)
    to = {"tag": MACHINE, "channel": "24.04/stable"}
    async with served.entered(house.model) as client:
        params = {"args": [to, {**to, "channel": "20.04"}, {"tag": MACHINE}]}
        found = await client.ask("MachineManager", 10, "UpgradeSeriesValidate", params)
        assert found["Results"][0] == found["Results"][2] == {"unit-names": ["web/0"]}
        assert found["Results"][1]["error"]["code"] == "not valid"
        early = await client.ask("MachineManager", 10, "UpgradeSeriesComplete", to)
        assert "not found" in early["error"]["message"]
        assert await client.ask("MachineManager", 10, "UpgradeSeriesPrepare", to) == {}
        messages = await client.ask(
            "MachineManager", 10, "GetUpgradeSeriesMessages", {"params": [{"entity": MACHINE}]}
        )
        assert "started upgrade" in messages["results"][0]["result"][0]


async def test_published_keys_are_imported(served: ApiWorld, house: TestController) -> None:
    async with served.entered(house.model) as client:
        params = {"user": "admin", "ssh-keys": ["xx:kim"]}
        found = await client.ask("KeyManager", 1, "ImportKeys", params)
        assert "expected gh:<user> or lp:<user>" in found["results"][0]["error"]["message"]


@pytest.mark.parametrize("host", ["127.0.0.1", "root@localhost:22", "169.254.169.254", "gate.example.com"])
async def test_only_a_superuser_sets_the_way_to_the_machines_of_a_model(
    served: ApiWorld, house: TestController, host: str
) -> None:
    served.add_user("kim")
    with served.ctx.store.write() as tx:
        access.grant(tx, "kim", "admin", access.Kind.MODEL, house.model)
        access.grant(tx, "kim", "add-model", access.Kind.CLOUD, "local")
    config, refusal = {"config": {"ssh-jump-host": host}}, "only a superuser can change ssh-jump-host"
    async with served.entered(house.model) as client:
        await client.ask("ModelConfig", 3, "ModelSet", config)
    async with served.entered(house.model, "kim") as client:
        with pytest.raises(ApiFailed, match=refusal):
            await client.ask("ModelConfig", 3, "ModelSet", {"config": {"ssh-jump-host": "10.0.0.9"}})
        with pytest.raises(ApiFailed, match=refusal):
            await client.ask("ModelConfig", 3, "ModelUnset", {"keys": ["ssh-jump-host"]})
        same = {"config": {"ssh-jump-host": host, "extra": "x"}}  # clients send back what they have read
        assert await client.ask("ModelConfig", 3, "ModelSet", same) == {}
        assert (await client.ask("ModelConfig", 3, "ModelGet"))["config"]["ssh-jump-host"]["value"] == host
    async with served.entered("", "kim") as client:
        with pytest.raises(ApiFailed, match=refusal) as refused:
            await client.ask("ModelManager", 9, "CreateModel", {"name": "attic", **config})
        assert refused.value.code == "unauthorized access"
        assert (await client.ask("ModelManager", 9, "CreateModel", {"name": "attic"}))["name"] == "attic"
