"""Clouds and credentials over the API."""

from __future__ import annotations

from typing import Any

import pytest

from pushjuju.core.clouds import StoredCredential
from pushjuju.services.entities.basis import users as access
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


KIMS = "cloudcred-away_kim_main"
NO_KEY = {"access-key": "BKIA", "secret-key": "quiet"}


async def _with_credentials(served: ApiWorld) -> None:
    """Let admin and kim have a credential each, both named `main`."""
    served.add_user("kim")
    async with served.entered() as client:
        await client.ask("Cloud", 7, "AddCloud", {"name": "away", "cloud": AWAY})
        await client.ask("Cloud", 7, "AddCredentials", cred(KEYS))
    async with served.entered(user="kim") as client:
        found = await client.ask("Cloud", 7, "UpdateCredentialsCheckModels", cred(NO_KEY, KIMS))
        assert found == {"results": [{"tag": KIMS, "models": []}]}


async def test_a_credential_belongs_to_its_owner(served: ApiWorld) -> None:
    await _with_credentials(served)
    named = {"credentials": [{"cloud-name": "away", "credential-name": "main"}], "include-secrets": True}
    for user, attributes in (("admin", KEYS), ("kim", NO_KEY)):
        async with served.entered(user=user) as client:
            (own,) = (await client.ask("Cloud", 7, "CredentialContents", named))["results"]
            assert own["result"]["content"]["attrs"] == attributes
            every = (await client.ask("Cloud", 7, "CredentialContents", {"include-secrets": True}))["results"]
            assert every == [own]
            mine = {"user-clouds": [{"user-tag": f"user-{user}", "cloud-tag": "cloud-away"}]}
            tag = f"cloudcred-away_{user}_main"
            assert (await client.ask("Cloud", 7, "UserCredentials", mine))["results"] == [{"result": [tag]}]


async def test_nobody_touches_the_credential_of_another_user(served: ApiWorld) -> None:
    await _with_credentials(served)
    before = served.ctx.controller.cloud_files.credentials("away")
    theirs = {"user-clouds": [{"user-tag": "user-admin", "cloud-tag": "cloud-away"}]}
    async with served.entered(user="kim") as client:
        for method, params in (
            ("UserCredentials", theirs),
            ("Credential", {"entities": [{"tag": TAG}]}),
            ("AddCredentials", cred(NO_KEY)),
            ("UpdateCredentialsCheckModels", cred(NO_KEY)),
            ("CheckCredentialsModels", cred(NO_KEY)),
            ("RevokeCredentialsCheckModels", {"credentials": [{"tag": TAG, "force": True}]}),
        ):
            (found,) = (await client.ask("Cloud", 7, method, params))["results"]
            assert found["error"]["message"] == "permission denied", method
        with pytest.raises(ApiFailed, match="unexpected force specified"):
            await client.ask(
                "Cloud", 7, "UpdateCredentialsCheckModels", {**cred(NO_KEY, KIMS), "force": True}
            )
        with pytest.raises(ApiFailed, match="permission denied"):
            await client.ask("ModelManager", 10, "CreateModel", {"name": "m", "credential": TAG})
    assert served.ctx.controller.cloud_files.credentials("away") == before
    async with served.entered() as client:
        shown = await client.ask("Cloud", 7, "Credential", {"entities": [{"tag": KIMS}]})
        assert shown["results"][0]["result"]["redacted"] == ["secret-key"]
        revoked = {"credentials": [{"tag": KIMS}]}
        assert await client.ask("Cloud", 7, "RevokeCredentialsCheckModels", revoked) == {"results": [{}]}


async def test_a_users_model_has_the_users_credential(served: ApiWorld, house: TestController) -> None:
    await _with_credentials(served)
    with house.ctx.store.write() as tx:
        access.grant(tx, "kim", "add-model", access.Kind.CLOUD, "away")
    async with served.entered(user="kim") as client:
        params: dict[str, Any] = {"name": "theirs", "cloud-tag": "cloud-away"}
        made = await client.ask("ModelManager", 10, "CreateModel", params)
        assert made["cloud-credential-tag"] == KIMS
        model = {"model-tag": f"model-{made['uuid']}", "credential-tag": TAG}
        changed = await client.ask(
            "ModelManager", 10, "ChangeModelCredential", {"model-credentials": [model]}
        )
        assert changed["results"][0]["error"]["message"] == "permission denied"
        await client.ask("Cloud", 7, "AddCredentials", cred(KEYS, "cloudcred-away_kim_other"))
        used = await client.ask("Cloud", 7, "RevokeCredentialsCheckModels", {"credentials": [{"tag": KIMS}]})
        assert "away/kim/main: it is still used by 1 model" in used["results"][0]["error"]["message"]


async def test_without_a_credential_a_user_has_no_model_of_a_cloud_that_needs_one(
    served: ApiWorld, house: TestController
) -> None:
    await _with_credentials(served)
    served.add_user("lee")
    with house.ctx.store.write() as tx:
        access.grant(tx, "lee", "add-model", access.Kind.CLOUD, "away")
    async with served.entered(user="lee") as client:
        with pytest.raises(ApiFailed, match="no credential specified"):
            await client.ask("ModelManager", 10, "CreateModel", {"name": "m", "cloud-tag": "cloud-away"})


async def test_the_next_user_of_a_name_does_not_get_the_credentials(served: ApiWorld) -> None:
    await _with_credentials(served)
    async with served.entered() as client:
        gone = await client.ask("UserManager", 3, "RemoveUser", {"entities": [{"tag": "user-kim"}]})
        assert gone == {"results": [{}]}
    assert list(served.ctx.controller.cloud_files.credentials("away").credentials) == ["main"]
