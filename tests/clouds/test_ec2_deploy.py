"""A deploy on EC2: through libcloud and HTTP to moto, on machines that stand for its instances, to active."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pushjuju.plugins.providers.libcloud import ec2
from pushjuju.plugins.types import CloudSpec, Credential
from tests.charms.client import HELLO, Client
from tests.charms.conftest import client, local_cloud  # noqa: F401
from tests.clouds.backed import KIND
from tests.clouds.moto_server import Moto, server  # noqa: F401

pytestmark = [pytest.mark.machine, pytest.mark.timeout(300)]

REPOSITORY = Path(__file__).parents[2]
CREDENTIALS = """credentials:
  moto:
    me: {auth-type: access-key, access-key: AKIAEXAMPLE, secret-key: hunter2}
"""


@pytest.fixture
def driver(server: Moto) -> Any:  # noqa: F811
    """Our own look at the account."""
    server.reset()
    keys = {"access-key": "AKIAEXAMPLE", "secret-key": "hunter2"}
    spec = CloudSpec(name="moto", type="ec2", region="us-east-1", endpoint=server.url)
    return ec2.connect(spec, Credential(name="me", auth_type="access-key", attributes=keys))


@pytest.fixture
def person(client: Client, server: Moto, driver: Any) -> Client:  # noqa: F811
    """A person with that cloud and its credential."""
    site = client.work / "site"
    info = site / "backed-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: backed\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[pushjuju]\nbacked = tests.clouds.backed\n")
    client.environ["PYTHONPATH"] = f"{site}:{REPOSITORY}"
    image = driver.list_images(ex_owner="099720109477")[0].id
    bases = dict.fromkeys(("ubuntu@24.04", "ubuntu@22.04", "ubuntu@20.04", "debian@12"), image)
    cloud = {"type": KIND, "auth-types": ["access-key"], "images": bases}
    cloud["regions"] = {"us-east-1": {"endpoint": server.url}}
    (client.work / "cloud.yaml").write_text(json.dumps({"clouds": {"moto": cloud}}))
    (client.work / "me.yaml").write_text(CREDENTIALS)
    client.run("add-cloud", "moto", "cloud.yaml", "--client")
    client.run("add-credential", "moto", "-f", "me.yaml")
    return client


def test_a_deploy_goes_through_libcloud_to_active(person: Client, driver: Any) -> None:
    told = person.try_run("bootstrap", "moto", "aws")
    assert told.rc == 0, str(told)
    assert "Cloud moto/us-east-1 answers and takes the credential" in told.stderr
    assert "USD an hour" in told.stderr
    person.run("add-model", "shop")
    person.run("deploy", HELLO, "web", "-n", "2", "--constraints", "mem=4G", limit=240)
    found = person.json("status")
    assert found["applications"]["web"]["application-status"]["current"] == "active"
    machines = found["machines"]
    assert {item["machine-status"]["current"] for item in machines.values()} == {"running"}
    places = [item["hardware"] for item in machines.values()]
    zones = {word for text in places for word in text.split() if word.startswith("availability-zone=")}
    assert len(zones) == 2, places
    nodes = {node.id: node for node in ec2.nodes(driver, {})}
    assert set(nodes) == {item["instance-id"] for item in machines.values()}
    tags = [node.extra["tags"] for node in nodes.values()]
    assert {item["juju-units-deployed"] for item in tags} == {"web/0", "web/1"}
    person.run("expose", "web")
    uuid = tags[0]["juju-model-uuid"]
    (group,) = ec2.groups(driver, {"group-name": f"juju-{uuid}-0"})
    opened = {(item.protocol, item.first) for item in ec2.permissions(driver, group)}
    assert opened == {("tcp", 8080)}
    person.run("remove-unit", "web/1", "--no-prompt")
    assert len(ec2.nodes(driver, {})) == 1
    person.run("destroy-model", "shop", "--no-prompt")
    assert ec2.nodes(driver, {}) == []
    assert ec2.groups(driver, {f"tag:{ec2.MODEL_TAG}": uuid}) == []
