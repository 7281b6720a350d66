"""jujulib, the client of Juju's dashboard, against a served controller: the calls of the dashboard."""

from __future__ import annotations

import pytest

from tests.clients.node import CallFailed, jujulib
from tests.world.api import ApiWorld
from tests.world.charms import Charms
from tests.world.controller import TestController

ACTIONS = {"actions.yaml": "fortune:\n  description: tells one\n  params:\n    length: {type: string}\n"}


@pytest.fixture
def shop(house: TestController, packs: Charms) -> TestController:
    """A model with an application that has actions and settings."""
    house.deploy(packed=packs.make(files=ACTIONS))
    house.settle()
    return house


async def test_the_pages_of_models_read_what_they_show(served: ApiWorld, shop: TestController) -> None:
    tag, path = f"model-{shop.model}", f"/model/{shop.model}/api"
    async with jujulib(served) as client:
        info = await client.ask("/api", "", "")
        assert (info["serverVersion"], info["user"]["identity"]) == ("3.6.14", "user-admin")
        assert await client.ask("/api", "pinger", "ping") == {}
        settings = await client.ask("/api", "controller", "controllerConfig")
        assert settings["config"]["controller-name"] == "home"
        models = await client.ask("/api", "modelManager", "listModels", {"tag": "user-admin"})
        assert [item["model"]["name"] for item in models["user-models"]] == ["shop"]
        shown = await client.ask("/api", "modelManager", "modelInfo", {"entities": [{"tag": tag}]})
        assert shown["results"][0]["result"]["cloud-region"] is not None
        status = await client.ask(path, "client", "fullStatus", {"patterns": [], "include-storage": True})
        assert list(status["applications"]) == ["web"]
        asked = {"entities": [{"tag": "application-web"}]}
        assert (await client.ask(path, "annotations", "get", asked))["results"][0]["annotations"] == {}
        charm = await client.ask(path, "charms", "charmInfo", {"url": status["applications"]["web"]["charm"]})
        assert charm["meta"]["name"] == "web"
        found = await client.ask(path, "application", "get", {"application": "web", "branch": ""})
        assert found["config"]["port"]["value"] == 80
        watcher = await client.ask(path, "client", "watchAll")
        first = await client.ask(path, "allWatcher", "next", {"id": watcher["watcher-id"]})
        assert {"model", "application", "unit", "machine"} <= {delta[0] for delta in first["deltas"]}
        assert "\n".join(client.faults) == ""


async def test_the_controls_of_models_change_them(served: ApiWorld, shop: TestController) -> None:
    async with jujulib(served) as client:
        defaults = await client.ask(
            "/api", "modelManager", "modelDefaultsForClouds", {"entities": [{"tag": "cloud-local"}]}
        )
        assert "default-base" in defaults["results"][0]["config"]
        clouds = await client.ask("/api", "cloud", "clouds")
        assert list(clouds["clouds"]) == ["cloud-local"]
        mine = {"user-clouds": [{"cloud-tag": "cloud-local", "user-tag": "user-admin"}]}
        assert "results" in await client.ask("/api", "cloud", "userCredentials", mine)
        wanted = {
            "name": "attic", "owner-tag": "user-admin", "cloud-tag": "cloud-local", "credential": "",
            "config": {}, "region": "",
        }  # fmt: skip
        made = await client.ask("/api", "modelManager", "createModel", wanted)
        served.add_user("kim")
        change = {
            "access": "read", "action": "grant", "model-tag": f"model-{made['uuid']}", "user-tag": "user-kim",
        }  # fmt: skip
        given = await client.ask("/api", "modelManager", "modifyModelAccess", {"changes": [change]})
        assert given == {"results": [{}]}
        upgraded = await client.ask(
            "/api", "modelUpgrader", "upgradeModel",
            {"model-tag": f"model-{made['uuid']}", "target-version": "3.6.14", "agent-stream": "",
             "ignore-agent-versions": False, "dry-run": True},
        )  # fmt: skip
        assert "error" not in upgraded
        path = f"/model/{made['uuid']}/api"
        block = {"type": "BlockDestroy", "message": "kept"}
        assert await client.ask(path, "block", "switchBlockOn", block) == {}
        doomed = {"models": [{"model-tag": f"model-{made['uuid']}", "destroy-storage": True}]}
        refused = await client.ask("/api", "modelManager", "destroyModels", doomed)
        assert refused["results"][0]["error"]["code"] == "operation is blocked"
        await client.ask(path, "block", "switchBlockOff", block)
        assert await client.ask("/api", "modelManager", "destroyModels", doomed) == {"results": [{}]}
        assert "\n".join(client.faults) == ""


async def test_settings_actions_and_secrets_of_an_application(served: ApiWorld, shop: TestController) -> None:
    path = f"/model/{shop.model}/api"
    async with jujulib(served) as client:
        args = {
            "Args": [{"application": "web", "config": {"title": "x"}, "config-yaml": "", "generation": ""}]
        }
        assert await client.ask(path, "application", "setConfigs", args) == {"results": [{}]}
        with pytest.raises(CallFailed, match="none"):
            await client.ask(path, "application", "get", {"application": "none", "branch": ""})
        asked = {"entities": [{"tag": "application-web"}]}
        known = await client.ask(path, "action", "applicationsCharmsActions", asked)
        assert list(known["results"][0]["actions"]) == ["fortune"]
        run = {"actions": [{"receiver": "unit-web-0", "name": "fortune", "parameters": {}, "tag": ""}]}
        queued = await client.ask(path, "action", "enqueueOperation", run)
        shop.settle()
        listed = await client.ask(path, "action", "listOperations", {"applications": ["web"]})
        assert [item["operation"] for item in listed["results"]] == [queued["operation"]]
        task = queued["actions"][0]["action"]["tag"]
        done = await client.ask(path, "action", "actions", {"entities": [{"tag": task}]})
        assert done["results"][0]["action"]["name"] == "fortune"
        new = {"args": [{"content": {"data": {"a": "Yg=="}}, "label": "key", "owner-tag": ""}]}
        (made,) = (await client.ask(path, "secrets", "createSecrets", new))["results"]
        chosen = {"filter": {}, "show-secrets": False}
        assert len((await client.ask(path, "secrets", "listSecrets", chosen))["results"]) == 1
        change = {"args": [{"uri": made["result"], "content": {"data": {"a": "Yw=="}}}]}
        assert await client.ask(path, "secrets", "updateSecrets", change) == {"results": [{}]}
        grant = {"uri": made["result"], "label": "", "applications": ["web"]}
        for method in ("grantSecret", "revokeSecret"):
            assert await client.ask(path, "secrets", method, grant) == {"results": [{}]}
        gone = {"args": [{"uri": made["result"], "label": ""}]}
        assert await client.ask(path, "secrets", "removeSecrets", gone) == {"results": [{}]}
        assert "\n".join(client.faults) == ""


async def test_a_wrong_password_is_told_in_the_words_that_the_dashboard_knows(served: ApiWorld) -> None:
    async with jujulib(served) as client:
        request = {
            "user": "kim",
            "password": "x",
            "path": "/api",
            "facades": [],
            "facade": "",
            "params": None,
        }
        told = (await client._send(request))["error"]
    assert told == "Have you been granted permission to a model on this controller?"
