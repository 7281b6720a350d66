"""python-libjuju, the real client, against a served controller."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.charms_tools.hubstore import JAMMY, HubStore
from tests.world.api import ApiWorld
from tests.world.charms import Charms
from tests.world.controller import TestController
from tests.world.libjuju import ConfigValue, controller_of, model_of

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJGVGbkpcaFWvGyzNCnWs6jDkQLwQC3bL0mpkC4qY2jL juju-client-key"
pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore:.*pkg_resources.*:UserWarning", "ignore::ResourceWarning"
)


async def test_a_model_is_seen_with_its_units(served: ApiWorld, house: TestController) -> None:
    house.active("web", 2)
    async with model_of(served, house.model) as model:
        assert model.name == "shop"
        assert sorted(model.units) == ["web/0", "web/1"]
        assert sorted(model.machines) == ["0", "1"]
        assert model.units["web/0"].workload_status == "unknown"
        assert model.units["web/0"].agent_status == "idle"
        status = await model.get_status()
        assert status.applications["web"].units["web/1"].agent_status.status == "idle"
        assert status.machines["0"].instance_status.status == "running"


async def test_changes_of_another_process_reach_a_model(served: ApiWorld, house: TestController) -> None:
    async with model_of(served, house.model) as model:
        assert not model.applications
        house.active("web")
        await model.block_until(lambda: "web" in model.applications, timeout=5)
        await model.wait_for_idle(timeout=20, idle_period=0.1, check_freq=0.1)


@asynccontextmanager
async def working(house: TestController) -> AsyncIterator[None]:
    """Let the played machines work until the block ends."""

    async def work() -> None:
        while True:
            house.settle()
            await asyncio.sleep(0.02)

    task = asyncio.create_task(work())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_local_charm_is_uploaded_deployed_and_removed(
    served: ApiWorld, house: TestController, packs: Charms
) -> None:
    async with model_of(served, house.model) as model, working(house):
        charm = packs.make().path.with_suffix(".charm")
        charm.write_bytes(packs.make().path.read_bytes())
        web = await model.deploy(str(charm), application_name="web", num_units=1)
        await model.wait_for_idle(timeout=30, idle_period=0.1, check_freq=0.1, wait_for_exact_units=1)
        assert web.name == "web"
        await web.add_unit(1)
        await model.wait_for_idle(timeout=30, idle_period=0.1, check_freq=0.1, wait_for_exact_units=2)
        other = await model.deploy(str(charm), application_name="db")
        await model.wait_for_idle(["db"], timeout=30, idle_period=0.1, check_freq=0.1)
        assert other.name == "db"
        await web.set_constraints({"mem": 4096})
        assert (await web.get_constraints())["mem"] == 4096
        await web.expose()
        await web.unexpose()
        await model.units["web/1"].destroy()
        await model.block_until(lambda: "web/1" not in model.units, timeout=20)
        await model.remove_application("db", block_until_done=True, timeout=20)
        assert "db" not in model.applications


async def test_a_charm_of_a_store_is_deployed_and_refreshed(
    served: ApiWorld, house: TestController, packs: Charms, hub: HubStore
) -> None:
    hub.add("web", packs.make().path.read_bytes(), revision=3, bases=[JAMMY])
    value = f'"{hub.url}"'
    house.write(lambda tx: tx.run("model_config_set", model=house.model, key="charmhub-url", value=value))
    async with model_of(served, house.model) as model, working(house):
        web = await model.deploy("web", application_name="blog", base="ubuntu@22.04")
        await model.wait_for_idle(timeout=30, idle_period=0.1, check_freq=0.1, wait_for_exact_units=1)
        assert web.charm_url == "ch:amd64/jammy/web-3"
        hub.add("web", packs.make().path.read_bytes(), revision=4, bases=[JAMMY])
        await web.refresh(revision=4)
        await model.block_until(lambda: web.charm_url.endswith("web-4"), timeout=10)


async def test_a_charm_without_hooks_is_deployed_and_refreshed_to(
    served: ApiWorld, house: TestController, hub: HubStore, packs: Charms, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # python-libjuju leaves its archives there
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "metadata.yaml").write_text("name: web\nsummary: s\ndescription: d\nseries: [jammy]\n")
    hub.add("web", packs.make(peers={}).path.read_bytes(), revision=3, bases=[JAMMY])
    value = f'"{hub.url}"'
    house.write(lambda tx: tx.run("model_config_set", model=house.model, key="charmhub-url", value=value))
    async with model_of(served, house.model) as model, working(house):
        web = await model.deploy("web", base="ubuntu@22.04")
        await model.wait_for_idle(timeout=30, idle_period=0.1, check_freq=0.1, wait_for_exact_units=1)
        await web.refresh(path=str(bare))
        assert web.charm_url == "local:jammy/web-0"
        await model.wait_for_idle(timeout=30, idle_period=0.1, check_freq=0.1, wait_for_exact_units=1)
        await model.deploy(str(bare), application_name="bare")
        await model.wait_for_idle(["bare"], timeout=30, idle_period=0.1, check_freq=0.1)


async def test_applications_of_a_store_begin_without_units(
    served: ApiWorld, house: TestController, hub: HubStore, packs: Charms
) -> None:
    base = {"requires": {"host": {"interface": "juju-info", "scope": "container"}}, "subordinate": True}
    hub.add("ntp", packs.make("ntp", peers={}, **base).path.read_bytes(), revision=1, bases=[JAMMY])
    hub.add("web", packs.make().path.read_bytes(), revision=3, bases=[JAMMY])
    value = f'"{hub.url}"'
    house.write(lambda tx: tx.run("model_config_set", model=house.model, key="charmhub-url", value=value))
    async with model_of(served, house.model) as model, working(house):
        web = await model.deploy("web", base="ubuntu@22.04", num_units=0)
        assert web.units == []
        await model.deploy("ntp", base="ubuntu@22.04", num_units=0)
        await web.add_unit(1)
        await model.integrate("web", "ntp")
        await model.block_until(lambda: "ntp/0" in model.units, timeout=20)
        assert [unit.name for unit in model.units["web/0"].get_subordinates()] == ["ntp/0"]


async def test_notes_keys_machines_and_secrets(served: ApiWorld, house: TestController) -> None:
    house.active("web")
    async with model_of(served, house.model) as model, working(house):
        await model.applications["web"].set_annotations({"gui-x": "1"})
        assert await model.applications["web"].get_annotations() == {"gui-x": "1"}
        machine = await model.add_machine(constraints={"mem": 1024})
        assert machine.id == "1"
        await machine.destroy(force=True)
        uri = await model.add_secret("token", ["key=value"], info="a token")
        assert uri.startswith("secret:")
        (secret,) = await model.list_secrets(show_secrets=True)
        assert (secret.label, secret.value.data) == ("token", {"key": "dmFsdWU="})
        await model.grant_secret("token", "web")
        await model.revoke_secret("token", "web")
        await model.update_secret("token", ["key=other"], new_name="coin")
        await model.remove_secret("coin")
        assert await model.list_secrets() == []
        assert (await model.get_ssh_keys())["results"][0].get("result") is None


async def test_a_model_without_extra_info_has_no_such_setting(
    served: ApiWorld, house: TestController
) -> None:
    async with model_of(served, house.model) as model:
        assert "extra-info" not in await model.get_config()
        await model.set_config({"extra-info": "more"})
        assert (await model.get_config())["extra-info"].value == "more"


async def test_users_are_managed(served: ApiWorld) -> None:
    async with controller_of(served) as controller:
        kim = await controller.add_user("kim", "tulip", "Kim")
        assert kim.display_name == "Kim"
        await kim.set_password("rose")
        async with controller_of(served, "kim", "rose") as theirs:
            assert await theirs.list_models() == []
            assert (await theirs.get_current_user()).username == "kim"
        await kim.grant("superuser")
        await kim.disable()
        assert not (await controller.get_user("kim")).enabled
        await kim.enable()
        await controller.remove_user("kim")
        assert await controller.get_user("kim") is None


async def test_a_model_is_made_configured_and_destroyed(served: ApiWorld) -> None:
    async with controller_of(served) as controller:
        model = await controller.add_model("attic", config={"extra-info": "dusty", "authorized-keys": KEY})
        try:
            assert (await model.get_config())["extra-info"] == ConfigValue("model", "dusty")
            await model.set_config({"update-status-hook-interval": "10m"})
            config = await model.get_config()
            assert config["update-status-hook-interval"].value == "10m"
            await model.set_constraints({"mem": 2048, "cores": 2})
            assert (await model.get_constraints())["mem"] == 2048
        finally:
            await model.disconnect()
        assert "attic" in await controller.list_models()


async def test_applications_are_related_and_an_action_runs(
    served: ApiWorld, house: TestController, packs: Charms
) -> None:
    sql = {"interface": "sql"}
    house.active("db", packed=packs.make("db", provides={"server": sql}))
    actions = {"actions.yaml": "backup: {params: {to: {type: string}}}\n", "actions/backup": "#!/bin/sh\n"}
    house.active("web", packed=packs.make("web", requires={"db": sql}, files=actions))
    async with model_of(served, house.model) as model, working(house):
        before = len(model.relations)  # those of peers
        relation = await model.integrate("web:db", "db:server")
        assert sorted(relation.key.split()) == ["db:server", "web:db"]
        await model.wait_for_idle(timeout=30, idle_period=0.1, check_freq=0.1)
        action = await model.units["web/0"].run_action("backup", to="tape")
        assert (await action.wait()).status == "completed"
        await model.applications["web"].remove_relation("db", "db:server")
        await model.block_until(lambda: len(model.relations) == before, timeout=20)


async def test_a_bundle_with_an_overlay_is_deployed(
    served: ApiWorld, house: TestController, packs: Charms, tmp_path: Path
) -> None:
    (tmp_path / "web.charm").write_bytes(packs.make().path.read_bytes())
    bundle, overlay = tmp_path / "bundle.yaml", tmp_path / "overlay.yaml"
    bundle.write_text("applications: {web: {charm: ./web.charm, num_units: 1, options: {port: 8}}}\n")
    overlay.write_text("applications: {web: {num_units: 2, options: {port: 9}, annotations: {gui-x: '3'}}}\n")
    async with model_of(served, house.model) as model, working(house):
        (web,) = await model.deploy(str(bundle), overlays=[str(overlay)])
        await model.wait_for_idle(timeout=30, idle_period=0.1, check_freq=0.1, wait_for_exact_units=2)
        assert (await web.get_config())["port"]["value"] == 9
        assert await web.get_annotations() == {"gui-x": "3"}
        assert "num_units: 2" in await model.export_bundle()


async def test_ssh_keys_are_added_listed_and_removed(served: ApiWorld, house: TestController) -> None:
    key = KEY.replace("juju-client-key", "kim@laptop")
    async with model_of(served, house.model) as model:
        await model.add_ssh_key("admin", key)
        assert (await model.get_ssh_keys(raw_ssh=True))["results"][0]["result"] == [key]
        await model.remove_ssh_key("admin", key)
        assert (await model.get_ssh_keys(raw_ssh=True))["results"][0].get("result") is None
