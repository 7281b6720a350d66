"""What administrators of a controller do over the API: defaults, credentials of models, blocks, copies."""

from __future__ import annotations

import base64
import hashlib
import json
import tarfile
from io import BytesIO

import aiohttp
import pytest

from pushjuju.core.clouds import StoredCredential
from pushjuju.services.entities.basis import users as access
from pushjuju.services.requests.controller import backups
from pushjuju.services.requests.model import blocks
from tests.world.api import ApiFailed, ApiWorld, basic
from tests.world.controller import TestController

LOCAL = {"tag": "cloud-local"}


async def test_defaults_of_new_models_are_set_shown_and_unset(served: ApiWorld) -> None:
    async with served.entered() as client:
        values = [{"cloud-tag": "cloud-local", "config": {"no-proxy": "x", "default-base": "ubuntu@24.04"}}]
        assert await client.ask("ModelManager", 10, "SetModelDefaults", {"config": values}) == {
            "results": [{}]
        }
        found = await client.ask("ModelManager", 10, "ModelDefaultsForClouds", {"entities": [LOCAL]})
        assert found["results"][0]["config"]["no-proxy"]["controller"] == "x"
        keys = [{"cloud-tag": "cloud-local", "keys": ["no-proxy"]}]
        assert await client.ask("ModelManager", 10, "UnsetModelDefaults", {"keys": keys}) == {"results": [{}]}
        found = await client.ask("ModelManager", 10, "ModelDefaultsForClouds", {"entities": [LOCAL]})
        assert "controller" not in found["results"][0]["config"]["no-proxy"]


async def test_no_default_leads_to_a_file_of_this_host(served: ApiWorld) -> None:
    async with served.entered() as client:
        values = [{"config": {"charmhub-url": "/srv/charms"}}]
        found = await client.ask("ModelManager", 10, "SetModelDefaults", {"config": values})
        assert "is not an address of the web" in found["results"][0]["error"]["message"]


async def test_administrators_of_models_use_their_own_credentials(
    served: ApiWorld, house: TestController
) -> None:
    empty = StoredCredential(auth_type="empty")
    house.ctx.controller.cloud_files.put_credential("local", "other", empty, ())
    change = {"model-tag": f"model-{house.model}", "credential-tag": "cloudcred-local_admin_other"}
    params = {"model-credentials": [change, {**change, "credential-tag": "cloudcred-local_admin_none"}]}
    async with served.entered() as client:
        found = await client.ask("ModelManager", 10, "ChangeModelCredential", params)
        assert found["results"][0] == {}
        assert found["results"][1]["error"]["code"] == "not found"
        info = await client.ask("ModelManager", 10, "ModelInfo", {"entities": [{"tag": change["model-tag"]}]})
        assert info["results"][0]["result"]["cloud-credential-tag"] == change["credential-tag"]
    served.add_user("kim")
    with served.ctx.store.write() as tx:
        access.grant(tx, "kim", "admin", access.Kind.MODEL, house.model)
    house.ctx.controller.cloud_files.put_credential("local", "kim/own", empty, ())
    own = {**change, "credential-tag": "cloudcred-local_kim_own"}
    async with served.entered(user="kim") as client:
        params = {"model-credentials": [change, own]}
        refused, done = (await client.ask("ModelManager", 10, "ChangeModelCredential", params))["results"]
        assert refused["error"]["message"] == "permission denied"
        assert done == {}


async def test_a_model_has_the_version_of_its_controller(served: ApiWorld, house: TestController) -> None:
    model = {"model-tag": f"model-{house.model}"}
    async with served.entered() as client:
        for target in ("0.0.0", "3.6.14"):
            found = await client.ask("ModelUpgrader", 1, "UpgradeModel", {**model, "target-version": target})
            assert found == {"chosen-version": "3.6.14"}
        found = await client.ask("ModelUpgrader", 1, "UpgradeModel", {**model, "target-version": "4.0.0"})
        assert found["error"]["message"] == "no matching agent versions available"
        assert await client.ask("ModelUpgrader", 1, "AbortModelUpgrade", model) == {}
        for kind, version, method in (
            ("HighAvailability", 2, "EnableHA"),
            ("ModelManager", 10, "DumpModels"),
            ("Cloud", 7, "InstanceTypes"),
        ):
            with pytest.raises(ApiFailed) as refused:
                await client.ask(kind, version, method, {})
            assert refused.value.code == "not supported"


