"""Backends of secrets over the API."""

from __future__ import annotations

import pytest

from tests.world.api import ApiFailed, ApiWorld
from tests.world.libjuju import controller_of
from tests.world.vault import TOKEN, StandIn


async def test_libjuju_adds_lists_updates_and_removes_backends(
    served: ApiWorld, vault_server: StandIn
) -> None:
    config = {"endpoint": vault_server.url, "token": TOKEN}
    async with controller_of(served) as controller:
        added = await controller.add_secret_backends("1001", "myvault", "vault", config)
        assert added.results[0].error is None
        found = {item.result["name"]: item for item in (await controller.list_secret_backends()).results}
        assert list(found) == ["internal", "myvault"]
        assert found["myvault"].id_ == "1001"
        assert found["myvault"].status == "active"
        assert TOKEN not in str(found["myvault"].result)
        await controller.update_secret_backends("myvault", {"mount-path": "secret"})
        shown = (await controller.list_secret_backends(reveal=True)).results[1]
        assert shown.result["config"] == {**config, "mount-path": "secret"}
        await controller.remove_secret_backends("myvault")
        assert len((await controller.list_secret_backends()).results) == 1


async def test_only_a_superuser_sees_what_opens_a_backend(served: ApiWorld) -> None:
    served.add_user("kim")
    async with served.entered(user="kim") as client:
        listed = await client.ask("SecretBackends", 1, "ListSecretBackends", {"names": ["internal", "x"]})
        assert listed["results"][0]["result"]["backend-type"] == "controller"
        assert listed["results"][1]["error"]["code"] == "not found"
        with pytest.raises(ApiFailed, match="permission denied"):
            await client.ask("SecretBackends", 1, "ListSecretBackends", {"reveal": True})


async def test_what_backends_cannot_do_is_refused(served: ApiWorld) -> None:
    async with served.entered() as client:
        args = [
            {"name": "internal", "name-change": "other"},
            {"name": "internal", "token-rotate-interval": 9},
        ]
        found = await client.ask("SecretBackends", 1, "UpdateSecretBackends", {"args": args})
        assert [entry["error"]["code"] for entry in found["results"]] == ["not supported"] * 2
