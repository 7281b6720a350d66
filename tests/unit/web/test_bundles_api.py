"""Bundles over the API."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.charms_tools.hubstore import JAMMY, HubStore
from tests.unit.web.test_files_api import aside
from tests.unit.web.test_libjuju import pytestmark as pytestmark  # noqa: PLC0414 - the same warnings
from tests.unit.web.test_libjuju import working
from tests.world.api import ApiFailed, ApiWorld
from tests.world.charms import Charms
from tests.world.controller import TestController
from tests.world.libjuju import model_of

DB = {"db": {"interface": "sql"}}
BUNDLE = """
default-base: ubuntu@22.04
machines:
  "0": {annotations: {note: first}}
applications:
  db: {charm: postgres, channel: 14/stable, revision: 7, num_units: 1, to: ["0"]}
  web: {charm: web, num_units: 2, to: ["lxd:0", new], options: {port: 81}, expose: true}
relations:
- [web:db, db:db]
"""


async def test_libjuju_deploys_a_bundle_of_local_charms(
    served: ApiWorld, house: TestController, packs: Charms, tmp_path: Path
) -> None:
    for name, ends in (("web", {"requires": DB}), ("db", {"provides": DB})):
        (tmp_path / f"{name}.charm").write_bytes(packs.make(name, **ends).path.read_bytes())
    files = {"data": {"type": "file", "filename": "data.txt", "description": "d"}}
    (tmp_path / "web.charm").write_bytes(packs.make("web", requires=DB, resources=files).path.read_bytes())
    (tmp_path / "data.txt").write_text("x")
    web = {"charm": "./web.charm", "series": "jammy", "num_units": 2, "options": {"port": 81}}
    bundle = {
        "applications": {
            "web": {**web, "resources": {"data": str(tmp_path / "data.txt")}},
            "db": {"charm": "./db.charm", "series": "jammy", "num_units": 1, "expose": True},
        },
        "relations": [["web:db", "db:db"]],
    }
    (tmp_path / "bundle.yaml").write_text(yaml.safe_dump(bundle))

    async def play() -> None:
        async with model_of(served, house.model) as model:
            await model.deploy(str(tmp_path / "bundle.yaml"))
            await model.wait_for_idle(["web", "db"], timeout=60, idle_period=0.1, check_freq=0.1)
            assert sorted(model.units) == ["db/0", "web/0", "web/1"]
            web = model.applications["web"]
            assert (await web.get_config())["port"]["value"] == 81
            assert (await web.get_resources())["data"].size == 1
            assert [relation.key for relation in model.relations if relation.key] != []
            assert model.applications["db"].exposed

    async with working(house):
        await aside(play)


async def test_libjuju_deploys_a_bundle_of_charms_of_a_store(
    served: ApiWorld, house: TestController, packs: Charms, hub: HubStore, tmp_path: Path
) -> None:
    hub.add("web", packs.make("web", requires=DB).path.read_bytes(), revision=3, bases=[JAMMY])
    hub.add("web", packs.make("web", requires=DB).path.read_bytes(), revision=4, bases=[JAMMY])
    postgres = packs.make("postgres", provides=DB).path.read_bytes()
    hub.add("postgres", postgres, revision=7, bases=[JAMMY], channels=["14/stable"])
    value = f'"{hub.url}"'
    house.write(lambda tx: tx.run("model_config_set", model=house.model, key="charmhub-url", value=value))
    bundle = {
        "default-base": "ubuntu@22.04",
        "applications": {
            "web": {"charm": "web", "channel": "stable", "revision": 3, "num_units": 1, "to": ["lxd:db/0"]},
            "db": {"charm": "postgres", "channel": "14/stable", "num_units": 1},
        },
        "relations": [["web:db", "db:db"]],
    }
    (tmp_path / "bundle.yaml").write_text(yaml.safe_dump(bundle))

    async def play() -> None:
        async with model_of(served, house.model) as model:
            await model.deploy(str(tmp_path / "bundle.yaml"))
            assert model.applications["web"].charm_url == "ch:amd64/jammy/web-3"
            assert model.applications["db"].charm_url == "ch:amd64/jammy/postgres-7"
            await model.block_until(lambda: len(model.units) == 2, timeout=20)
            assert sorted(model.machines) == ["0", "0/lxd/0"]

    async with working(house):
        await aside(play)


async def test_the_steps_for_a_bundle_have_named_arguments(served: ApiWorld, house: TestController) -> None:
    async with served.entered(house.model) as client:
        found = await client.ask("Bundle", 6, "GetChangesMapArgs", {"yaml": BUNDLE, "bundleURL": "x"})
        steps = {step["id"]: step for step in found["changes"]}
        methods = [step["method"] for step in found["changes"]]
        assert set(methods) >= {"addCharm", "deploy", "addMachines", "addUnit", "addRelation", "expose"}
        charm = next(step for step in found["changes"] if step["args"].get("charm") == "postgres")
        assert (charm["args"]["revision"], charm["args"]["series"]) == (7, "jammy")
        notes = next(step for step in found["changes"] if step["method"] == "setAnnotations")
        assert steps[notes["args"]["id"].removeprefix("$")]["method"] == "addMachines"
        listed = await client.ask("Bundle", 6, "GetChanges", {"yaml": BUNDLE})
        assert [step["method"] for step in listed["changes"]] == methods
        relation = next(step for step in listed["changes"] if step["method"] == "addRelation")
        assert relation["args"] == ["web:db", "db:db"]


async def test_containers_and_machines_of_an_application_have_its_base(
    served: ApiWorld, house: TestController
) -> None:
    text = """
