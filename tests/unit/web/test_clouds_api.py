"""Clouds and credentials over the API."""

from __future__ import annotations

from typing import Any

import pytest

from pushjuju.core.clouds import StoredCredential
from pushjuju.services.entities.basis import users as access
from pushjuju.web import facades, registry
from tests.world.api import ApiFailed, ApiWorld
from tests.world.controller import TestController
from tests.world.libjuju import CloudShape, CredentialShape, controller_of

AWAY = {
    "type": "ec2",
    "auth-types": ["access-key"],
    "endpoint": "https://ec2.example",
    "regions": [{"name": "r"}],
}
KEYS = {"access-key": "AKIA", "secret-key": "hush-hush"}
TAG = "cloudcred-away_admin_main"


def cred(attrs: dict[str, str], tag: str = TAG, kind: str = "access-key") -> dict[str, Any]:
    return {"credentials": [{"tag": tag, "credential": {"auth-type": kind, "attrs": attrs}}]}


async def test_libjuju_adds_and_removes_a_cloud(served: ApiWorld) -> None:
    async with controller_of(served) as controller:
        made = CloudShape(
            auth_types=["userpass"],
            ca_certificates=["cert"],
            endpoint="https://k8s.example",
            type_="kubernetes",
        )
        assert (await controller.add_cloud("k8s", made)).type_ == "kubernetes"
        await controller.remove_cloud("k8s")
        assert "cloud-k8s" not in (await controller.clouds()).clouds


async def test_libjuju_keeps_a_credential(served: ApiWorld) -> None:
    async with served.entered() as client:
        await client.ask("Cloud", 7, "AddCloud", {"name": "away", "cloud": AWAY})
    async with controller_of(served) as controller:
        item = CredentialShape(auth_type="access-key", attrs=KEYS)
        assert await controller.add_credential("main", item, cloud="away") == "main"
    assert served.ctx.controller.cloud_files.credentials("away").credentials["main"].attributes == KEYS


async def test_a_credential_is_kept_shown_checked_and_revoked(served: ApiWorld) -> None:
    async with served.entered() as client:
        await client.ask("Cloud", 7, "AddCloud", {"name": "away", "cloud": AWAY})
        assert await client.ask("Cloud", 7, "AddCredentials", cred(KEYS)) == {"results": [{}]}
        mine = {"user-clouds": [{"user-tag": "user-admin", "cloud-tag": "cloud-away"}]}
        assert (await client.ask("Cloud", 7, "UserCredentials", mine))["results"] == [{"result": [TAG]}]
        shown = await client.ask("Cloud", 7, "Credential", {"entities": [{"tag": TAG}]})
        assert shown["results"][0]["result"]["redacted"] == ["secret-key"]
        assert "hush" not in str(shown)
        named = {"credentials": [{"cloud-name": "away", "credential-name": "main"}]}
        contents = await client.ask("Cloud", 7, "CredentialContents", named)
        assert contents["results"][0]["result"]["content"]["attrs"] == {"access-key": "AKIA"}
        contents = await client.ask("Cloud", 7, "CredentialContents", {**named, "include-secrets": True})
        assert contents["results"][0]["result"]["content"]["attrs"] == KEYS
        checked = await client.ask(
            "Cloud", 7, "CheckCredentialsModels", cred({**KEYS, "access-key": "other"})
        )
        assert checked["results"] == [{"tag": TAG, "models": []}]
        kept = served.ctx.controller.cloud_files.credentials("away").credentials["main"]
        assert kept == StoredCredential(auth_type="access-key", attributes=KEYS)
        gone = {"credentials": [{"tag": TAG}]}
        assert await client.ask("Cloud", 7, "RevokeCredentialsCheckModels", gone) == {"results": [{}]}
        again = await client.ask("Cloud", 7, "RevokeCredentialsCheckModels", gone)
        assert again["results"][0]["error"]["code"] == "not found"