async def test_blocks_of_all_models_are_listed_and_removed(served: ApiWorld, house: TestController) -> None:
    blocks.disable(house.ctx, house.model, "destroy-model", "mine")
    async with served.entered() as client:
        found = await client.ask("Controller", 12, "ListBlockedModels")
        assert found["models"] == [
            {
                "name": "shop",
                "model-uuid": house.model,
                "owner-tag": "user-admin",
                "blocks": ["BlockDestroy"],
            }
        ]
        with pytest.raises(ApiFailed, match="not supported"):
            await client.ask("Controller", 12, "RemoveBlocks", {"all": False})
        assert await client.ask("Controller", 12, "RemoveBlocks", {"all": True}) == {}
        assert await client.ask("Controller", 12, "ListBlockedModels") == {"models": []}


async def test_models_of_the_controller_are_counted_and_their_settings_shown(
    served: ApiWorld, house: TestController
) -> None:
    house.active("web")
    async with served.entered() as client:
        params = {"entities": [{"tag": f"model-{house.model}"}]}
        found = await client.ask("Controller", 12, "ModelStatus", params)
        assert found["models"][0]["unit-count"] == 1
        hosted = await client.ask("Controller", 12, "HostedModelConfigs")
        (model,) = hosted["models"]
        assert (model["name"], model["owner"], "default-base" in model["config"]) == (
            "shop",
            "user-admin",
            True,
        )


async def download(served: ApiWorld, model: str, body: object, user: str = "admin") -> tuple[int, str, bytes]:
    """Ask for a copy of the controller; return status, digest and body."""
    url = f"https://{served.endpoint}/model/{model}/backups"
    headers = {"Authorization": basic(user)}
    async with (
        aiohttp.ClientSession() as session,
        session.get(url, data=json.dumps(body), ssl=served.trust, headers=headers) as answer,
    ):
        return answer.status, answer.headers.get("Digest", ""), await answer.read()


async def test_a_copy_of_the_controller_is_made_and_read(
    served: ApiWorld, house: TestController, own: str
) -> None:
    async with served.entered(own) as client:
        made = await client.ask("Backups", 3, "Create", {"notes": "before"})
        assert (made["notes"], made["version"]) == ("before", "3.6.14")
    status, digest, body = await download(served, own, {"id": made["filename"]})
    assert status == 200
    found = base64.b64encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode()
    assert digest == f"SHA={found}"
    assert found == made["checksum"]
    with tarfile.open(fileobj=BytesIO(body)) as archive:
        assert "backup.json" in archive.getnames()
    async with served.entered(house.model) as client:
        with pytest.raises(ApiFailed, match="only supported from the controller model"):
            await client.ask("Backups", 3, "Create", {})


@pytest.mark.parametrize("body", [{"id": "../state.db"}, {"id": "/etc/hostname"}, {"id": 3}, {}, [], "x"])
async def test_no_copy_names_another_file(served: ApiWorld, own: str, body: object) -> None:
    assert (await download(served, own, body))[0] in (400, 404)


async def test_copies_are_for_superusers_at_the_controller_model(
    served: ApiWorld, house: TestController, own: str
) -> None:
    served.add_user("kim")
    with served.ctx.store.write() as tx:
        access.grant(tx, "kim", "admin", access.Kind.MODEL, house.model)
        access.grant(tx, "kim", "admin", access.Kind.MODEL, own)
    name = backups.create_kept(house.ctx).path.name
    for model, user in ((house.model, "kim"), (house.model, "admin"), (own, "kim")):
        status, _, body = await download(served, model, {"id": name}, user)
        assert (status >= 400, body[:1]) == (True, b"{")