default-base: ubuntu@22.04
machines: {"0": {}}
applications:
  web: {charm: web, num_units: 2, to: ["lxd:0", "lxd:new"]}
"""
    async with served.entered(house.model) as client:
        found = await client.ask("Bundle", 6, "GetChangesMapArgs", {"yaml": text, "bundleURL": "b"})
        machines = [item["args"] for item in found["changes"] if item["method"] == "addMachines"]
    assert [item.get("container-type") for item in machines] == [None, "lxd", "lxd"]
    assert {(item["base"], item["series"]) for item in machines} == {("ubuntu@22.04/stable", "jammy")}


async def test_a_faulty_bundle_is_told_and_reads_no_file_of_this_host(
    served: ApiWorld, house: TestController
) -> None:
    async with served.entered(house.model) as client:
        faulty = "applications: {web: {charm: web, to: [nowhere]}}"
        found = await client.ask("Bundle", 6, "GetChangesMapArgs", {"yaml": faulty})
        assert "changes" not in found
        assert "too many units specified in unit placement" in found["errors"][0]
        for value in ("include-file:///etc/hostname", "include-base64:///etc/hostname"):
            text = f"applications: {{web: {{charm: web, options: {{title: '{value}'}}}}}}"
            found = await client.ask("Bundle", 6, "GetChangesMapArgs", {"yaml": text})
            assert "includes not supported" in found["errors"][0]
        for value in ("/etc/hostname", "./data.txt"):
            text = f"applications: {{web: {{charm: web, resources: {{data: {value}}}}}}}"
            found = await client.ask("Bundle", 6, "GetChangesMapArgs", {"yaml": text})
            assert "gets no file of this computer" in found["errors"][0]
        with pytest.raises(ApiFailed):
            await client.ask("Bundle", 6, "GetChangesMapArgs", {"yaml": "- x"})


async def test_a_model_is_exported_as_a_bundle(served: ApiWorld, house: TestController) -> None:
    house.active("web", 2)
    async with served.entered(house.model) as client:
        found = await client.ask("Bundle", 6, "ExportBundle", {"include-series": True})
        assert yaml.safe_load(found["result"])["applications"]["web"]["num_units"] == 2