async def test_no_credential_names_a_file_of_this_host(served: ApiWorld) -> None:
    async with served.entered() as client:
        for name, attrs, kind in (
            ("lxd", {"server-cert": "/etc/hostname", "client-cert": "x", "client-key": "y"}, "certificate"),
            ("gce", {"file": "/etc/hostname"}, "jsonfile"),
        ):
            made = {"name": f"away-{name}", "cloud": {"type": name, "auth-types": [kind]}}
            await client.ask("Cloud", 7, "AddCloud", made)
            tag = f"cloudcred-away-{name}_admin_main"
            for method in ("AddCredentials", "UpdateCredentialsCheckModels", "CheckCredentialsModels"):
                found = await client.ask("Cloud", 7, method, cred(attrs, tag, kind))
                assert "names a file" in found["results"][0]["error"]["message"]
            assert not served.ctx.controller.cloud_files.credentials(f"away-{name}").credentials


@pytest.mark.parametrize("endpoint", ["/var/lib/lxd/unix.socket", "unix:///run/x", "file:///etc"])
async def test_no_cloud_leads_to_a_file_of_this_host(served: ApiWorld, endpoint: str) -> None:
    async with served.entered() as client:
        for cloud in (
            {**AWAY, "endpoint": endpoint},
            {**AWAY, "regions": [{"name": "r", "storage-endpoint": endpoint}]},
            {**AWAY, "config": {"charmhub-url": endpoint}},
        ):
            with pytest.raises(ApiFailed, match="is not an address of the"):
                await client.ask("Cloud", 7, "AddCloud", {"name": "away", "cloud": cloud})
    assert "away" not in served.ctx.controller.cloud_files.clouds()


async def test_a_cloud_is_defined_anew_and_its_users_are_shown(served: ApiWorld) -> None:
    served.add_user("kim")
    async with served.entered() as client:
        await client.ask("Cloud", 7, "AddCloud", {"name": "away", "cloud": AWAY})
        anew = {"clouds": [{"name": "away", "cloud": {**AWAY, "endpoint": "https://other.example"}}]}
        assert await client.ask("Cloud", 7, "UpdateCloud", anew) == {"results": [{}]}
        change = {"user-tag": "user-kim", "cloud-tag": "cloud-away", "action": "grant", "access": "add-model"}
        assert await client.ask("Cloud", 7, "ModifyCloudAccess", {"changes": [change]}) == {"results": [{}]}
        info = await client.ask("Cloud", 7, "CloudInfo", {"entities": [{"tag": "cloud-away"}]})
        found = info["results"][0]["result"]
        assert found["endpoint"] == "https://other.example"
        assert [(item["user"], item["access"]) for item in found["users"]] == [
            ("admin", "admin"),
            ("kim", "add-model"),
        ]
    async with served.entered(user="kim") as client:
        listed = await client.ask("Cloud", 7, "ListCloudInfo", {"user-tag": "user-kim"})
        assert [item["result"]["user-access"] for item in listed["results"]] == ["add-model"]
        removed = await client.ask("Cloud", 7, "RemoveClouds", {"entities": [{"tag": "cloud-away"}]})
        assert removed["results"][0]["error"]["message"] == "permission denied"


async def test_credentials_belong_to_superusers(served: ApiWorld, house: TestController) -> None:
    served.add_user("kim")
    with house.ctx.store.write() as tx:
        access.grant(tx, "kim", "admin", access.Kind.CLOUD, "local")
    facades.load()
    async with served.entered(user="kim") as client:
        mine = {"user-clouds": [{"user-tag": "user-kim", "cloud-tag": "cloud-local"}]}
        assert (await client.ask("Cloud", 7, "UserCredentials", mine))["results"] == [{"result": []}]
        for name in registry.FACADES["Cloud"].methods:
            if "Credential" in name and name != "UserCredentials":
                with pytest.raises(ApiFailed, match="permission denied"):
                    await client.ask("Cloud", 7, name, {})
